// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * diff_test.c - what is found to have changed between two compilations, and what is refused
 *
 * Each file of tests/unit/diff is a case: it is compiled without and with -DPATCHED, in each of the
 * ways that its head lists, and the head says what must come out:
 *
 *     // ways: gcc -O2, clang -O1     "any": in all of any_way
 *     // redirects: f g               the functions, by their names without clone numbers, sorted
 *     // carries: f t.c:helper        symbols that new.o must define
 *     // refers: t.c:counter          symbols that new.o must leave to the running program
 *     // by_name: t.c:f               one that new.o defines, and refers to by the symbol
 *     // warns: TEXT                  a part of a warning; "none": there is none
 *     // explains: TEXT               a part of the explanation; the line may be repeated
 *     // refuses: data-change TEXT    instead: the code's name, and a part of the message
 */

#include "base/vec.h"
#include "create/diff.h"
#include "create/unit/diff_unit.h"
#include "create/unit/report_warn.h"
#include "objfile/objfile.h"
#include "update/update.h"

#include <glob.h>

#include "base/buf.h"
#include "base/file.h"
#include "compile.h"
#include "tap.h"

#define CASES "tests/unit/diff"
#define SPLIT "-ffunction-sections -fdata-sections"

static const char any_way[] =
	"gcc -O0, gcc -O2, gcc -O3 -fno-pie, gcc -Os -fPIC, gcc -O1 -fcommon, "
	"clang -O0, clang -O2 -fPIC";

struct diff_case {
	const char *path;
	char *text;
	/* NULL if the head hasn't the line. */
	char *ways, *redirects, *carries, *refers, *by_name, *warns, *refuses;
};

/* The rest of the line "// key: REST", which the caller frees; NULL if there is none. */
static char *head_line(const char *text, const char *key)
{
	auto_buf struct buf prefix = { 0 };
	const char *line;

	buf_addf(&prefix, "\n// %s: ", key);
	line = strstr(text, buf_str(&prefix));
	if (!line)
		return NULL;
	line += prefix.len;
	return strndup(line, strcspn(line, "\n"));
}

static void case_release(struct diff_case *c)
{
	free(c->text);
	free(c->ways);
	free(c->redirects);
	free(c->carries);
	free(c->refers);
	free(c->by_name);
	free(c->warns);
	free(c->refuses);
}

DEFINE_AUTO_RELEASE(case, struct diff_case, case_release)
#define auto_case __attribute__((cleanup(cleanup_case_)))

static bool case_read(struct diff_case *c, const char *path)
{
	struct buf buf = { 0 };
	struct uspl_err err = { 0 };

	if (file_read(path, &buf, &err))
		return false;
	c->path = path;
	c->text = buf_take(&buf);
	c->ways = head_line(c->text, "ways");
	c->redirects = head_line(c->text, "redirects");
	c->carries = head_line(c->text, "carries");
	c->refers = head_line(c->text, "refers");
	c->by_name = head_line(c->text, "by_name");
	c->warns = head_line(c->text, "warns");
	c->refuses = head_line(c->text, "refuses");
	if (c->ways && !strcmp(c->ways, "any")) {
		free(c->ways);
		c->ways = strdup(any_way);
	}
	return c->ways && (c->redirects || c->carries || c->refuses);
}

static int by_name(const void *a, const void *b)
{
	const struct update_function *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* "f g": the names of the redirected functions, sorted, without the numbers of clones. */
static char *names_of(struct update_target *target)
{
	struct buf names = { 0 };
	struct update_function *function;

	if (target->functions.n)
		qsort(target->functions.items, target->functions.n,
		      sizeof(*target->functions.items), by_name);
	vec_for_each (&target->functions, function)
		buf_addf(&names, "%s%.*s", names.len ? " " : "", (int)strcspn(function->name, "."),
			 function->name);
	return names.len ? buf_take(&names) : strdup("");
}

static void target_release(struct update_target *target)
{
	struct update_function *function;

	vec_for_each (&target->functions, function) {
		free(function->name);
		free(function->symbol);
		free(function->unit);
		free(function->reason);
	}
	vec_release(&target->functions);
	objfile_free(target->new_code);
	objfile_free(target->pre_code);
	free(target->compiler);
	free(target->producer);
}

DEFINE_AUTO_RELEASE(target, struct update_target, target_release)
#define auto_target __attribute__((cleanup(cleanup_target_)))

/*
 * What must hold for any result: a redirected function is in both objects, new code can be
 * unwound.
 */
static bool is_consistent(const struct update_target *target)
{
	const struct update_function *function;
	auto_buf struct buf bytes = { 0 };
	struct uspl_err err = { 0 };

	vec_for_each (&target->functions, function) {
		const struct objsym *new = objfile_symbol(target->new_code, function->symbol);
		const struct objsym *pre = objfile_symbol(target->pre_code, function->symbol);

		if (!new || !new->sec || !pre || !pre->sec || !objsec_is_code(new->sec) ||
		    !pre->size || !function->reason)
			return false;
	}
	return target->compiler && objfile_section(target->new_code, ".eh_frame") &&
	       !objfile_section(target->pre_code, ".eh_frame") &&
	       objfile_write(target->new_code, &bytes, &err) == 0 &&
	       objfile_write(target->pre_code, &bytes, &err) == 0;
}

/* Each of the symbols that are listed is in new.o, and defined there or not as asked. */
static void check_symbols(const struct objfile *obj, const char *list, bool defined,
			  const char *what)
{
	auto_free char *copy = strdup(list);
	char *rest = copy, *name;

	while ((name = strsep(&rest, " "))) {
		const struct objsym *sym = objfile_symbol(obj, name);

		ok(sym && defined == !!sym->sec && (defined || sym->bind != STB_LOCAL), "%s: %s %s",
		   what, defined ? "carries" : "refers to", name);
	}
}

/* Does anything carried refer to the symbol, rather than to its section? */
static bool is_named_by_code(const struct objfile *obj, const char *name)
{
	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objrel *rel;

		vec_for_each (&obj->secs.items[i]->rels, rel)
			if (!strcmp(rel->sym->name, name))
				return true;
	}
	return false;
}

static void check_packaged(const struct diff_case *c, struct update_target *target,
			   const char *what)
{
	auto_free char *names = names_of(target);

	if (c->redirects)
		ok_str(names, c->redirects, what);
	ok(is_consistent(target), "%s: both objects are consistent", what);
	if (c->carries)
		check_symbols(target->new_code, c->carries, true, what);
	if (c->by_name)
		ok(is_named_by_code(target->new_code, c->by_name), "%s: %s by name", what,
		   c->by_name);
	if (c->refers)
		check_symbols(target->new_code, c->refers, false, what);
}

static void check_refused(const struct diff_case *c, int rc, const struct uspl_err *err,
			  const char *what)
{
	size_t len = strcspn(c->refuses, " ");
	const char *name = uspl_code_name(rc), *text = c->refuses + len + 1;

	ok(rc && strlen(name) == len && !memcmp(name, c->refuses, len), "%s: %s", what, c->refuses);
	ok(rc && strstr(err->msg, text), "%s: says why: %s", what, err->msg);
}

static void check_warnings(const struct diff_case *c, const struct report *report, const char *what)
{
	auto_buf struct buf all = { 0 };
	char **text;

	vec_for_each (&report->warnings, text)
		buf_addf(&all, "%s; ", *text);
	ok(strcmp(c->warns, "none") ? strstr(buf_str(&all), c->warns) != NULL : !all.len,
	   "%s: warns: %s, has %s", what, c->warns, all.len ? buf_str(&all) : "none");
}

static void check_explanation(const struct diff_case *c, const struct report *report,
			      const char *what)
{
	static const char key[] = "\n// explains: ";

	for (const char *line = strstr(c->text, key); line; line = strstr(line, key)) {
		auto_free char *text = NULL;

		line += strlen(key);
		text = strndup(line, strcspn(line, "\n"));
		ok(text && strstr(buf_str(&report->explanation), text), "%s: explains: %s", what,
		   text);
	}
}

static void run_case(const struct diff_case *c, const char *way)
{
	auto_buf struct buf pre_cmd = { 0 }, post_cmd = { 0 }, what = { 0 };
	auto_free char *pre = NULL, *post = NULL;
	auto_target struct update_target target = { .name = (char *)"target" };
	struct uspl_err err = { 0 };
	struct diff_unit unit = { .source = "t.c" };
	auto_report struct report report = { .explain = true };
	size_t len;
	int rc;

	buf_addf(&what, "%s (%s)", file_basename(c->path), way);
	len = strcspn(way, " ");
	buf_addf(&pre_cmd, "%.*s -g %s -w %s", (int)len, way, way + len, SPLIT);
	buf_addf(&post_cmd, "%s -DPATCHED", buf_str(&pre_cmd));
	pre = compile_object(buf_str(&pre_cmd), "pre", c->text);
	post = compile_object(buf_str(&post_cmd), "post", c->text);
	unit.pre_obj = pre;
	unit.post_obj = post;
	rc = diff_target(&unit, 1, NULL, &target, &report, &err);
	if (c->refuses) {
		check_refused(c, rc, &err, buf_str(&what));
		return;
	}
	ok(rc == 0, "%s: packaged %s", buf_str(&what), err.msg);
	if (!rc)
		check_packaged(c, &target, buf_str(&what));
	if (!rc)
		check_explanation(c, &report, buf_str(&what));
	if (!rc && c->warns)
		check_warnings(c, &report, buf_str(&what));
}

static void test_case(const char *path)
{
	auto_case struct diff_case c = { 0 };
	char *rest, *way;

	ok(case_read(&c, path), "%s is a case", path);
	rest = c.ways;
	while (rest && (way = strsep(&rest, ",")))
		run_case(&c, way + strspn(way, " "));
}

static const char damage_text[] =
	"int outside(const char *);\n"
	"static const int tab[4] = { 1, 2, 3, 4 };\n"
	"int f(int x) { static int n = 3; switch (x) { case 0: return outside(\"a\");"
	" case 1: return n++; case 2: return tab[x]; case 3: return outside(\"c\");"
	" case 5: return 7; } return 0; }\n"
	"#ifdef PATCHED\n"
	"int g(int x) { return f(x) + outside(__func__); }\n"
	"#else\n"
	"int g(int x) { return f(x + 1); }\n"
	"#endif\n";

static void test_cases(void)
{
	glob_t found = { 0 };

	ok(!glob(CASES "/*.c", 0, NULL, &found), "there are cases in " CASES);
	for (size_t i = 0; i < found.gl_pathc; i++)
		test_case(found.gl_pathv[i]);
	globfree(&found);
}

/*
 * Two units change; each has a static function of the same name, one uses what is new in the
 * other.
 */
static void test_two_units(void)
{
	static const char a[] =
		"#ifdef PATCHED\n"
		"int fresh(int);\n"
		"static __attribute__((noinline)) int low(int x) { return x / 5 + fresh(x); }\n"
		"#else\n"
		"static __attribute__((noinline)) int low(int x) { return x / 3; }\n"
		"#endif\n"
		"int a(int x) { return low(x); }\n";
	static const char b[] =
		"#ifdef PATCHED\n"
		"int fresh(int x) { return x ^ 1; }\n"
		"static __attribute__((noinline)) int low(int x) { return x * 5; }\n"
		"#else\n"
		"static __attribute__((noinline)) int low(int x) { return x * 3; }\n"
		"#endif\n"
		"int b(int x) { return low(x); }\n";
	auto_free char *a_pre = compile_object("gcc -g -O2 " SPLIT, "a_pre", a);
	auto_free char *a_post = compile_object("gcc -g -O2 -DPATCHED " SPLIT, "a_post", a);
	auto_free char *b_pre = compile_object("gcc -g -O2 " SPLIT, "b_pre", b);
	auto_free char *b_post = compile_object("gcc -g -O2 -DPATCHED " SPLIT, "b_post", b);
	struct diff_unit units[] = { { "a.c", a_pre, a_post }, { "b.c", b_pre, b_post } };
	auto_target struct update_target target = { .name = (char *)"target" };
	auto_report struct report report = { 0 };
	struct uspl_err err = { 0 };
	auto_free char *names = NULL;

	ok(diff_target(units, 2, NULL, &target, &report, &err) == 0, "two units change");
	if (err.msg[0])
		return;
	names = names_of(&target);
	ok_str(names, "low low", "two functions of one name");
	check_symbols(target.new_code, "a.c:low b.c:low fresh", true, "two units");
	ok(is_consistent(&target), "two units: both objects are consistent");
}

static const char export_text[] =
	"#ifdef PATCHED\n#define MORE , long more\n#define SUM + more\n"
	"#else\n#define MORE\n#define SUM\n#endif\n"
	"__attribute__((noipa)) int part(int x MORE) { return x / 3 SUM; }\n";

/* Callers outside go on passing what they pass: a library may not ask for more, a program may. */
static void test_exported(void)
{
	auto_free char *pre = compile_object("gcc -g -O2 " SPLIT, "lib_pre", export_text);
	auto_free char *post =
		compile_object("gcc -g -O2 -DPATCHED " SPLIT, "lib_post", export_text);
	struct diff_unit unit = { .source = "lib.c", .pre_obj = pre, .post_obj = post };
	auto_target struct update_target library = { .name = (char *)"libpart.so.1" };
	auto_target struct update_target program = { .name = (char *)"part" };
	auto_report struct report report = { 0 };
	struct uspl_err err = { 0 };

	ok(diff_target(&unit, 1, NULL, &library, &report, &err) == -USPL_E_UNSUPPORTED &&
		   strstr(err.msg, "lib_post.c:8: the exported function 'part' changes from "
				   "'int (int)' to 'int (int, long int)'"),
	   "a library's function gets another parameter: %s", err.msg);
	ok(diff_target(&unit, 1, NULL, &program, &report, &err) == 0, "a program's function may");
}

/* A function moves into a unit that didn't exist before, and changes. */
static void test_new_unit(void)
{
	auto_free char *pre = compile_object("gcc -g -O2 " SPLIT, "old_pre",
					     "__attribute__((noipa)) int f(int x) { return x / 3; "
					     "}\nint g(int x) { return f(x); }\n");
	auto_free char *post = compile_object("gcc -g -O2 " SPLIT, "old_post",
					      "int f(int);\nint g(int x) { return f(x); }\n");
	auto_free char *fresh =
		compile_object("gcc -g -O2 " SPLIT, "fresh", "int f(int x) { return x / 5; }\n");
	struct diff_unit units[] = { { "old.c", pre, post }, { "new.c", NULL, fresh } };
	auto_target struct update_target target = { .name = (char *)"target" };
	auto_report struct report report = { 0 };
	struct uspl_err err = { 0 };
	auto_free char *names = NULL;

	ok(diff_target(units, 2, NULL, &target, &report, &err) == 0,
	   "a function moves into a new file");
	if (err.msg[0])
		return;
	names = names_of(&target);
	ok_str(names, "f", "only that function is redirected");
	ok(is_consistent(&target), "a new file: both objects are consistent");
}

/* Objects come from a compiler, but a damaged one must not do worse than end in a message. */
static void test_damage(void)
{
	auto_free char *pre = compile_object("gcc -g -O2 " SPLIT, "good", damage_text);
	auto_free char *post = compile_object("gcc -g -O2 -DPATCHED " SPLIT, "bad", damage_text);
	struct diff_unit unit = { .source = "t.c", .pre_obj = pre, .post_obj = post };
	auto_buf struct buf good = { 0 };
	unsigned int seed = 7, silent = 0, refused = 0;
	struct uspl_err err = { 0 };

	ok(file_read(post, &good, &err) == 0, "an object to damage");
	for (int round = 0; round < 1500; round++) {
		auto_target struct update_target target = { .name = (char *)"target" };
		auto_report struct report report = { 0 };
		auto_buf struct buf bad = { 0 };

		buf_add(&bad, good.data, good.len);
		for (int i = 0; i <= round % 5; i++) {
			size_t at = (size_t)rand_r(&seed) % (round % 2 ? good.len : good.len / 3);

			bad.data[good.len - 1 - at] = (char)rand_r(&seed);
		}
		err.msg[0] = '\0';
		if (file_write(post, bad.data, bad.len, &err) ||
		    diff_target(&unit, 1, NULL, &target, &report, &err)) {
			refused++;
			silent += !err.msg[0];
		}
	}
	ok(refused && !silent, "%u of 1500 damaged objects are refused, with a message", refused);
}

int main(void)
{
	test_cases();
	test_damage();
	test_two_units();
	test_new_unit();
	test_exported();
	compile_rmdir();
	return tap_done();
}
