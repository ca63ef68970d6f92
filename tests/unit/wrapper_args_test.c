// SPDX-License-Identifier: GPL-3.0-or-later
// wrapper_args_test.c - the compiler wrapper's reading of command lines and of the linker's trace

#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/strvec.h"
#include "create/wrapper/args.h"
#include "create/wrapper/link_step.h"
#include "create/wrapper/trace.h"
#include "tests/unit/tap.h"

/* A command line in one string; words are separated by blanks. */
static struct args parse_in(const char *line, const char *from, const char *to)
{
	char *copy = strdup(line), *state = NULL, *argv[32] = { 0 };
	struct args args = { 0 };
	struct uspl_err err = { 0 };
	int argc = 0;

	for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state))
		argv[argc++] = word;
	ok(args_parse(argc, argv, from, to, &args, &err) == 0, "parses: %s", line);
	free(copy);
	return args;
}

static struct args parse(const char *line)
{
	return parse_in(line, NULL, NULL);
}

static const struct args_word *word(const struct args *args, const char *text)
{
	const struct args_word *it;

	vec_for_each (&args->words, it) {
		if (!strcmp(it->text, text))
			return it;
	}
	return NULL;
}

static bool is_kind(const struct args *args, const char *text, enum args_kind kind)
{
	const struct args_word *it = word(args, text);

	return it && it->kind == kind;
}

/* clang-format off */
static const struct { const char *line; enum args_mode mode; size_t sources; } lines[] = {
	{ "gcc -c a.c", ARGS_COMPILE, 1 },
	{ "gcc -O2 -c a.c b.cc -Ifoo.c", ARGS_COMPILE, 2 },
	{ "gcc -o server a.c b.c -lpthread", ARGS_LINK, 2 },
	{ "gcc -o server a.o libx.a -lm", ARGS_LINK, 0 },
	{ "gcc -S a.c -c", ARGS_ASSEMBLY, 1 },
	{ "gcc -c -E a.c", ARGS_PREPROCESS, 1 },
	{ "gcc -MM a.c", ARGS_PREPROCESS, 1 },
	{ "gcc -MMD -MF d.c -c a.c", ARGS_COMPILE, 1 },
	{ "gcc --version", ARGS_NOTHING, 0 },
	{ "gcc -v", ARGS_NOTHING, 0 },
	{ "gcc -print-file-name=libc.a -c", ARGS_NOTHING, 0 },
	{ "gcc", ARGS_NOTHING, 0 },
	{ "gcc -include x.c -isystem y.c -c a.S", ARGS_COMPILE, 1 },
	{ "gcc -x c main.txt -x none o.o", ARGS_LINK, 1 },
	{ "gcc -xc - -o p", ARGS_LINK, 1 },
	{ "clang -cc1 a.c", ARGS_NOTHING, 1 },
	{ "gcc -c -o a.o -D x.c a.c", ARGS_COMPILE, 1 },
	{ "gcc -o", ARGS_NOTHING, 0 },
};
/* clang-format on */

static void test_modes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct args args = parse(lines[i].line);

		ok(args.mode == lines[i].mode, "mode %d is %d", (int)lines[i].mode, (int)args.mode);
		ok(args.n_sources == lines[i].sources, "%zu sources", args.n_sources);
		args_release(&args);
	}
}

static void test_words(void)
{
	struct args args =
		parse("gcc -O2 -shared -L lib -lfoo -o out a.c -x c++ b.txt -x none x.s y.o z.h "
		      "-MD -Xlinker a.c");

	ok(is_kind(&args, "-O2", ARGS_OPTION), "an option");
	ok(is_kind(&args, "-shared", ARGS_LINKING) && is_kind(&args, "-lfoo", ARGS_LINKING) &&
		   is_kind(&args, "lib", ARGS_LINKING),
	   "the linker's options, with their arguments");
	ok_str(args.output, "out", "the output");
	ok(is_kind(&args, "a.c", ARGS_SOURCE), "a source");
	ok(is_kind(&args, "b.txt", ARGS_SOURCE), "a source by its language");
	ok_str(word(&args, "b.txt")->language, "c++", "its language");
	ok(is_kind(&args, "x.s", ARGS_ASM) && !word(&args, "x.s")->language, "an assembler file");
	ok(is_kind(&args, "y.o", ARGS_OBJECT) && is_kind(&args, "z.h", ARGS_HEADER),
	   "object, header");
	ok(args.n_sources == 3, "the linker's argument is no source");
	ok(args.own_deps && !args.deps, "the build's own dependencies");
	args_release(&args);
	args = parse("gcc -ojoined -c a.c");
	ok_str(args.output, "joined", "an output that is joined to its option");
	ok(!args.own_deps, "no dependencies of the build's own");
	args_release(&args);
}

/* Where the build has the list of dependencies written. */
static void test_deps(void)
{
	static const struct {
		const char *line, *deps;
	} rows[] = {
		{ "gcc -c a.c -MF .deps/a.Tpo -MD", ".deps/a.Tpo" },
		{ "gcc -c a.c -MMD -MFa.dep", "a.dep" },
		{ "gcc -Wp,-MMD,./.a.o.d -c a.c", "./.a.o.d" },
		{ "gcc -c a.c -MMD -MP", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct args args = parse(rows[i].line);

		ok(args.own_deps, "a list of its own: %s", rows[i].line);
		ok_str(args.deps ? args.deps : "", rows[i].deps, "the list's name");
		args_release(&args);
	}
}

static const char *renamed(const char *text)
{
	static char result[256];
	char line[256];
	struct args args;

	snprintf(line, sizeof(line), "gcc %s", text);
	args = parse_in(line, "/home/u/src", "/home/u/src/k/tree");
	snprintf(result, sizeof(result), "%s", args.words.items[0].text);
	args_release(&args);
	return result;
}

static void test_renaming(void)
{
	ok_str(renamed("/home/u/src/a.c"), "/home/u/src/k/tree/a.c", "a path in the user's tree");
	ok_str(renamed("-I/home/u/src"), "-I/home/u/src/k/tree", "joined to an option");
	ok_str(renamed("-Wl,-rpath,/home/u/src/l"), "-Wl,-rpath,/home/u/src/k/tree/l",
	       "after a comma");
	ok_str(renamed("/home/u/src2/a.c"), "/home/u/src2/a.c", "another folder that begins alike");
	ok_str(renamed("/mnt/home/u/src/a.c"), "/mnt/home/u/src/a.c",
	       "another folder that ends alike");
	ok_str(renamed("/home/u/src/k/tree/a.c"), "/home/u/src/k/tree/a.c",
	       "what is in the copy stays");
}

/* The same in what configure wrote: one text of many words and lines. */
static void test_renaming_text(void)
{
	auto_buf struct buf out = { 0 };

	path_rename(&out, "CPPFLAGS='-I/usr/h -I/s/t/h'\nac_pwd='/s/t'\n/u/s/t;/s/t;/s/tt\n",
		    "/s/t", "/w");
	ok_str(buf_str(&out), "CPPFLAGS='-I/usr/h -I/w/h'\nac_pwd='/w'\n/u/s/t;/w;/s/tt\n",
	       "a text of many paths");
}

static void test_response(void)
{
	char path[] = "/tmp/uspl-args.XXXXXX", line[64];
	const char text[] = "-O2 'two text_poke.c'\n\"q\\\"uote.c\" back\\ slash.c @nosuchfile";
	struct uspl_err err = { 0 };
	struct args args;
	int fd = mkstemp(path);

	ok(fd >= 0 && file_write(path, text, strlen(text), &err) == 0, "a response file");
	close(fd);
	snprintf(line, sizeof(line), "gcc -c @%s", path);
	args = parse(line);
	ok(is_kind(&args, "two text_poke.c", ARGS_SOURCE), "quotes protect");
	ok(is_kind(&args, "q\"uote.c", ARGS_SOURCE), "a backslash in quotes");
	ok(is_kind(&args, "back slash.c", ARGS_SOURCE), "a backslash");
	ok(word(&args, "@nosuchfile"), "a response file that isn't there is passed on");
	args_release(&args);

	snprintf(line, sizeof(line), "@%s", path);
	ok(file_write(path, line, strlen(line), &err) == 0, "a response file that names itself");
	snprintf(line, sizeof(line), "gcc @%s", path);
	args = parse(line);
	ok(args.words.n == 1, "it is expanded so often and no more");
	args_release(&args);
	unlink(path);
}

/* clang-format off */
static const struct { const char *line, *cwd; bool probe; } probes[] = {
	{ "gcc -o conftest conftest.c", "/src", true },
	{ "gcc -c a.c -o /dev/null", "/src", true },
	{ "gcc -xc - -o p", "/src", true },
	{ "gcc -c t.c", "/src/CMakeFiles/CMakeScratch/TryCompile-x", true },
	{ "gcc -c testfile.c", "/src/b/meson-private/tmp1", true },
	{ "gcc -c a.c", "/src", false },
	{ "gcc -c aconftest.c", "/src", false },
};
/* clang-format on */

static void test_probes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		struct args args = parse(probes[i].line);

		ok(args_is_probe(&args, probes[i].cwd) == probes[i].probe, "probe or not: %s",
		   probes[i].line);
		args_release(&args);
	}
}

static void test_linker(void)
{
	const char *gcc[] = { "ld", "-o", "x", "a.o" }, *joined[] = { "ld", "--output=y" };
	const char *none[] = { "ld", "a.o" }, *version[] = { "ld", "--version" };

	ok_str(link_output(4, gcc), "x", "the linker's -o");
	ok_str(link_output(2, joined), "y", "--output=");
	ok_str(link_output(2, none), "a.out", "no output named");
	ok(!link_output(2, version), "nothing is linked");
}

static void test_trace(void)
{
	auto_strvec strvec inputs = { 0 };
	auto_buf struct buf rest = { 0 };
	auto_free char *here = realpath("/tmp", NULL);
	struct uspl_err err = { 0 };
	char archive[64], text[512], want[128];

	snprintf(archive, sizeof(archive), "%s/uspl(%d).a", here, (int)getpid());
	ok(file_write(archive, "!<arch>\n", 8, &err) == 0,
	   "an archive with parentheses in its name");
	snprintf(text, sizeof(text),
		 "%s\n(%s)a.o\n%s(b.o)\n(nosuch.a)c.o\n/bin/sh\nsome text (x)\n"
		 "trace: %s(c.o)\ntrace: nosuch\n",
		 archive, archive, archive, archive);
	ok(trace_parse(text, &inputs, &rest, &err) == 0, "a trace");
	ok(inputs.n == 3, "three members, %zu", inputs.n);
	snprintf(want, sizeof(want), "(%s)a.o", archive);
	ok_str(inputs.n ? inputs.items[0] : NULL, want, "GNU ld's form");
	snprintf(want, sizeof(want), "(%s)b.o", archive);
	ok_str(inputs.n > 1 ? inputs.items[1] : NULL, want, "gold's and lld's form");
	snprintf(want, sizeof(want), "(%s)c.o", archive);
	ok_str(inputs.n > 2 ? inputs.items[2] : NULL, want, "mold's form");
	ok_str(buf_str(&rest), "(nosuch.a)c.o\nsome text (x)\ntrace: nosuch\n", "all else goes on");
	unlink(archive);
}

int main(void)
{
	auto_free char *object = args_default_object("dir.d/foo.bar.c");

	test_modes();
	test_words();
	test_deps();
	test_renaming();
	test_renaming_text();
	test_response();
	test_probes();
	test_linker();
	test_trace();
	ok_str(object, "foo.bar.o", "a source's object");
	return tap_done();
}
