// SPDX-License-Identifier: GPL-3.0-or-later
// types_fuzz.c - any bytes as an object with debugging information: its types spelled and compared

#include <dwarf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "create/unit/dbgtype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So many entries of each unit; a fuzzer that finds long lists learns nothing by them. */
enum { ENTRIES_MAX = 256, DEPTH_MAX = 16 };

static void look(Dwarf_Die *die, Dwarf_Die *other)
{
	auto_buf struct buf text = { 0 };
	auto_members member_vec members = { 0 };
	Dwarf_Die type;

	if (dbgtype_of(die, &type)) {
		dbgtype_spell(&type, &text);
		(void)dbgtype_size(&type);
		(void)dbgtype_compare(&type, other);
		if (dbgtype_is_aggregate(&type))
			(void)!dbgtype_members(&type, &members, NULL);
	}
	if (dwarf_tag(die) == DW_TAG_subprogram) {
		dbgtype_spell_function(die, &text);
		(void)dbgtype_compare_functions(die, other);
	}
	if (dwarf_tag(die) == DW_TAG_enumerator)
		(void)dbgtype_value(die);
}

static void walk(Dwarf_Die *die, Dwarf_Die *first, int depth, int *left)
{
	Dwarf_Die child;

	do {
		if (--*left < 0)
			return;
		look(die, first);
		if (depth < DEPTH_MAX && dwarf_child(die, &child) == 0)
			walk(&child, first, depth + 1, left);
	} while (dwarf_siblingof(die, die) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t unit_type;
	Dwarf_Die die, sub;
	Dwarf *dwarf;
	Elf *elf;

	memcpy(copy, data, size);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	while (dwarf && dwarf_get_units(dwarf, cu, &cu, &version, &unit_type, &die, &sub) == 0) {
		int left = ENTRIES_MAX;
		Dwarf_Die first = die;

		walk(&die, &first, 0, &left);
	}
	dwarf_end(dwarf);
	elf_end(elf);
	free(copy);
	return 0;
}
