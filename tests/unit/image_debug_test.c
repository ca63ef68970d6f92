// SPDX-License-Identifier: GPL-3.0-or-later
// image_debug_test.c - what is known of a stripped program by debugging information that is kept
// apart

#include "image/image_debug.h"
#include "tests/unit/match_sample.h"
#include "tests/unit/tap.h"

static const char source[] =
	"#include <stdio.h>\n"
	"FILE *file; /* so much that dwz has something to share */\n"
	"static __attribute__((noinline)) int hidden(int n) { return n ^ 99; }\n"
	"int main(int n, char **v) { return hidden(n) + (v[0] != 0); }\n";

/* True if the program's image has the static function, at an address of code. */
static bool knows_hidden(const char *program, const char *folder)
{
	struct image_file file = { 0 };
	struct uspl_err err = { 0 };
	const struct image_sym *sym = NULL;
	const struct image_seg *seg = NULL;

	if (image_file_read(program, folder, &file, &err) == 0)
		sym = truth(file.image, "hidden");
	if (sym)
		seg = image_seg_at(file.image, sym->addr);
	image_file_release(&file);
	return seg && sym;
}

/* True if all that its debugging information tells is known of the program. */
static bool knows_origin(const char *program, const char *folder)
{
	struct image_file file = { 0 };
	struct uspl_err err = { 0 };
	auto_free char *producer = NULL;
	auto_free char *line = NULL;
	const struct image_sym *sym;

	if (image_file_read(program, folder, &file, &err) == 0) {
		sym = truth(file.image, "hidden");
		producer = image_producer(file.image, "split.c");
		line = sym ? image_line(file.image, sym->addr) : NULL;
	}
	image_file_release(&file);
	return producer && strstr(producer, "-O1") && line && !strcmp(line, "split.c:3");
}

/* Runs a command in the folder of the test. */
static void in_dir(const char *command)
{
	run("cd '%s' && %s", compile_dir(), command);
}

static void test_places(const char *program, const char *folder)
{
	in_dir("gcc -O1 -g -Wl,--build-id=0xabcdef01 -o whole split.o && cp whole prog &&"
	       " objcopy --only-keep-debug whole kept && strip prog");
	ok(!knows_hidden(program, NULL), "a stripped program has lost the name");
	in_dir("mkdir -p more/.build-id/ab && cp kept more/.build-id/ab/cdef01.debug");
	ok(knows_hidden(program, folder), "it is found by build-id, in a folder that is given");
	ok(knows_origin(program, folder), "and so are its compiler's options and its lines");
	ok(!knows_hidden(program, "/nothing/there"), "nor in one that isn't there");
	ok(!knows_hidden(program, NULL), "which is not looked into otherwise");
	in_dir("gcc -O1 -g -Wl,--build-id=0xabcdef02 -o other split.o &&"
	       " objcopy --only-keep-debug other more/.build-id/ab/cdef01.debug");
	ok(!knows_hidden(program, folder), "a file of another build is not taken");
}

static void test_link(const char *program)
{
	in_dir("gcc -O1 -g -Wl,--build-id=none -o whole split.o && cp whole prog &&"
	       " objcopy --only-keep-debug whole prog.debug && strip prog &&"
	       " objcopy --add-gnu-debuglink=prog.debug prog");
	ok(knows_hidden(program, NULL), "it is found by the link to it");
	in_dir("echo >> prog.debug");
	ok(!knows_hidden(program, NULL), "not if its checksum is another");
	in_dir("mkdir -p .debug && objcopy --only-keep-debug whole .debug/prog &&"
	       " cp whole prog && strip prog && objcopy --add-gnu-debuglink=.debug/prog prog");
	ok(knows_hidden(program, NULL), "it is found by its own name in a folder of its own");
	in_dir("rm -r .debug");
	ok(!knows_hidden(program, NULL), "a program whose link leads to itself has no names");
	in_dir("cp whole prog && strip prog && mv prog.debug kept.debug &&"
	       " objcopy --only-keep-debug whole prog.debug");
	ok(!knows_hidden(program, NULL), "without link, checksum and build-id nothing is taken");
}

static void test_inside(const char *program)
{
	if (system("command -v xz > /dev/null")) {
		printf("# xz is not installed\n");
		return;
	}
	in_dir("rm prog.debug && cp whole prog && objcopy -S --remove-section=.gnu_debuglink"
	       " --keep-symbol=hidden whole mini && xz -f mini && strip prog &&"
	       " objcopy --add-section=.gnu_debugdata=mini.xz prog");
	ok(knows_hidden(program, NULL), "it is found in the program itself, compressed");
	in_dir("head -c 100 mini.xz > short.xz && strip prog &&"
	       " objcopy --remove-section=.gnu_debugdata prog &&"
	       " objcopy --add-section=.gnu_debugdata=short.xz prog");
	ok(!knows_hidden(program, NULL), "not if it is cut short");
}

/* What several programs have in common is in a file of its own, to which each has a link. */
static void test_common(const char *program, const char *folder)
{
	if (system("command -v dwz > /dev/null")) {
		printf("# dwz is not installed\n");
		return;
	}
	in_dir("rm -rf more && mkdir -p more/.build-id/ab && for n in 5 6; do"
	       " gcc -O1 -g -Wl,--build-id=0xabcdef0$n -o whole$n split.o &&"
	       " objcopy --only-keep-debug whole$n more/.build-id/ab/cdef0$n.debug; done &&"
	       " cp whole5 prog && strip prog && cd more &&"
	       " dwz -r -m common .build-id/ab/cdef05.debug .build-id/ab/cdef06.debug"
	       " && readelf -S .build-id/ab/cdef05.debug | grep -q gnu_debugaltlink");
	ok(knows_origin(program, folder), "what dwz has moved to a common file is found there");
	in_dir("mv more/common more/uncommon");
	ok(knows_hidden(program, folder), "without that file the names are known");
	ok(!knows_origin(program, folder), "and nothing else");
}

int main(void)
{
	char program[96], folder[96];

	free(compile_object("gcc -O1 -g", "split", source));
	snprintf(program, sizeof(program), "%s/prog", compile_dir());
	snprintf(folder, sizeof(folder), "%s/more", compile_dir());
	test_places(program, folder);
	test_link(program);
	test_inside(program);
	test_common(program, folder);
	compile_rmdir();
	return tap_done();
}
