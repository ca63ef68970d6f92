// SPDX-License-Identifier: GPL-3.0-or-later
// link_step.c - the wrapper's links

#include "create/wrapper/link_step.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/wrapper/lto.h"
#include "create/wrapper/record_write.h"
#include "create/wrapper/steps.h"
#include "create/wrapper/trace.h"

static bool is_object(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char head[18] = { 0 };

	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       !memcmp(head, ELFMAG, SELFMAG) && head[16] == ET_REL;
}

/* An object or an archive; anything else among the inputs is a script of the linker's. */
static bool is_code(const char *path)
{
	static const char *const magic[] = { ELFMAG, "!<arch>\n", "!<thin>\n" };
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[8] = { 0 };

	if (fd < 0 || read(fd, head, sizeof(head)) < SELFMAG)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if (!strncmp(head, magic[i], strlen(magic[i])))
			return true;
	return false;
}

/* Starts the line: an object made of objects is kept, since archives may hold it. */
static int start_line(const struct tool *tool, const char *output, const char *options,
		      struct buf *line, struct uspl_err *err)
{
	auto_free char *path = record_path(output);
	auto_free char *saved = NULL;
	bool object;
	int rc;

	if (!path)
		return uspl_fail_errno(err, "cannot find '%s' any more", output);
	object = is_object(path);
	rc = record_new_object(tool->work, tool->phase, &saved, err);
	if (!rc && object)
		rc = file_copy(path, saved, err);
	if (rc)
		return rc;
	/*
	 * By a second name the tool recognises a program that the build renames or copies. Where
	 * files can't have two, there is none.
	 */
	if (!object && (unlink(saved) < 0 || link(path, saved) < 0))
		free(take_ptr(saved));
	record_field(line, object ? "partial" : "link");
	record_field(line, path);
	record_field(line, saved ? saved : "");
	record_field(line, options);
	return 0;
}

/*
 * Gives an object a second name, since the tool that has it linked may remove it (rustc, go): one
 * for each file, however often it is linked. Where it can't have two, it is copied.
 */
static int keep_input(const struct tool *tool, const char *path, char **ret, struct uspl_err *err)
{
	auto_free char *name = NULL;
	struct stat st;
	int rc;

	/* Objects of the C library and the compiler stay where they are. */
	if (path[0] != '/' || text_starts_with(path, "/usr/") || text_starts_with(path, "/lib") ||
	    stat(path, &st) < 0)
		return 0;
	name = text_format("%s/objects/%s/input-%ju-%ju.o", tool->work, tool->phase,
			   (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	if (!name)
		return uspl_fail_nomem(err);
	if (link(path, name) < 0 && errno != EEXIST) {
		free(take_ptr(name));
		rc = record_new_object(tool->work, tool->phase, &name, err);
		if (rc)
			return rc;
		rc = file_copy(path, name, err);
		if (rc)
			return rc;
	}
	*ret = take_ptr(name);
	return 0;
}

static int add_input(const struct tool *tool, const char *path, struct buf *line,
		     struct uspl_err *err)
{
	auto_free char *name = NULL;
	auto_free char *field = NULL;
	int rc = keep_input(tool, path, &name, err);

	record_field(line, path);
	if (rc || !name)
		return rc;
	field = text_format("@%s", name);
	if (!field)
		return uspl_fail_nomem(err);
	record_field(line, field);
	return 0;
}

/* A link, and what is noted of it. */
struct linking {
	const char *output;
	struct buf options; /* of the linker */
	char *command;      /* of the compiler that links; NULL: the linker is called by its name */
	struct lto lto;
	char *made; /* the name of what link-time optimisation has made for it; NULL: nothing */
};

static void linking_release(struct linking *linking)
{
	buf_release(&linking->options);
	free(linking->command);
	free(linking->made);
	lto_release(&linking->lto);
}

DEFINE_AUTO_RELEASE(linking, struct linking, linking_release)
#define auto_linking __attribute__((cleanup(cleanup_linking_)))

static int record_link(const struct tool *tool, const struct linking *linking, const strvec *inputs,
		       struct uspl_err *err)
{
	auto_buf struct buf line = { 0 };
	char **input;
	int rc = start_line(tool, linking->output, buf_str(&linking->options), &line, err);

	if (rc)
		return rc;
	if (linking->made)
		record_field(&line, linking->made);
	vec_for_each (inputs, input) {
		if (lto_has(&linking->lto, *input))
			continue;
		rc = add_input(tool, *input, &line, err);
		if (rc)
			return rc;
	}
	return record_write(tool->work, tool->phase, &line, err);
}

/* Runs the link; what the linker prints beside its trace goes on to our standard output. */
static int run(const struct tool *tool, const tool_argv *argv, struct linking *linking,
	       int *ret_status, struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };
	auto_buf struct buf rest = { 0 };
	auto_strvec strvec inputs = { 0 };
	struct stat st;
	int rc;

	/*
	 * A program of an earlier build keeps its contents under its second name: mold writes into
	 * the file that is there. Other linkers begin with a new one by themselves.
	 */
	if (lstat(linking->output, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
		unlink(linking->output);
	rc = tool_run(tool, argv, &out, ret_status, err);
	if (rc)
		return rc;
	rc = trace_parse(buf_str(&out), &inputs, &rest, err);
	if (rc)
		return rc;
	if (!*ret_status) {
		rc = lto_end(tool, &linking->lto, linking->output, linking->command, &rest,
			     &linking->made, err);
		if (rc)
			return rc;
	}
	fwrite(buf_str(&rest), 1, rest.len, stdout);
	if (!*ret_status)
		return record_link(tool, linking, &inputs, err);
	return 0;
}

int link_words(const struct tool *tool, const struct args *args, int *ret_status,
	       struct uspl_err *err)
{
	const char *trace[] = { "-Wl,--trace,--trace", NULL };
	auto_argv tool_argv argv = { 0 };
	auto_linking struct linking linking = {
		.output = args->output ? args->output : "a.out",
		.command = tool_command(tool, args),
	};
	struct args_word *word;
	int rc = linking.command ? 0 : uspl_fail_nomem(err);

	vec_for_each (&args->words, word) {
		const char *one[] = { word->text, NULL };

		/* A source with a language is an object by now. */
		if (word->kind != ARGS_LANGUAGE && word->kind != ARGS_HEADER &&
		    !args_hides_types(word) && !lto_is_cache(word->text) && !rc)
			rc = tool_add(&argv, one, err);
		if (word->kind == ARGS_LINKING ||
		    (word->kind == ARGS_OBJECT && !is_code(word->text)))
			buf_addf(&linking.options, " %s", word->text);
	}
	if (rc)
		return rc;
	rc = lto_begin(tool, args, &linking.lto, &argv, err);
	if (rc)
		return rc;
	rc = tool_add(&argv, trace, err);
	if (rc)
		return rc;
	return run(tool, &argv, &linking, ret_status, err);
}

const char *link_output(int argc, const char *const *argv)
{
	static const char *const nothing[] = { "--version", "-v", "-V", "--help", "--target-help" };
	const char *output = "a.out";

	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (TEXT_IS_ONE_OF(argv[i], nothing))
			return NULL;
		if ((!strcmp(argv[i], "-o") || !strcmp(argv[i], "--output")) && more)
			output = argv[++i];
		else if (!strncmp(argv[i], "--output=", 9))
			output = argv[i] + 9;
		else if (!strncmp(argv[i], "-o", 2) && argv[i][2])
			output = argv[i] + 2;
	}
	return output;
}

int link_step(const struct tool *tool, int argc, char **argv, int *ret_status, struct uspl_err *err)
{
	const char *trace[] = { "--trace", "--trace", NULL };
	const char *output = link_output(argc, (const char *const *)argv);
	auto_linking struct linking linking = { .output = output };
	auto_argv tool_argv words = { 0 };
	int rc;

	if (!output)
		return tool_exec(tool, err);
	/* Among the words may be one of the files by which a program tries the linker out. */
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-' && args_is_probe_path(argv[i]))
			return tool_exec(tool, err);
	rc = tool_add(&words, (const char *const *)argv + 1, err);
	if (rc)
		return rc;
	rc = tool_add(&words, trace, err);
	if (rc)
		return rc;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], output) != 0 && !is_code(argv[i]))
			buf_addf(&linking.options, " %s", argv[i]);
	return run(tool, &words, &linking, ret_status, err);
}
