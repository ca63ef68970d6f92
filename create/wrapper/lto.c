// SPDX-License-Identifier: GPL-3.0-or-later
// lto.c - the code that link-time optimisation makes, kept as it goes to the linker

#include "create/wrapper/lto.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "create/wrapper/record_write.h"

/* Where the stand-in keeps its copies: N.o, and in LIST the names that the linker was given. */
#define FOLDER "USPL_CC_LTO"
#define LIST "list"
/* What LLVM calls its first object there; others get a number behind it. */
#define LLVM_OBJECT "llvm.o"

static int add_clang(const struct args *args, struct lto *lto, tool_argv *argv,
		     struct uspl_err *err)
{
	const char *words[] = { "-ffunction-sections", "-fdata-sections", NULL, NULL };
	const struct args_word *word;
	bool asked = false, lld = false;

	/* By lld clang makes code at the link even if the command doesn't say so. */
	vec_for_each (&args->words, word) {
		if (!strncmp(word->text, "-flto", 5) || !strcmp(word->text, "-fno-lto"))
			asked = word->text[2] == 'l';
		if (!strncmp(word->text, "-fuse-ld=", 9) || !strncmp(word->text, "--ld-path=", 10))
			lld = strstr(word->text, "lld");
	}
	if (!asked && !lld)
		return 0;
	/* In this form lld takes it, too. */
	lto->search = text_format("-Wl,-plugin-opt=obj-path=%s/" LLVM_OBJECT, lto->folder);
	if (!lto->search)
		return uspl_fail_nomem(err);
	words[2] = lto->search;
	return tool_add(argv, words, err);
}

static int add_gcc(const struct tool *tool, const struct args *args, struct lto *lto,
		   tool_argv *argv, struct uspl_err *err)
{
	/* The code is made with the options of the link; of several the last counts. */
	const char *words[] = { "-ffunction-sections", "-fdata-sections", "-g", NULL, NULL, NULL };
	int rc;

	lto->search = text_format("-B%s/lto/", tool->work);
	if (!lto->search)
		return uspl_fail_nomem(err);
	if (setenv(FOLDER, lto->folder, 1) < 0)
		return uspl_fail_nomem(err);
	rc = tool_prefix_map(tool, args, &lto->map, err);
	if (rc)
		return rc;
	words[3] = lto->search;
	words[4] = lto->map;
	return tool_add(argv, words, err);
}

int lto_begin(const struct tool *tool, const struct args *args, struct lto *lto, tool_argv *argv,
	      struct uspl_err *err)
{
	auto_free char *folder = NULL;

	folder = text_format("%s/objects/%s/lto-XXXXXX", tool->work, tool->phase);
	if (!folder)
		return uspl_fail_nomem(err);
	if (!mkdtemp(folder))
		return uspl_fail_errno(err, "cannot create '%s'", folder);
	lto->folder = take_ptr(folder);
	return tool_is_clang(tool) ? add_clang(args, lto, argv, err)
				   : add_gcc(tool, args, lto, argv, err);
}

bool lto_is_cache(const char *word)
{
	static const char *const starts[] = { "-Wl,--thinlto-cache-dir=", "-Wl,-thinlto-cache-dir=",
					      "-Wl,-plugin-opt=cache-dir=",
					      "-Wl,-plugin-opt,cache-dir=" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (!strncmp(word, starts[i], strlen(starts[i])) &&
		    !strchr(word + strlen(starts[i]), ','))
			return true;
	return false;
}

bool lto_has(const struct lto *lto, const char *path)
{
	auto_free char *folder = lto->folder ? record_path(lto->folder) : NULL;
	size_t len = folder ? strlen(folder) : 0;

	return len && !strncmp(path, folder, len) && path[len] == '/';
}

void lto_release(struct lto *lto)
{
	if (lto->folder)
		(void)!file_remove_tree(lto->folder, NULL);
	free(lto->folder);
	free(lto->search);
	free(lto->map);
	*lto = (struct lto){ 0 };
}

/* Calls fn for each line of a text, without its end. */
typedef int (*line_fn)(const char *line, void *ctx, struct uspl_err *err);

static int each_line(const char *text, line_fn fn, void *ctx, struct uspl_err *err)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		auto_free char *line = strndup(text, len);
		int rc = !line ? uspl_fail_nomem(err) : len ? fn(line, ctx, err) : 0;

		if (rc)
			return rc;
		text += len + (text[len] == '\n');
	}
	return 0;
}

/* ---- after the link ---- */

/* What is joined. */
struct joining {
	const struct lto *lto;
	strvec files;
	const char *unit; /* what the program's symbol table calls the source of the code */
	const char
		*list; /* what the linker was given, a line each; "" if it has made them itself */
	struct buf *rest;  /* what it has printed beside that */
	struct buf others; /* the lines of it that stay */
};

static int add_file(struct joining *joining, char *path, struct uspl_err *err)
{
	return strvec_take(&joining->files, path) ? 0 : uspl_fail_nomem(err);
}

static int add_copy(const char *line, void *ctx, struct uspl_err *err)
{
	struct joining *joining = ctx;
	char *path = NULL;

	(void)line;
	path = text_format("%s/%zu.o", joining->lto->folder, joining->files.n);
	return add_file(joining, path, err);
}

/*
 * What LLVM has written; a part without code is an object, too, and one from a cache is none. An
 * empty first one with nothing behind it is what lld 14 leaves of a link that optimised nothing.
 */
static int add_llvm(struct joining *joining, const char *output, struct uspl_err *err)
{
	bool empty = false;

	for (size_t i = 0;; i++) {
		auto_free char *path = NULL;
		char number[24] = "";
		struct stat st;
		int rc;

		if (i)
			snprintf(number, sizeof(number), "%zu", i);
		path = text_format("%s/" LLVM_OBJECT "%s", joining->lto->folder, number);
		if (!path)
			return uspl_fail_nomem(err);
		if (stat(path, &st) < 0)
			return 0;
		if (empty || (i && !st.st_size))
			return uspl_fail(err, USPL_E_BUILD,
					 "the link of '%s' takes code from a cache, which "
					 "uspl-create doesn't see",
					 output);
		empty = !st.st_size;
		if (empty)
			continue;
		rc = add_file(joining, take_ptr(path), err);
		if (rc)
			return rc;
	}
}

static int keep_other(const char *line, void *ctx, struct uspl_err *err)
{
	struct joining *joining = ctx;

	(void)err;
	if (!text_has_word(joining->list, '\n', line))
		buf_addf(&joining->others, "%s\n", line);
	return 0;
}

/*
 * Sections of one name stay apart: two sources may have a static function of one name, in different
 * parts of the program's code. What the debugging information refers to is in other objects of the
 * list; here it comes together, as in the program.
 */
static int join(const struct joining *joining, const char *output, const char *saved,
		struct uspl_err *err)
{
	const char *const start[] = { "ld.bfd",
				      "-r",
				      "--unique=.text.*",
				      "--unique=.data.*",
				      "--unique=.rodata.*",
				      "--unique=.bss.*",
				      "--unique=.tdata.*",
				      "--unique=.tbss.*",
				      "-o",
				      saved };
	auto_vec tool_argv argv = { 0 };
	auto_buf struct buf said = { 0 };
	char **file;
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(start) + joining->files.n + 1; i++)
		if (!vec_push(&argv))
			return uspl_fail_nomem(err);
	memcpy(argv.items, start, sizeof(start));
	vec_for_each (&joining->files, file)
		argv.items[ARRAY_SIZE(start) + (size_t)(file - joining->files.items)] = *file;
	status = subprocess_run(argv.items, NULL, &said, &said, err);
	if (status < 0)
		return status;
	return status ? uspl_fail(err, USPL_E_BUILD,
				  "cannot join the objects that link-time optimisation made for "
				  "'%s' (ld.bfd): %.200s",
				  output, buf_str(&said))
		      : 0;
}

static int record_joined(const struct tool *tool, const char *name, const char *unit,
			 const char *saved, const char *command, struct uspl_err *err)
{
	auto_buf struct buf line = { 0 };
	auto_free char *cwd = record_path(".");
	auto_free char *source = cwd ? file_join(cwd, unit) : NULL;

	if (!source)
		return uspl_fail_nomem(err);
	record_field(&line, "lto");
	record_field(&line, name);
	record_field(&line, source);
	record_field(&line, cwd);
	record_field(&line, saved);
	record_field(&line, "");
	record_field(&line, command);
	return record_write(tool->work, tool->phase, &line, err);
}

static int finish(const struct tool *tool, struct joining *joining, const char *output,
		  const char *command, char **ret_name, struct uspl_err *err)
{
	auto_free char *saved = NULL;
	auto_free char *path = record_path(output);
	auto_free char *name = NULL;
	int rc = each_line(buf_str(joining->rest), keep_other, joining, err);

	if (rc)
		return rc;
	if (!path)
		return uspl_fail_errno(err, "cannot find '%s' any more", output);
	name = text_format("%s:lto", path);
	if (!name)
		return uspl_fail_nomem(err);
	rc = record_new_object(tool->work, tool->phase, &saved, err);
	if (rc)
		return rc;
	rc = join(joining, output, saved, err);
	if (rc)
		return rc;
	rc = record_joined(tool, name, joining->unit, saved, command, err);
	if (rc)
		return rc;
	buf_release(joining->rest);
	*joining->rest = joining->others;
	joining->others = (struct buf){ 0 };
	*ret_name = take_ptr(name);
	return 0;
}

/* What gcc, and what LLVM calls the source of code that it makes of several. */
static int find_made(struct joining *joining, const char *output, struct buf *list,
		     struct uspl_err *err)
{
	const struct lto *lto = joining->lto;
	auto_free char *path = lto->folder ? file_join(lto->folder, LIST) : NULL;
	int rc;

	if (!path)
		return lto->folder ? uspl_fail_nomem(err) : 0;
	if (access(path, F_OK) < 0) {
		joining->unit = "ld-temp.o";
		joining->list = "";
		return add_llvm(joining, output, err);
	}
	rc = file_read(path, list, err);
	if (rc)
		return rc;
	joining->unit = "<artificial>";
	joining->list = buf_str(list);
	return each_line(joining->list, add_copy, joining, err);
}

int lto_end(const struct tool *tool, const struct lto *lto, const char *output, const char *command,
	    struct buf *rest, char **ret_name, struct uspl_err *err)
{
	auto_buf struct buf list = { 0 };
	struct joining joining = { .lto = lto, .rest = rest };
	int rc = find_made(&joining, output, &list, err);

	if (!rc && joining.files.n)
		rc = finish(tool, &joining, output, command, ret_name, err);
	strvec_release(&joining.files);
	buf_release(&joining.others);
	return rc;
}

/* ---- the stand-in ---- */

/* The compiler's own lto-wrapper: the search path that the compiler hands on begins with ours. */
static int find_own(char **ret, struct uspl_err *err)
{
	const char *driver = getenv("COLLECT_GCC"), *path = getenv("COMPILER_PATH");
	const char *const argv[] = { driver, "-print-prog-name=" LTO_WRAPPER, NULL };
	auto_free char *kept = path ? strdup(path) : NULL;
	auto_buf struct buf out = { 0 };
	int status;

	if (!driver || (path && !kept))
		return uspl_fail(err, USPL_E_BUILD, "'%s' runs without a compiler", LTO_WRAPPER);
	unsetenv("COMPILER_PATH");
	status = subprocess_run(argv, NULL, &out, NULL, err);
	if (kept && setenv("COMPILER_PATH", kept, 1) < 0)
		return uspl_fail_nomem(err);
	if (status < 0)
		return status;
	*ret = strndup(buf_str(&out), strcspn(buf_str(&out), "\n"));
	if (!*ret)
		return uspl_fail_nomem(err);
	return **ret == '/' ? 0
			    : uspl_fail(err, USPL_E_BUILD, "'%s' has no '%s'", driver, LTO_WRAPPER);
}

/* What is copied next. */
struct copying {
	const char *folder;
	size_t n;
};

static int copy_next(const char *line, void *ctx, struct uspl_err *err)
{
	struct copying *copying = ctx;
	auto_free char *copy = NULL;

	copy = text_format("%s/%zu.o", copying->folder, copying->n++);
	if (!copy)
		return uspl_fail_nomem(err);
	return file_copy(line, copy, err);
}

int lto_step(int argc, char **argv, int *ret_status, struct uspl_err *err)
{
	struct copying copying = { .folder = getenv(FOLDER) };
	struct tool tool = { .name = LTO_WRAPPER };
	auto_free char *list = copying.folder ? file_join(copying.folder, LIST) : NULL;
	auto_argv tool_argv words = { 0 };
	auto_buf struct buf out = { 0 };
	int rc = find_own(&tool.path, err);

	(void)argc;
	if (!rc)
		rc = tool_add(&words, (const char *const *)argv + 1, err);
	if (!rc)
		rc = tool_run(&tool, &words, &out, ret_status, err);
	free(tool.path);
	if (rc)
		return rc;
	if (out.len)
		fwrite(out.data, 1, out.len, stdout);
	if (*ret_status || !list)
		return 0;
	rc = each_line(buf_str(&out), copy_next, &copying, err);
	if (rc)
		return rc;
	return file_write(list, buf_str(&out), out.len, err);
}
