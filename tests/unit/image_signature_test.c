// SPDX-License-Identifier: GPL-3.0-or-later
// image_signature_test.c - what functions are called with and return, by the debugging information
// that the compiler has written
#include "base/buf.h"
#include "image/image_signature.h"
#include "tests/unit/match_sample.h"
#include "tests/unit/tap.h"
#include "trace/probe/filter.h"

static const char source[] =
	"typedef enum { RED, GREEN = 5, BLUE = -1 } color;\n"
	"struct pair { long a, b; };\n"
	"struct large { long a, b, c; };\n"
	"typedef const char *text;\n"
	"#define KEPT __attribute__((noipa)) \n"
	"KEPT int numbers(signed char c, unsigned short s, int i, unsigned long u) { return c + s "
	"+ i + (int)u; }\n"
	"KEPT double reals(float f, double d) { return f + d; }\n"
	"KEPT const char *texts(text name, const void *block, char *out) { return block ? name : "
	"out; }\n"
	"KEPT color colors(color c, _Bool b) { return b ? c : RED; }\n"
	"KEPT struct pair pairs(struct pair p, int i) { p.a += i; return p; }\n"
	"KEPT struct large larges(struct large l, int i) { l.a += i; return l; }\n"
	"KEPT void nothing(void) { __asm__ volatile(\"\"); }\n"
	"KEPT int many(int a, int b, int c, int d, int e, int f, int g) { return a + b + c + d + e "
	"+ f + g; }\n"
	"static __attribute__((noinline)) int partly(int used, int unused) { return used * 3; }\n"
	"int main(int n, char **v) { return partly(n, 7) + (v[0] != 0); }\n";

static struct image *image;

/* The function; its name may have something behind it (".isra.0"). */
static const struct image_sym *find(const char *name)
{
	const struct image_sym *sym, *found = NULL;

	vec_for_each (&image->syms, sym)
		if (!strncmp(sym->name, name, strlen(name)) &&
		    (!sym->name[strlen(name)] || sym->name[strlen(name)] == '.'))
			found = sym;
	return found;
}

/* What is known of a function. */
static struct image_signature signature_of(const char *name)
{
	struct image_signature signature = { 0 };
	struct uspl_err err = { 0 };
	const struct image_sym *found = find(name);

	if (!found || image_signature_read(image, found->addr, &signature, &err) != 0)
		printf("# nothing is known of '%s': %s\n", name, err.msg);
	return signature;
}

/* "name:kind/width@place" of one: r for a general register, x, s for the stack, - for nowhere. */
static void add_value(struct buf *out, const struct image_value *value)
{
	static const char places[] = "rxs-";

	buf_addf(out, "%s%s:%d/%d@%c%d", out->len ? " " : "", value->name ? value->name : "",
		 value->kind, value->width, places[value->place.from], value->place.index);
}

/* All of a function as one line: arguments, an arrow, the result. */
static void expect(const char *name, const char *want)
{
	struct image_signature signature = signature_of(name);
	auto_buf struct buf have = { 0 };
	const struct image_value *value;

	vec_for_each (&signature.args, value)
		add_value(&have, value);
	buf_addstr(&have, " ->");
	if (signature.has_result)
		add_value(&have, &signature.result);
	ok(signature.known, "%s is known", name);
	ok_str(buf_str(&have), want, name);
	image_signature_release(&signature);
}

static void test_enumeration(void)
{
	struct image_signature signature = signature_of("colors");

	ok(signature.args.n == 2 && signature.args.items[0].names, "an enumeration has names");
	if (signature.args.n == 2) {
		ok_str(signature.args.items[0].names, "RED=0,GREEN=5,BLUE=-1", "its values");
		ok_str(signature.args.items[1].names, "false=0,true=1", "those of a bool");
	}
	image_signature_release(&signature);
}

/*
 * The function taken for a marker: the letters of its arguments' types, and how they are printed.
 */
static void expect_marker(const char *name, bool at_return, const char *letters, const char *format)
{
	struct marker marker = { .at_return = at_return, .function = true };
	const struct image_sym *sym = find(name);
	char have[USPL_PROBE_ARGS_MAX + 1] = "";

	marker.site = sym ? sym->addr : 0;
	ok(sym && marker_set_args(image, &marker, NULL) == 0, "%s as a marker", name);
	for (size_t i = 0; i < marker.n_args; i++)
		have[i] = marker_arg_letter(&marker.args[i]);
	ok_str(have, letters, "types");
	ok_str(marker.format ? marker.format : "none", format, "format");
	free(marker.format);
}

static void test_gone(void)
{
	struct marker marker = { .name = (char *)"partly", .function = true };
	struct uspl_err err = { 0 };
	struct filter filter = { 0 };

	marker.site = find("partly")->addr;
	ok(marker_set_args(image, &marker, NULL) == 0 &&
		   !filter_parse("used > 1", &marker, &filter, NULL),
	   "a filter on what is used");
	filter_release(&filter);
	ok(filter_parse("unused > 1", &marker, &filter, &err) == -USPL_E_UNSUPPORTED &&
		   !strcmp(err.msg, "the compiler has removed the argument 'unused' of 'partly'"),
	   "and none on what the compiler has removed");
	free(marker.format);
}

static void test_markers(void)
{
	expect_marker("numbers", false, "iuiu", "c=%ld s=%lu i=%ld u=%lu");
	expect_marker("reals", false, "fd", "f=%g d=%g");
	expect_marker("texts", false, "sps", "name=\"%s\" block=%p out=\"%s\"");
	expect_marker("pairs", false, "?i", "p={%#lx} i=%ld");
	expect_marker("partly", false, "i-", "used=%ld unused=?%.0s");
	expect_marker("nothing", false, "", "");
	expect_marker("nothing", true, "", "");
	expect_marker("reals", true, "d", "ret=%g");
	test_gone();
}

int main(void)
{
	char *object = compile_object("gcc -O2 -g", "signatures", source);
	auto_free char *path = NULL;
	struct image_signature signature;

	free(object);
	run("cd '%s' && gcc -g -o program signatures.o", compile_dir());
	if (asprintf(&path, "%s/program", compile_dir()) < 0)
		return 1;
	image = image_of_file(path);
	/*
	 * Places by the System V ABI for x86-64, 3.2.3; kinds: enum uspl_probe_arg_kind, 0 for a
	 * structure.
	 */
	expect("numbers", "c:1/1@r0 s:2/2@r1 i:1/4@r2 u:2/8@r3 -> :1/4@r6");
	expect("reals", "f:3/4@x0 d:3/8@x1 -> :3/8@x0");
	expect("texts", "name:5/8@r0 block:4/8@r1 out:5/8@r2 -> :5/8@r6");
	expect("colors", "c:1/4@r0 b:2/1@r1 -> :1/4@r6");
	expect("pairs", "p:0/8@r0 i:1/4@r2 -> :0/8@r6");
	expect("larges", "l:0/8@s0 i:1/4@r1 -> :0/8@r6");
	expect("nothing", " ->");
	expect("many", "a:1/4@r0 b:1/4@r1 c:1/4@r2 d:1/4@r3 e:1/4@r4 f:1/4@r5 g:1/4@s0 -> :1/4@r6");
	/* The compiler's copy of it isn't given what isn't used. */
	expect("partly", "used:1/4@r0 unused:1/4@-0 -> :1/4@r6");
	test_enumeration();
	test_markers();
	image_free(image);
	run("strip -g '%s'", path);
	image = image_of_file(path);
	signature = signature_of("numbers");
	ok(!signature.known, "without debugging information nothing is known");
	image_signature_release(&signature);
	expect_marker("numbers", false, "??????", "none");
	expect_marker("numbers", true, "?", "ret=%#lx");
	image_free(image);
	compile_rmdir();
	return tap_done();
}
