// SPDX-License-Identifier: GPL-3.0-or-later
// match_twins_test.c - functions of equal code are told apart by who refers to them, or not at all

#include "tests/unit/match_sample.h"
#include "tests/unit/tap.h"

/*
 * The two functions of an identical pair are told apart by who calls them; without a caller they
 * aren't.
 */
static void test_twins(void)
{
	static const char twins[] =
		"static __attribute__((noinline)) int one(int n) { return n ^ 77; }\n"
		"int CALLER(int n) { return one(n) + 1 - MORE; }\n";
	const char *dir = compile_dir();
	struct image *image;
	struct objfile *pre;
	struct match *match = NULL;
	const struct match_func *func;
	struct uspl_err err = { 0 };
	char path[96];

	free(compile_object("gcc -O1 -DCALLER=call_b -DMORE=5", "twin", twins));
	run("mv %s/twin.o %s/twin_b.o", dir, dir);
	free(compile_object("gcc -O1 -ffunction-sections -DCALLER=call_a -DMORE=3", "twin", twins));
	run("echo 'int call_a(int), call_b(int); int main(void) { return call_a(call_b(1)); }' |"
	    " gcc -x c - -x none %s/twin.o %s/twin_b.o -o %s/prog",
	    dir, dir, dir);
	snprintf(path, sizeof(path), "%s/prog", dir);
	image = image_of_file(path);
	snprintf(path, sizeof(path), "%s/twin.o", dir);
	pre = pre_object(path);
	ok(match_run(image, pre, &match, &err) == 0 &&
		   match_require(match, "twin.c:one", &func, &err) == 0,
	   "a twin is found through its caller");
	match_free(match);
	/* Now the caller is another function, and nothing tells the twins apart. */
	for (size_t i = 0; i < pre->syms.n; i++)
		if (!strcmp(pre->syms.items[i]->name, "call_a"))
			pre->syms.items[i]->sec->data[0] ^= 0xff;
	ok(match_run(image, pre, &match, &err) == 0 &&
		   match_require(match, "twin.c:one", &func, &err) == -USPL_E_NO_MATCH &&
		   strstr(err.msg, "2 places"),
	   "without a caller it is ambiguous");
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

/* What an earlier match of the same build knows; hint is right. */
static void test_hints(const struct image *image, const struct objfile *pre, struct match_hint hint)
{
	const struct match_func *one = NULL;
	struct uspl_err err = { 0 };
	struct match *match = NULL;

	ok(match_run_hinted(image, pre, &hint, 1, &match, &err) == 0 &&
		   match_require(match, "tables.c:seven", &one, &err) == 0 &&
		   one->addr == hint.addr,
	   "a hint tells which twin is meant");
	match_free(match);
	hint.addr++;
	ok(match_run_hinted(image, pre, &hint, 1, &match, &err) == 0 &&
		   match_require(match, "tables.c:seven", &one, &err) == -USPL_E_NO_MATCH,
	   "a wrong hint is found out, and nothing else is tried");
	match_free(match);
	hint.refname = "nobody";
	ok(match_run_hinted(image, pre, &hint, 1, &match, &err) == 0 &&
		   match_require(match, "main", &one, &err) == 0,
	   "a hint for what isn't there means nothing");
	match_free(match);
}

/*
 * Two functions of equal code, which only tables refer to: in a program that hasn't run yet, the
 * tables' pointers tell which is which.
 */
static void test_tables_tell(void)
{
	static const char source[] =
		"struct ops { int (*first)(int), (*second)(int); };\n"
		"static int seven(int n) { return n * 3 + 7; }\n"
		"static int also_seven(int n) { return n * 3 + 7; }\n"
		"static struct ops ops = { also_seven, seven };\n"
		"struct ops *all[] = { &ops };\n"
		"int main(int n, char **v) { return all[n - 1]->second(n) + (v[0] != 0); }\n";
	const char *dir = compile_dir();
	const struct match_func *one = NULL, *other = NULL;
	struct match_hint hint = { .refname = "tables.c:seven" };
	struct uspl_err err = { 0 };
	struct match *match = NULL;
	struct image *image;
	struct objfile *pre;
	char path[96];

	free(compile_object("gcc -O1 -fPIE -ffunction-sections -fno-ipa-icf", "tables", source));
	run("gcc -pie -s %s/tables.o -o %s/prog", dir, dir);
	snprintf(path, sizeof(path), "%s/prog", dir);
	image = image_of_file(path);
	snprintf(path, sizeof(path), "%s/tables.o", dir);
	pre = pre_object(path);
	ok(match_run(image, pre, &match, &err) == 0 &&
		   match_require(match, "tables.c:seven", &one, &err) == 0 &&
		   match_require(match, "tables.c:also_seven", &other, &err) == 0 &&
		   one->addr < other->addr,
	   "initial pointers of variables tell twins apart %s", err.msg);
	hint.addr = other ? other->addr : 0;
	match_free(match);
	image->pristine = false;
	ok(match_run(image, pre, &match, &err) == 0 &&
		   match_require(match, "tables.c:seven", &one, &err) == -USPL_E_NO_MATCH,
	   "but not those of a program that runs");
	match_free(match);
	test_hints(image, pre, hint);
	objfile_free(pre);
	image_free(image);
}

/*
 * A static function isn't another unit's global one of its name, though a stripped program exports
 * that.
 */
static void test_local_is_not_exported(void)
{
	const char *dir = compile_dir();
	const struct match_func *func = NULL;
	struct uspl_err err = { 0 };
	struct match *match = NULL;
	struct image *image;
	struct objfile *pre;
	char path[96];

	free(compile_object("gcc -O1 -fPIE", "exported",
			    "int order(int n) { return n * 5; }\n"
			    "int caller(int);\nint main(void) { return caller(order(3)); }\n"));
	free(compile_object("gcc -O1 -fPIE -ffunction-sections", "hides",
			    "static __attribute__((noinline)) int order(int n) { return n * 5; }\n"
			    "int caller(int n) { return order(n) + 1; }\n"));
	run("gcc -pie -s -rdynamic %s/exported.o %s/hides.o -o %s/prog", dir, dir, dir);
	snprintf(path, sizeof(path), "%s/prog", dir);
	image = image_of_file(path);
	snprintf(path, sizeof(path), "%s/hides.o", dir);
	pre = pre_object(path);
	ok(match_run(image, pre, &match, &err) == 0 &&
		   match_require(match, "hides.c:order", &func, &err) == 0 &&
		   func->addr != truth(image, "order")->addr,
	   "a static function isn't an exported one of its name %s", err.msg);
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

int main(void)
{
	test_twins();
	test_tables_tell();
	test_local_is_not_exported();
	compile_rmdir();
	return tap_done();
}
