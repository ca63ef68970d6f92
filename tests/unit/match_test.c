// SPDX-License-Identifier: GPL-3.0-or-later
// match_test.c - functions of objects are found in programs that were linked from another build of
// the same source
//
// The pre object is always built with -ffunction-sections, as uspl-create does; the program in many
// ways.

#include "arch/arch.h"
#include "tests/unit/match_sample.h"
#include "tests/unit/tap.h"

#define SAMPLE "tests/unit/samples/match.c"
#define OTHER "tests/unit/samples/match_other.c"

static bool have(const char *program)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null", program);
	return system(cmd) == 0;
}

struct counts {
	int functions, right, values, values_wrong;
	char first[1600]; /* the first message */
};

static void check_symbol(const struct image *image, const struct match *match,
			 const struct objsym *sym, struct counts *counts)
{
	const struct image_sym *real = truth(image, sym->name);
	const struct match_func *func;
	struct uspl_err err = { 0 };
	taddr value;

	if (!real)
		return;
	if (sym->sec && objsec_is_code(sym->sec)) {
		counts->functions++;
		if (match_require(match, sym->name, &func, &err) == 0 && func->addr == real->addr)
			counts->right++;
		else if (!counts->first[0])
			snprintf(counts->first, sizeof(counts->first), "%s: %s", sym->name,
				 err.msg);
	}
	if (!match_value(match, sym->name, &value))
		return;
	counts->values++;
	if (real->type == STT_TLS)
		value -= (uint64_t)image->tls_offset;
	counts->values_wrong += value != real->addr;
}

static struct counts match_all(const char *program, const char *object)
{
	struct image *image = image_of_file(program);
	struct objfile *pre = pre_object(object);
	struct counts counts = { 0 };
	struct uspl_err err = { 0 };
	struct match *match = NULL;

	if (match_run(image, pre, &match, &err)) {
		snprintf(counts.first, sizeof(counts.first), "match_run: %s", err.msg);
	} else {
		for (size_t i = 0; i < pre->syms.n; i++)
			if (pre->syms.items[i]->name[0] &&
			    pre->syms.items[i]->type != STT_SECTION &&
			    pre->syms.items[i]->type != STT_FILE)
				check_symbol(image, match, pre->syms.items[i], &counts);
	}
	match_free(match);
	objfile_free(pre);
	image_free(image);
	return counts;
}

/*
 * Builds the program with flags and `how` for it alone, the pre object with flags and function
 * sections.
 */
static void build(const char *cc, const char *flags, const char *how)
{
	const char *dir = compile_dir();

	run("%s -w %s %s -o %s/prog %s %s", cc, flags, how, dir, SAMPLE, OTHER);
	run("%s -w %s -ffunction-sections -fdata-sections -c -o %s/pre.o %s", cc, flags, dir,
	    SAMPLE);
	run("%s -w %s -ffunction-sections -fdata-sections -c -o %s/other.o %s", cc, flags, dir,
	    OTHER);
}

static void test_variant(const char *cc, const char *flags, const char *how)
{
	char program[96], object[96], other[96];
	struct counts counts;

	snprintf(program, sizeof(program), "%s/prog", compile_dir());
	snprintf(object, sizeof(object), "%s/pre.o", compile_dir());
	snprintf(other, sizeof(other), "%s/other.o", compile_dir());
	build(cc, flags, how);
	counts = match_all(program, object);
	ok(counts.functions > 12 && counts.right == counts.functions, "%s %s [%s]: %d functions",
	   cc, flags, how, counts.right);
	if (counts.right != counts.functions)
		printf("# %s\n", counts.first);
	ok(counts.values > 15 && !counts.values_wrong, "%d values are right", counts.values);
	counts = match_all(program, other);
	ok(counts.functions == 2 && counts.right == 2, "the static twin isn't taken for the other");
	if (counts.right != 2)
		printf("# %s\n", counts.first);
}

static void test_variants(void)
{
	static const char *const optimise[] = { "-O0", "-O1", "-O2", "-O3", "-Os" };
	static const char *const pic[] = { "-fPIE -pie", "-fno-pie -no-pie",
					   "-fPIC -ftls-model=initial-exec -pie" };
	static const char *const compilers[] = { "gcc", "clang" };
	char flags[128];

	for (size_t c = 0; c < ARRAY_SIZE(compilers); c++) {
		if (!have(compilers[c]))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(optimise); i++) {
			for (size_t j = 0; j < ARRAY_SIZE(pic); j++) {
				snprintf(flags, sizeof(flags), "%s %s", optimise[i], pic[j]);
				test_variant(compilers[c], flags, "");
			}
		}
		test_variant(compilers[c], "-O2 -fno-plt -fPIE -pie", "");
		test_variant(compilers[c], "-O2 -fno-plt -fno-pie -no-pie", "");
		test_variant(compilers[c], "-O2 -fno-pie -no-pie", "-static");
		test_variant(compilers[c], "-O2 -fPIE -pie", "-ffunction-sections -fdata-sections");
		test_variant(compilers[c], "-O2 -fPIE -pie", "-Wl,-z,now -Wl,-z,ibtplt");
	}
}

/* The program is built with another value of a macro than the pre object. */
static struct match *match_changed(const char *how, struct image **image, struct objfile **pre)
{
	char path[96];
	struct uspl_err err = { 0 };
	struct match *match = NULL;

	build("gcc", "-O2 -fPIE -pie", how);
	snprintf(path, sizeof(path), "%s/prog", compile_dir());
	*image = image_of_file(path);
	snprintf(path, sizeof(path), "%s/pre.o", compile_dir());
	*pre = pre_object(path);
	if (match_run(*image, *pre, &match, &err))
		printf("# %s\n", err.msg);
	return match;
}

static void test_changed_code(void)
{
	struct image *image;
	struct objfile *pre;
	struct match *match = match_changed("-DSTEP=4", &image, &pre);
	const struct match_func *func;
	struct uspl_err err = { 0 };

	ok(match_require(match, "match.c:thrice", &func, &err) == -USPL_E_NO_MATCH,
	   "a function with another constant doesn't match");
	ok(strstr(err.msg, "'thrice'") && strstr(err.msg, "$0x3,") && strstr(err.msg, "$0x4,"),
	   "and the message has both instructions");
	printf("# %s\n# %s\n", err.msg, err.hint);
	ok(match_require(match, "tail", &func, &err) == 0, "who calls it matches all the same");
	ok(match_require(match, "nothing", &func, &err) == -USPL_E_FILE,
	   "a function that the update doesn't have");
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

static void test_changed_string(void)
{
	struct image *image;
	struct objfile *pre;
	struct match *match = match_changed("-DGREETING='\"case 2!!\"'", &image, &pre);
	const struct match_func *func;
	struct uspl_err err = { 0 };

	ok(match_require(match, "choose", &func, &err) == -USPL_E_NO_MATCH &&
		   strstr(err.msg, "a string"),
	   "another string is another function");
	ok(match_require(match, "checked", &func, &err) == 0, "others match");
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

static void test_changed_table(void)
{
	struct image *image;
	struct objfile *pre;
	struct match *match = match_changed("-DWEIGHT=1.75", &image, &pre);
	const struct match_func *func;
	struct uspl_err err = { 0 };

	ok(match_require(match, "weigh", &func, &err) == -USPL_E_NO_MATCH &&
		   strstr(err.msg, "read-only data"),
	   "another constant in a table is another function");
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

/* What the code of the image is changed to, in place. */
static void test_patched_entry(void)
{
	struct image *image;
	struct objfile *pre;
	struct match *match = match_changed("", &image, &pre);
	const struct match_func *func;
	struct uspl_err err = { 0 };
	uint8_t *code = NULL;
	taddr addr = 0;

	if (match_require(match, "sum", &func, &err) == 0) {
		addr = func->addr;
		code = (uint8_t *)image_bytes(image, addr, 5);
	}
	ok(code, "an unchanged function matches");
	match_free(match);
	if (code && arch_native()->jump_encode(addr, image->end, code)) {
		ok(match_run(image, pre, &match, &err) == 0 &&
			   match_require(match, "sum", &func, &err) == -USPL_E_NO_MATCH &&
			   strstr(err.msg, "it may be patched already"),
		   "a jump at the entry is told");
		match_free(match);
		*code = 0xcc;
		ok(match_run(image, pre, &match, &err) == 0 &&
			   match_require(match, "sum", &func, &err) == -USPL_E_NO_MATCH &&
			   strstr(err.msg, "breakpoint"),
		   "a breakpoint, too");
		match_free(match);
	}
	objfile_free(pre);
	image_free(image);
}

static void count_findings(const struct match_finding *finding, void *ctx)
{
	int *counts = ctx;

	counts[0]++;
	counts[1] += finding->func && !finding->why;
	counts[2] += !finding->func && finding->why;
}

static void test_findings(void)
{
	int counts[3] = { 0 };
	struct objfile *pre;
	struct image *image;
	struct match *match = match_changed("-DSTEP=4", &image, &pre);

	match_findings(match, count_findings, counts);
	ok(counts[0] > 12 && counts[1] > 10 && counts[2] > 0 && counts[1] + counts[2] == counts[0],
	   "all functions are reported, found or not: %d, %d, %d", counts[0], counts[1], counts[2]);
	match_free(match);
	objfile_free(pre);
	image_free(image);
}

int main(void)
{
	test_variants();
	test_changed_code();
	test_changed_string();
	test_changed_table();
	test_patched_entry();
	test_findings();
	compile_rmdir();
	return tap_done();
}
