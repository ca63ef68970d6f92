// SPDX-License-Identifier: GPL-3.0-or-later
// reloc.c - x86-64: what each relocation computes, and writing it

#include <elf.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

/* clang-format off */
#define KNOWN(type, kind, size, is_signed)                                                         \
	[R_X86_64_##type] = { "R_X86_64_" #type, RELOC_##kind, size, is_signed }
#define NAMED(type) [R_X86_64_##type] = { "R_X86_64_" #type, RELOC_UNSUPPORTED, 0, false }

/* psABI, "Relocation Types". */
static const struct reloc_info relocs[] = {
	KNOWN(NONE,          NONE,     0, false),
	KNOWN(64,            ABS,      8, false),
	KNOWN(PC32,          PCREL,    4, true),
	KNOWN(GOT32,         GOT,      4, true),
	KNOWN(PLT32,         PLT,      4, true),
	NAMED(COPY),
	NAMED(GLOB_DAT),
	NAMED(JUMP_SLOT),
	NAMED(RELATIVE),
	KNOWN(GOTPCREL,      GOTPCREL, 4, true),
	KNOWN(32,            ABS,      4, false),
	KNOWN(32S,           ABS,      4, true),
	KNOWN(16,            ABS,      2, false),
	KNOWN(PC16,          PCREL,    2, true),
	KNOWN(8,             ABS,      1, false),
	KNOWN(PC8,           PCREL,    1, true),
	NAMED(DTPMOD64),
	KNOWN(DTPOFF64,      DTPOFF,   8, true),
	KNOWN(TPOFF64,       TPOFF,    8, true),
	KNOWN(TLSGD,         TLSGD,    4, true),
	KNOWN(TLSLD,         TLSLD,    4, true),
	KNOWN(DTPOFF32,      DTPOFF,   4, true),
	KNOWN(GOTTPOFF,      GOTTPOFF, 4, true),
	KNOWN(TPOFF32,       TPOFF,    4, true),
	KNOWN(PC64,          PCREL,    8, true),
	KNOWN(GOTOFF64,      GOTOFF,   8, true),
	KNOWN(GOTPC32,       GOTPC,    4, true),
	KNOWN(GOT64,         GOT,      8, true),
	KNOWN(GOTPCREL64,    GOTPCREL, 8, true),
	KNOWN(GOTPC64,       GOTPC,    8, true),
	KNOWN(GOTPLT64,      GOT,      8, true),
	KNOWN(PLTOFF64,      PLTOFF,   8, true),
	KNOWN(SIZE32,        SIZE,     4, false),
	KNOWN(SIZE64,        SIZE,     8, false),
	KNOWN(GOTPC32_TLSDESC, TLSDESC, 4, true),
	KNOWN(TLSDESC_CALL,  TLSDESC_CALL, 0, false),
	NAMED(TLSDESC),
	NAMED(IRELATIVE),
	NAMED(RELATIVE64),
	KNOWN(GOTPCRELX,     GOTPCREL, 4, true),
	KNOWN(REX_GOTPCRELX, GOTPCREL, 4, true),
};
/* clang-format on */

const struct reloc_info *x86_64_reloc(uint32_t type)
{
	static const struct reloc_info unknown = { .name = "a relocation of unknown type" };

	return type < ARRAY_SIZE(relocs) && relocs[type].name ? &relocs[type] : &unknown;
}

enum reloc_kind x86_64_dynamic_reloc(uint32_t type)
{
	switch (type) {
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_RELATIVE:
		return RELOC_ABS;
	case R_X86_64_TPOFF64:
		return RELOC_TPOFF;
	default:
		return RELOC_NONE;
	}
}

static bool fits(const struct reloc_info *info, uint64_t value)
{
	unsigned int bits = info->size * 8u;

	if (bits == 0 || bits >= 64)
		return true;
	if (info->is_signed) {
		int64_t top = (int64_t)value >> (bits - 1);

		return top == 0 || top == -1;
	}
	return value >> bits == 0;
}

int x86_64_reloc_write(const struct reloc_info *info, void *field, uint64_t value,
		       struct uspl_err *err)
{
	if (!fits(info, value))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "0x%llx doesn't fit in %s",
				 (unsigned long long)value, info->name);
	/* Little endian: the low bytes come first. */
	memcpy(field, &value, info->size);
	return 0;
}
