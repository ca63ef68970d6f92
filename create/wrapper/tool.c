// SPDX-License-Identifier: GPL-3.0-or-later
// tool.c - the real compiler or linker behind the wrapper's name
//
// The wrapper stands in front of launchers (ccache, distcc), never behind them: what comes from a
// cache or from another machine is noted like any other object. So a launcher that finds the
// wrapper does nothing but run it (held.h), and one that the wrapper runs may work, and finds the
// compilers themselves.

#include "create/wrapper/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/text.h"
#include "create/wrapper/held.h"

/* PATH without our own folder; an empty component means the current folder and stays one. */
static char *other_path(const char *path, const char *own)
{
	struct buf rest = { 0 };
	bool first = true;

	while (path) {
		size_t len = strcspn(path, ":");

		if (len != strlen(own) || strncmp(path, own, len)) {
			if (!first)
				buf_addstr(&rest, ":");
			buf_add(&rest, path, len);
			first = false;
		}
		path = path[len] ? path + len + 1 : NULL;
	}
	return buf_take(&rest);
}

static char *search(const char *path, const char *name)
{
	while (path) {
		size_t len = strcspn(path, ":");
		char *file = text_format("%.*s%s%s", (int)len, path, len ? "/" : "./", name);

		if (!file || access(file, X_OK) == 0)
			return file;
		free(file);
		path = path[len] ? path + len + 1 : NULL;
	}
	return NULL;
}

static int find_real(struct tool *tool, struct uspl_err *err)
{
	auto_free char *own = file_join(tool->work, "bin");
	auto_free char *rest = own ? other_path(getenv("PATH") ? getenv("PATH") : "", own) : NULL;

	if (!rest)
		return uspl_fail(err, USPL_E_BUILD, "PATH is empty");
	if (setenv("PATH", rest, 1) < 0)
		return uspl_fail_nomem(err);
	tool->path = text_format("%s/real/%s", tool->work, tool->name);
	if (!tool->path)
		return uspl_fail_nomem(err);
	if (access(tool->path, X_OK) == 0)
		return 0;
	free(tool->path);
	tool->path = search(rest, tool->name);
	return tool->path ? 0
			  : uspl_fail(err, USPL_E_BUILD, "there is no '%s' in PATH", tool->name);
}

/*
 * A launcher may do its work from here on. The include server of distcc's pump mode assumes that
 * sources don't change while it runs, but they do between the builds: without it the preprocessor
 * runs here.
 */
static int let_launchers_go(struct uspl_err *err)
{
	unsetenv("INCLUDE_SERVER_PORT");
	for (const struct held *held = held_variables; held->name; held++) {
		const char *now = getenv(held->name), *was = getenv(held->kept);

		/* What the build has set itself stays. */
		if (!now || strcmp(now, held->value))
			continue;
		if ((was ? setenv(held->name, was, 1) : unsetenv(held->name)) < 0)
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* The word by which a launcher is to find a compiler: not a name of the wrapper. */
static int real_word(struct tool *tool, const char *word, char **ret, struct uspl_err *err)
{
	const char *name = file_basename(word);
	auto_free char *own = file_join(tool->work, "bin");
	auto_free char *real = NULL;
	size_t len = own ? strlen(own) : 0;
	char target[PATH_MAX];
	ssize_t got;

	real = own ? text_format("%s/real/%s", tool->work, name) : NULL;
	if (!real)
		return uspl_fail_nomem(err);
	got = readlink(real, target, sizeof(target) - 1);
	if (word != name && (strncmp(word, own, len) || word[len] != '/'))
		*ret = strdup(word);
	else
		*ret = got > 0 ? strndup(target, (size_t)got) : strdup(name);
	return *ret ? 0 : uspl_fail_nomem(err);
}

/* ccache takes NAME=VALUE in front of the compiler. */
static bool is_setting(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz_");

	return len && word[len] == '=';
}

/* Appends a word to those before the compiler's arguments. */
static int add_before(struct tool *tool, const char *word, struct uspl_err *err)
{
	const char **slot = vec_push(&tool->before);
	char *copy = NULL;
	int rc = slot ? real_word(tool, word, &copy, err) : uspl_fail_nomem(err);

	if (rc) {
		tool->before.n -= slot != NULL;
		return rc;
	}
	*slot = copy;
	return 0;
}

/* What a launcher is to run: the words up to the compiler, and behind another launcher. */
static int find_behind(struct tool *tool, int argc, char **argv, int *ret_skip,
		       struct uspl_err *err)
{
	int n = 1, rc = 0;

	while (n < argc && (is_setting(argv[n]) || compiler_is_launcher(file_basename(argv[n])))) {
		rc = add_before(tool, argv[n++], err);
		if (rc)
			return rc;
	}
	if (n >= argc)
		return 0;
	if (compiler_is_tool(file_basename(argv[n]))) {
		rc = add_before(tool, argv[n], err);
		tool->compiler = file_basename(argv[n]);
		*ret_skip = n;
	} else if (n == 1 && !strcmp(tool->name, "distcc") && argv[n][0] == '-' &&
		   argv[n][1] != '-') {
		/* Without a compiler's name distcc runs cc. */
		rc = add_before(tool, "cc", err);
		tool->compiler = "cc";
		if (rc)
			return rc;
	}
	return rc;
}

/* The command line as it came, with the compilers' own names in it. */
static int keep_words(struct tool *tool, int argc, char **argv, struct uspl_err *err)
{
	for (int i = 1; i < argc; i++) {
		const char **slot = vec_push(&tool->words);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = (size_t)i <= tool->before.n && tool->compiler ? tool->before.items[i - 1]
								      : argv[i];
	}
	return 0;
}

int tool_find(int argc, char **argv, struct tool *ret, int *ret_skip, struct uspl_err *err)
{
	auto_tool struct tool tool = {
		.work = getenv("USPL_CC_WORK"),
		.phase = getenv("USPL_CC_PHASE"),
		.tree = getenv("USPL_CC_TREE"),
		.source = getenv("USPL_CC_SOURCE"),
		.name = file_basename(argv[0]),
	};
	const char *others = getenv("CCACHE_IGNOREOPTIONS");
	auto_buf struct buf options = { 0 };
	int rc;

	if (!tool.work || !tool.phase || !tool.tree || !tool.source) {
		uspl_fail(err, USPL_E_USAGE,
			  "this is the compiler wrapper of uspl-create, not to be started by hand");
		return -USPL_E_USAGE;
	}
	*ret_skip = 0;
	tool.include = text_format("-idirafter%s/include", tool.work);
	if (!tool.include)
		return uspl_fail_nomem(err);
	rc = find_real(&tool, err);
	if (rc)
		return rc;
	rc = let_launchers_go(err);
	if (rc)
		return rc;
	/*
 * The work folder has another name each time: ccache (4.0, ignore_options) is to find what
 * an earlier uspl-create has compiled all the same.
 */
	buf_addf(&options, "%s%s%s", others ? others : "", others ? " " : "", tool.include);
	if (options.oom || setenv("CCACHE_IGNOREOPTIONS", buf_str(&options), 1) < 0)
		return uspl_fail_nomem(err);
	if (compiler_is_launcher(tool.name))
		rc = find_behind(&tool, argc, argv, ret_skip, err);
	else
		tool.compiler = tool.name;
	if (rc)
		return rc;
	rc = keep_words(&tool, argc, argv, err);
	if (rc)
		return rc;
	*ret = tool;
	tool = (struct tool){ 0 };
	return 0;
}

void tool_release(struct tool *tool)
{
	const char **word;

	vec_for_each (&tool->before, word)
		free((char *)*word);
	vec_release(&tool->before);
	vec_release(&tool->words);
	free(tool->path);
	free(tool->include);
	tool->path = tool->include = NULL;
}

bool tool_is_clang(const struct tool *tool)
{
	const char *word = tool->before.n ? tool->before.items[tool->before.n - 1] : tool->path;
	auto_free char *found = NULL;
	auto_free char *real = NULL;

	if (strstr(tool->compiler, "clang"))
		return true;
	/* A name that says nothing, such as cc: what is it a link to? */
	found = file_basename(word) != word && !compiler_is_disguise(word)
			? strdup(word)
			: compiler_search(getenv("PATH"), tool->compiler);
	real = found ? realpath(found, NULL) : NULL;
	return real && strstr(file_basename(real), "clang");
}

char *tool_command(const struct tool *tool, const struct args *args)
{
	/* They name a list of dependencies, or the like, which may be a temporary one. */
	static const char *const of_output[] = { "-MF", "-MT", "-MQ", "-dumpbase", "-aux-info" };
	struct buf command = { 0 };

	buf_addstr(&command, tool->path);
	for (size_t i = 0; i < tool->before.n; i++)
		buf_addf(&command, " %s", tool->before.items[i]);
	for (size_t i = 0; i < args->words.n; i++) {
		const struct args_word *word = &args->words.items[i];

		if (word->kind == ARGS_OPTION && TEXT_IS_ONE_OF(word->text, of_output))
			i++;
		else if (word->kind == ARGS_OPTION && strncmp(word->text, "-Wp,-M", 6) &&
			 strncmp(word->text, "-MF", 3))
			buf_addf(&command, " %s", word->text);
	}
	return buf_take(&command);
}

/* The name that the build itself gives to a folder, as builds of packages do; NULL if none. */
static const char *mapped_name(const struct args *args, const char *folder)
{
	static const char option[] = "-ffile-prefix-map=";
	size_t len = strlen(folder);
	struct args_word *word;

	vec_for_each (&args->words, word) {
		const char *from = word->text + sizeof(option) - 1;

		if (!strncmp(word->text, option, sizeof(option) - 1) &&
		    !strncmp(from, folder, len) && from[len] == '=')
			return from + len + 1;
	}
	return NULL;
}

int tool_prefix_map(const struct tool *tool, const struct args *args, char **ret,
		    struct uspl_err *err)
{
	const char *believed = getenv("DEB_BUILD_PATH");
	const char *name = believed ? mapped_name(args, believed) : NULL;

	if (mapped_name(args, tool->tree))
		return 0;
	*ret = text_format("-ffile-prefix-map=%s=%s", tool->tree, name ? name : tool->source);
	return *ret ? 0 : uspl_fail_nomem(err);
}

int tool_add(tool_argv *argv, const char *const *words, struct uspl_err *err)
{
	for (; *words; words++) {
		const char **slot = vec_push(argv);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = *words;
	}
	return 0;
}

/* By its name, as without us: some compilers look at it (clang++, ccache's links). */
static const char **make_argv(const struct tool *tool, const tool_argv *before,
			      const tool_argv *args)
{
	const char **argv = calloc(before->n + args->n + 2, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = tool->name;
	for (size_t i = 0; i < before->n; i++)
		argv[n++] = before->items[i];
	for (size_t i = 0; i < args->n; i++)
		argv[n++] = args->items[i];
	return argv;
}

int tool_exec(const struct tool *tool, struct uspl_err *err)
{
	static const tool_argv nothing = { 0 };
	auto_free const char **argv = make_argv(tool, &nothing, &tool->words);

	if (!argv)
		return uspl_fail_nomem(err);
	execv(tool->path, (char **)argv);
	return uspl_fail_errno(err, "cannot run '%s'", tool->path);
}

static int spawn(const struct tool *tool, const tool_argv *args, int out, pid_t *ret_pid,
		 struct uspl_err *err)
{
	auto_free const char **argv = make_argv(tool, &tool->before, args);
	posix_spawn_file_actions_t actions;
	int rc;

	if (!argv)
		return uspl_fail_nomem(err);
	if (posix_spawn_file_actions_init(&actions))
		return uspl_fail_nomem(err);
	rc = out >= 0 ? posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) : 0;
	if (!rc)
		rc = posix_spawn(ret_pid, tool->path, &actions, NULL, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = rc;
	return rc ? uspl_fail_errno(err, "cannot run '%s'", tool->path) : 0;
}

int tool_run(const struct tool *tool, const tool_argv *args, struct buf *out, int *ret_status,
	     struct uspl_err *err)
{
	int ends[2] = { -1, -1 };
	pid_t pid;
	int rc, read_rc = 0, status;

	if (out && pipe2(ends, O_CLOEXEC) < 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	rc = spawn(tool, args, ends[1], &pid, err);
	if (out)
		close(ends[1]);
	if (!rc && out)
		read_rc = file_read_fd(ends[0], "the linker's output", out, err);
	if (out)
		close(ends[0]);
	if (rc)
		return rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for the compiler");
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return read_rc;
}
