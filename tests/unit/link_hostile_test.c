// SPDX-License-Identifier: GPL-3.0-or-later
// link_hostile_test.c - objects that no compiler makes: a message, and no byte outside our buffers
/*
 * The objects are made here, as a file might say it: the linker must refuse them, or lay out what
 * it then writes. `make asan` sees a byte that goes astray.
 */

#include "tests/unit/link_run.h"
#include "tests/unit/tap.h"

static const uint8_t filler[256];

static struct objsec *add(struct objfile *obj, const char *name, uint64_t flags, uint64_t size)
{
	struct objsec *sec = objfile_add_section(obj, name, SHT_PROGBITS, SHF_ALLOC | flags);

	if (!sec)
		exit(1);
	sec->size = size;
	sec->data = objfile_memdup(obj, filler, size);
	return sec;
}

static struct objsym *outside(struct objfile *obj, const char *name)
{
	return objfile_add_symbol(obj, name, STT_NOTYPE, STB_GLOBAL);
}

static void refer(struct objsec *sec, uint32_t type, uint64_t offset, struct objsym *sym)
{
	struct objrel *rel = vec_push(&sec->rels);

	*rel = (struct objrel){ .offset = offset, .type = type, .sym = sym, .addend = -4 };
}

static int value_of(void *ctx, const struct objsym *sym, bool redirected,
		    struct symbol_value *ret_value, struct uspl_err *err)
{
	(void)ctx;
	(void)sym;
	(void)err;
	if (!redirected)
		*ret_value =
			(struct symbol_value){ .addr = 0x1000, .tls_offset = -64, .tls_id = 3 };
	return 0;
}

static int link_all(const struct objfile *obj, bool far, struct uspl_err *err)
{
	const struct link_wish wish = { .far = far };
	auto_link struct link *link = NULL;
	int rc = link_layout(obj, arch_native(), &wish, &link, err);

	return rc ? rc : link_relocate(link, FAR_BASE, value_of, NULL, err);
}

/* Its room was among the read-only data, and its bytes went where its flags say. */
static void test_frames_elsewhere(void)
{
	static const uint64_t flags[] = { SHF_WRITE, SHF_EXECINSTR, SHF_TLS, SHF_WRITE | SHF_TLS,
					  SHF_WRITE | SHF_EXECINSTR | SHF_TLS };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		auto_objfile struct objfile *obj = objfile_new("bent");
		struct uspl_err err = { 0 };

		add(obj, ".text", SHF_EXECINSTR, 16);
		add(obj, ".rodata", 0, 200);
		add(obj, ".eh_frame", flags[i], 256);
		ok(link_all(obj, false, &err) == -USPL_E_HOSTILE && strstr(err.msg, ".eh_frame"),
		   "call frame information with the flags 0x%llx is refused",
		   (unsigned long long)flags[i]);
	}
}

static void test_flags(void)
{
	auto_objfile struct objfile *tls = objfile_new("tls"), *note = objfile_new("note");
	struct uspl_err err = { 0 };

	add(tls, ".text", SHF_EXECINSTR | SHF_TLS, 16);
	ok(link_all(tls, false, &err) == -USPL_E_HOSTILE, "code that is thread-local is refused");
	add(note, ".text", SHF_EXECINSTR, 16)->type = SHT_NOTE;
	ok(link_all(note, false, &err) == -USPL_E_HOSTILE, "code that is a note is refused");
}

/* The symbol that means a module's block needs no value, but room for what its relocations need. */
static void test_block_symbol(void)
{
	static const uint32_t types[] = { R_X86_64_GOTPCREL, R_X86_64_PLT32, R_X86_64_TLSGD,
					  R_X86_64_GOTTPOFF, R_X86_64_GOTPC32_TLSDESC };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		auto_objfile struct objfile *obj = objfile_new("bent");
		struct objsec *data = add(obj, ".data", SHF_WRITE, 64);
		struct uspl_err err = { 0 };
		int rc;

		refer(data, R_X86_64_DTPOFF32, 0, outside(obj, "variable"));
		refer(data, types[i], 16, outside(obj, "_TLS_MODULE_BASE_"));
		rc = link_all(obj, false, &err);
		ok(!rc || err.msg[0], "a block's symbol by relocation %u: %s", types[i],
		   rc ? err.msg : "linked");
	}
}

/* A relocation without a field, at the end of a section that has no bytes. */
static void test_no_field(void)
{
	auto_objfile struct objfile *obj = objfile_new("bent");
	struct objsec *text = add(obj, ".text", SHF_EXECINSTR, 0);
	struct uspl_err err = { 0 };

	refer(text, R_X86_64_TLSDESC_CALL, 0, outside(obj, "variable"));
	ok(link_all(obj, false, &err) == -USPL_E_FILE, "a mark where no instruction is is refused");
}

/* What relocates nothing may stand where nothing is. */
static void test_nothing(void)
{
	auto_objfile struct objfile *obj = objfile_new("bent");
	struct objsec *text = add(obj, ".text", SHF_EXECINSTR, 0);
	struct uspl_err err = { 0 };

	refer(text, R_X86_64_NONE, 0, outside(obj, "variable"));
	ok(link_all(obj, false, &err) == 0, "no relocation in no bytes: %s", err.msg);
}

/* Each relocation asks for its instruction, and for its detour. */
static void test_many(void)
{
	enum { N = 300000 };
	static const uint8_t insn[] = { 0x48, 0x8b, 0x05, 0, 0, 0, 0 }; /* mov x(%rip), %rax */
	auto_objfile struct objfile *obj = objfile_new("many");
	struct objsec *text =
		objfile_add_section(obj, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
	struct objsym *sym = outside(obj, "far");
	auto_free uint8_t *code = calloc(N, sizeof(insn));
	struct uspl_err err = { 0 };

	for (size_t i = 0; i < N; i++)
		memcpy(code + i * sizeof(insn), insn, sizeof(insn));
	text->size = N * sizeof(insn);
	text->data = objfile_memdup(obj, code, text->size);
	for (size_t i = 0; i < N; i++)
		refer(text, R_X86_64_PC32, i * sizeof(insn) + 3, sym);
	ok(link_all(obj, true, &err) == 0, "%d detours in one section: %s", N, err.msg);
}

int main(void)
{
	test_frames_elsewhere();
	test_flags();
	test_block_symbol();
	test_no_field();
	test_nothing();
	test_many();
	return tap_done();
}
