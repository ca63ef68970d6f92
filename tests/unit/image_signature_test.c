// SPDX-License-Identifier: GPL-3.0-or-later
// image_signature_test.c - what functions are called with and return, by the debugging information that the compiler has written
#include "base/buf.h"
#include "match/image_signature.h"
#include "tests/unit/match_sample.h"
#include "tests/unit/tap.h"

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

/* What is known of a function; its name may have something behind it (".isra.0"). */
static struct image_signature signature_of(const char *name)
{
	struct image_signature signature = { 0 };
	struct uspl_err err = { 0 };
	const struct image_sym *sym, *found = NULL;

	vec_for_each (&image->syms, sym)
		if (!strncmp(sym->name, name, strlen(name)) &&
		    (!sym->name[strlen(name)] || sym->name[strlen(name)] == '.'))
			found = sym;
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
	/* Places by the System V ABI for x86-64, 3.2.3; kinds: enum uspl_probe_arg_kind, 0 for a structure. */
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
	image_free(image);
	run("strip -g '%s'", path);
	image = image_of_file(path);
	signature = signature_of("numbers");
	ok(!signature.known, "without debugging information nothing is known");
	image_signature_release(&signature);
	image_free(image);
	compile_rmdir();
	return tap_done();
}
