// SPDX-License-Identifier: GPL-3.0-or-later
// link_fuzz.c - an object that is put together as the bytes say, through the linker
/*
 * As bytes of a file nearly all changes are caught by the reader. Here the graph itself is made:
 * any sections with any flags, symbols in any of them, relocations of any type anywhere.
 */

#include "link/link.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECS_MAX = 8, SYMS_MAX = 12, RELS_MAX = 24 };

static const char *const sec_names[] = { ".text",     ".text.f", ".rodata",     ".rodata.str1.1",
					 ".data",     ".bss",    ".tdata",      ".tbss",
					 ".eh_frame", ".note",   ".init_array", "reltable.x" };
static const char *const sym_names[] = {
	"f", "g", "_TLS_MODULE_BASE_", "__tls_get_addr", "variable", "_GLOBAL_OFFSET_TABLE_", ""
};
static const uint32_t sec_types[] = { SHT_PROGBITS, SHT_PROGBITS,   SHT_PROGBITS,     SHT_NOBITS,
				      SHT_NOTE,     SHT_INIT_ARRAY, SHT_X86_64_UNWIND };
/* What accesses look like that the linker rewrites, so that it meets them. */
static const char *const codes[] = {
	"\x66\x48\x8d\x3d\0\0\0\0\x66\x66\x48\xe8\0\0\0\0",
	"\x48\x8d\x3d\0\0\0\0\xe8\0\0\0\0    ",
	"\x48\x8d\x05\0\0\0\0\xff\x10\x66\x90       ",
	"\x48\x8b\x05\0\0\0\0\x90\x90\x90\x90     ",
	"\x64\x48\x8b\x04\x25\0\0\0\0\x48\x8d\x80\0\0\0\0",
	"\xff\x25\0\0\0\0\xff\x15\0\0\0\0\x68\0\0\0",
};

static void make_section(struct input *in, struct objfile *obj)
{
	struct objsec *sec = objfile_add_section(
		obj, sec_names[input_below(in, ARRAY_SIZE(sec_names))],
		sec_types[input_below(in, ARRAY_SIZE(sec_types))],
		SHF_ALLOC ^ (input_number(in, 2) & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR |
						    SHF_TLS | SHF_MERGE | SHF_STRINGS)));
	uint8_t bytes[256];

	if (!sec)
		abort();
	sec->align = 1ull << input_below(in, 16);
	sec->size = input_number(in, 1);
	if (!input_below(in, 16))
		sec->size = input_number(in, 8);
	if (sec->type == SHT_NOBITS)
		return;
	sec->size %= 256;
	sec->data = objfile_memdup(obj, codes[0], 0);
	if (!sec->size)
		return;
	for (size_t at = 0; at < sizeof(bytes); at += 16)
		memcpy(bytes + at, codes[input_below(in, ARRAY_SIZE(codes))], 16);
	if (input_below(in, 2))
		input_take(in, bytes, sec->size);
	sec->data = objfile_memdup(obj, bytes, sec->size);
}

static void make_symbol(struct input *in, struct objfile *obj)
{
	static const uint16_t kinds[] = { SHN_UNDEF, SHN_ABS, SHN_COMMON };
	struct objsym *sym =
		objfile_add_symbol(obj, sym_names[input_below(in, ARRAY_SIZE(sym_names))],
				   (uint8_t)input_below(in, 11), (uint8_t)input_below(in, 3));
	size_t sec = input_below(in, obj->secs.n + 3);

	if (!sym)
		abort();
	sym->value = input_number(in, 1);
	sym->size = input_number(in, 1);
	if (sec < obj->secs.n) {
		sym->sec = obj->secs.items[sec];
		sym->shndx = 1;
		sym->value = sym->sec->size ? sym->value % sym->sec->size : 0;
		sym->size %= (sym->sec->size - sym->value) / 2 + 1;
	} else {
		sym->shndx = kinds[input_below(in, ARRAY_SIZE(kinds))];
	}
}

static void make_relocation(struct input *in, struct objfile *obj)
{
	struct objsec *sec = obj->secs.items[input_below(in, obj->secs.n)];
	struct objrel *rel = vec_push(&sec->rels);

	if (!rel)
		abort();
	rel->type = (uint32_t)input_below(in, 46);
	rel->offset = sec->size ? input_number(in, 1) % sec->size : 0;
	rel->sym = obj->syms.items[input_below(in, obj->syms.n)];
	rel->addend = input_below(in, 2) ? -4 : (int8_t)input_number(in, 1);
}

/* Values as processes have them, near and far, with thread-local places and without. */
static int value_of(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
		    struct uspl_err *err)
{
	struct input *in = ctx;
	uint8_t what = (uint8_t)input_number(in, 1);

	(void)sym;
	if (what & 1)
		return uspl_fail(err, USPL_E_UNRESOLVED, "not known");
	if (redirected && what & 2)
		return 0;
	ret->addr = what & 4 ? 0x1000 : 0x200000010000;
	ret->tls_offset = what & 8 ? -64 : 0;
	ret->tls_id = what & 16 ? 3 : 0;
	ret->lent_distance = what & 32 ? 0x5000 : 0;
	ret->lent_from_block = what & 64 ? 0x6000 : 0;
	return 0;
}

static bool lent(void *ctx, const struct objsym *sym)
{
	return *(const uint8_t *)ctx & 1 && sym->name[0] == 'v';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t how = (uint8_t)input_number(&in, 1);
	const struct link_wish wish = { .far = how & 2, .lent = lent, .ctx = &how };
	auto_objfile struct objfile *obj = objfile_new("fuzz");
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	size_t n;
	int rc;

	for (n = 1 + input_below(&in, SECS_MAX); n; n--)
		make_section(&in, obj);
	for (n = 1 + input_below(&in, SYMS_MAX); n; n--)
		make_symbol(&in, obj);
	for (n = input_below(&in, RELS_MAX); n; n--)
		make_relocation(&in, obj);
	for (n = 0; n < obj->secs.n; n++)
		objsec_sort_rels(obj->secs.items[n]);
	rc = link_layout(obj, arch_native(), &wish, &link, &err);
	if (!rc)
		rc = link_relocate(link, 0x200000000000, value_of, &in, &err);
	if (rc && (!err.msg[0] || err.code != (enum uspl_code) - rc))
		abort();
	return 0;
}
