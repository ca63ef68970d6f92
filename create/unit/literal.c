// SPDX-License-Identifier: GPL-3.0-or-later
// literal.c - which literal of a merged section a reference means

#include "create/unit/literal.h"

#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

bool literal_is_string(const struct objsec *sec)
{
	return (sec->flags & SHF_MERGE) && (sec->flags & SHF_STRINGS);
}

/* Where the string or entry at `at` ends. */
static uint64_t merged_end(const struct objsec *sec, uint64_t at)
{
	uint64_t step = sec->entsize ? sec->entsize : 1;
	bool end = false;

	if (!literal_is_string(sec))
		return at - at % step + step;
	for (; at + step <= sec->size && !end; at += step) {
		end = true;
		for (uint64_t i = 0; i < step; i++)
			end &= !sec->data[at + i];
	}
	return at;
}

bool literal_is_left(const struct objsec *from, const struct objrel *rel)
{
	const struct objsym *sym = rel->sym;
	int64_t at = reference_target(from, rel);

	if (sym->type == STT_SECTION || !sym->sec || !sym->sec->data ||
	    secinfo_of(sym->sec)->kind != SECINFO_LITERAL || !(sym->sec->flags & SHF_MERGE) ||
	    sym->value >= sym->sec->size)
		return false;
	return at < (int64_t)sym->value || at >= (int64_t)merged_end(sym->sec, sym->value);
}

bool literal_is_anchor(const struct objsym *sym)
{
	return sym->type != STT_SECTION && sym->bind == STB_LOCAL && sym->sec &&
	       secinfo_of(sym->sec)->kind == SECINFO_LITERAL && (sym->sec->flags & SHF_MERGE) &&
	       !syminfo_of(sym)->refname;
}
