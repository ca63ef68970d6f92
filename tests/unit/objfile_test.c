// SPDX-License-Identifier: GPL-3.0-or-later
// objfile_test.c - objects are read, written and read again; damaged ones end in a message

#include "objfile/objfile.h"

#include "base/buf.h"
#include "base/file.h"
#include "compile.h"
#include "tap.h"

static const char text[] =
	"static int hidden = 3;\n"
	"int table[4] = { 1, 2, 3, 4 };\n"
	"int (*pointer)(int);\n"
	"extern int outside(const char *s);\n"
	"static __attribute__((noinline)) int twice(int x) { return hidden++ * x; }\n"
	"int work(int x) { pointer = twice; return outside(\"text\") + twice(table[x & 3]); }\n";

static struct objfile *read_memory(const struct buf *buf, struct uspl_err *err)
{
	struct objfile *obj = NULL;

	return objfile_read_memory("memory", buf->data, buf->len, &obj, err) ? NULL : obj;
}

static bool same_symbol(const struct objsym *a, const struct objsym *b)
{
	if (!a || !b)
		return a == b;
	return !strcmp(a->name, b->name) && a->type == b->type && a->bind == b->bind &&
	       a->vis == b->vis && a->value == b->value && a->size == b->size &&
	       !a->sec == !b->sec && (!a->sec || !strcmp(a->sec->name, b->sec->name));
}

static bool same_section(const struct objsec *a, const struct objsec *b)
{
	if (strcmp(a->name, b->name) || a->type != b->type || a->size != b->size ||
	    a->align != b->align || a->entsize != b->entsize || a->rels.n != b->rels.n ||
	    !a->data != !b->data)
		return false;
	if (a->data && memcmp(a->data, b->data, a->size))
		return false;
	for (size_t i = 0; i < a->rels.n; i++) {
		const struct objrel *x = &a->rels.items[i], *y = &b->rels.items[i];

		if (x->offset != y->offset || x->type != y->type || x->addend != y->addend ||
		    !same_symbol(x->sym, y->sym))
			return false;
	}
	return true;
}

static bool same(const struct objfile *a, const struct objfile *b)
{
	if (a->secs.n != b->secs.n || a->syms.n != b->syms.n)
		return false;
	for (size_t i = 0; i < a->secs.n; i++)
		if (!same_section(a->secs.items[i], b->secs.items[i]))
			return false;
	for (size_t i = 0; i < a->syms.n; i++)
		if (!same_symbol(a->syms.items[i], b->syms.items[i]))
			return false;
	return true;
}

static void test_graph(const struct objfile *obj)
{
	const struct objsec *sec = objfile_section(obj, ".text.work");
	const struct objsym *sym = objfile_symbol(obj, "hidden");
	bool calls_outside = false;
	const struct objrel *rel;

	ok(sec && objsec_is_code(sec) && sec->secsym && sec->secsym->sec == sec,
	   "a function's section");
	ok(sym && sym->bind == STB_LOCAL && sym->sec && !strcmp(sym->sec->name, ".data.hidden") &&
		   sym->size == 4,
	   "a static variable");
	sym = objfile_symbol(obj, "outside");
	ok(sym && !sym->sec && sym->shndx == SHN_UNDEF, "an undefined symbol");
	if (!sec)
		return;
	vec_for_each (&sec->rels, rel)
		calls_outside |= rel->sym == sym;
	ok(calls_outside, "a relocation points to its symbol");
}

static void test_round_trip(struct objfile *obj)
{
	auto_buf struct buf first = { 0 }, second = { 0 };
	auto_objfile struct objfile *again = NULL;
	struct uspl_err err = { 0 };

	ok(objfile_write(obj, &first, &err) == 0, "written");
	again = read_memory(&first, &err);
	ok(again && same(obj, again), "read again, it is the same graph");
	ok(again && objfile_write(again, &second, &err) == 0 && first.len == second.len &&
		   !memcmp(first.data, second.data, first.len),
	   "written again, it is the same bytes");
}

static void test_groups(void)
{
	auto_free char *path =
		compile_object("g++ -O0", "group",
			       "inline int one() { return 1; }\nint two() { return one(); }\n");
	auto_objfile struct objfile *obj = NULL;
	struct uspl_err err = { 0 };
	const struct objsym *sym;

	if (objfile_read(path, &obj, &err))
		printf("# %s\n", err.msg);
	sym = obj ? objfile_symbol(obj, "_Z3onev") : NULL;
	ok(sym && sym->sec && sym->sec->group, "the member of a group knows it");
	ok_str(sym && sym->sec ? sym->sec->group_sig : NULL, "_Z3onev", "a group's signature");
}

/* Every result is right but a crash; a message belongs to each refusal. */
static void test_damage(const struct buf *good)
{
	unsigned int seed = 1, read = 0, refused = 0, silent = 0;

	for (int round = 0; round < 4000; round++) {
		auto_buf struct buf bad = { 0 };
		auto_objfile struct objfile *obj = NULL;
		struct uspl_err err = { 0 };

		buf_add(&bad, good->data, good->len);
		if (round % 4 == 0)
			bad.len = (size_t)rand_r(&seed) % good->len;
		for (int i = 0; i < 1 + round % 8; i++) {
			/* The headers at both ends are hit more often than the contents. */
			size_t at = (size_t)rand_r(&seed) % good->len;

			if (round % 3 == 0)
				at = round % 2 ? at % 64 : good->len - 1 - at % (good->len / 2);
			bad.data[at] = (char)rand_r(&seed);
		}
		obj = read_memory(&bad, &err);
		read += obj != NULL;
		refused += obj == NULL;
		silent += !obj && !err.msg[0];
	}
	ok(read && refused && !silent, "damaged files: %u read, %u refused with a message", read,
	   refused);
}

static void test_refusals(const struct buf *good)
{
	auto_buf struct buf other = { 0 }, text_file = { 0 }, empty = { 0 };
	struct uspl_err err = { 0 };

	buf_add(&other, good->data, good->len);
	((Elf64_Ehdr *)other.data)->e_machine = EM_AARCH64;
	ok(!read_memory(&other, &err) && err.code == USPL_E_FORMAT &&
		   strstr(err.msg, "architecture"),
	   "another architecture is refused");
	((Elf64_Ehdr *)other.data)->e_machine = EM_X86_64;
	((Elf64_Ehdr *)other.data)->e_type = ET_DYN;
	ok(!read_memory(&other, &err) && err.code == USPL_E_FORMAT &&
		   strstr(err.msg, "relocatable"),
	   "a linked file is refused");
	buf_addstr(&text_file, "int main(void) { return 0; }");
	ok(!read_memory(&text_file, &err) && err.code == USPL_E_FORMAT, "a text is refused");
	buf_addzero(&empty, 0);
	ok(!read_memory(&empty, &err) && err.code == USPL_E_FORMAT, "an empty file is refused");
}

int main(void)
{
	auto_free char *path =
		compile_object("gcc -O1 -g -ffunction-sections -fdata-sections", "plain", text);
	auto_objfile struct objfile *obj = NULL;
	auto_buf struct buf bytes = { 0 };
	struct uspl_err err = { 0 };

	ok(objfile_read(path, &obj, &err) == 0, "a compiler's object is read");
	if (!obj || file_read(path, &bytes, &err)) {
		printf("# %s\n", err.msg);
		return tap_done();
	}
	test_graph(obj);
	test_round_trip(obj);
	test_groups();
	test_damage(&bytes);
	test_refusals(&bytes);
	compile_rmdir();
	return tap_done();
}
