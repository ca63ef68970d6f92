// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_block.c - reasons to refuse that lie in clang's blocks
 *
 * A block has no name. Its code is named after the function around it and a number; the structure
 * with what it has captured, after a number that counts the source's blocks. The process may keep
 * both. While the source has as many blocks as it had, each on its line, the numbers mean the same,
 * and what is captured is compared as any structure is. Else they may mean other blocks.
 */

#include <dwarf.h>
#include <string.h>

#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

static bool is_block(const struct objsym *sym)
{
	return sym_is_function(sym) && strstr(sym->name, "_block_invoke");
}

/* Where a block begins; 0 if that isn't known. */
static int line_of(const struct objsym *sym)
{
	struct dbginfo *dbg = side_dbginfo(syminfo_of(sym)->side);
	Dwarf_Die die;
	int line = 0;

	if (!dbg || !dbginfo_find(dbg, sym, &die) || dwarf_decl_line(&die, &line) != 0)
		return 0;
	return line;
}

static int refuse(const struct objsym *sym, bool gone, struct uspl_err *err)
{
	sym_refuse(sym, err, USPL_E_UNSUPPORTED,
		   gone ? "the block '%s' is gone, or has another number: cannot tell which block "
			  "is which"
			: "the block '%s' is new, or has another number: cannot tell which block "
			  "is which",
		   sym->name);
	uspl_hint(err, "the process may keep blocks: leave as many as there were, each on its "
		       "line, and make what is new a function");
	return -USPL_E_UNSUPPORTED;
}

int vet_blocks(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	if (!unit->pre.path || !unit->post.path || !unit_carries_code(unit))
		return 0;
	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		const struct objsym *sym = unit->pre.obj->syms.items[i];

		if (is_block(sym) && !syminfo_of(sym)->twin)
			return refuse(sym, true, err);
	}
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = syminfo_of(sym)->twin;

		if (is_block(sym) && (!twin || line_of(twin) != line_of(sym)))
			return refuse(sym, false, err);
	}
	return 0;
}
