// SPDX-License-Identifier: GPL-3.0-or-later
// literal.c - which literal of a merged section a reference means

#include "create/unit/literal.h"

#include <ctype.h>

#include "base/text.h"
#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

/* So many characters are no number. */
#define TEXT_MIN 4

bool literal_is_string(const struct objsec *sec)
{
	return (sec->flags & SHF_MERGE) && (sec->flags & SHF_STRINGS);
}

static uint64_t width(const struct objsec *sec)
{
	return sec->entsize ? sec->entsize : 1;
}

bool literal_ends_at(const struct objsec *sec, uint64_t at)
{
	for (uint64_t i = 0; i < width(sec); i++)
		if (sec->data[at + i])
			return false;
	return true;
}

bool literal_is_left(const struct objsec *from, const struct objrel *rel)
{
	const struct objsym *sym = rel->sym;
	int64_t at = reference_target(from, rel);
	uint64_t step;

	if (sym->type == STT_SECTION || !sym->sec || !sym->sec->data ||
	    secinfo_of(sym->sec)->kind != SECINFO_LITERAL || !(sym->sec->flags & SHF_MERGE) ||
	    sym->value >= sym->sec->size)
		return false;
	if (literal_is_string(sym->sec))
		return at != (int64_t)sym->value;
	step = width(sym->sec);
	return at < (int64_t)sym->value || at >= (int64_t)(sym->value - sym->value % step + step);
}

static bool is_text(uint8_t byte)
{
	return byte < 0x80 && (isprint(byte) || isspace(byte));
}

/* The same where strings lie among numbers, of which some look like a few characters. */
static uint64_t text_begin(const struct objsec *sec, uint64_t at)
{
	uint64_t begin = at, end = at;

	while (begin > 0 && is_text(sec->data[begin - 1]))
		begin--;
	while (end < sec->size && is_text(sec->data[end]))
		end++;
	return at - begin >= TEXT_MIN && end < sec->size && !sec->data[end] ? begin : at;
}

uint64_t literal_begin(const struct objsec *sec, uint64_t at)
{
	uint64_t step = width(sec), begin = at;

	if (!sec->data || at >= sec->size)
		return at;
	if (!literal_is_string(sec))
		return sec->flags & SHF_MERGE ? at : text_begin(sec, at);
	while (at % step == 0 && begin >= step && !literal_ends_at(sec, begin - step))
		begin -= step;
	return begin;
}

bool literal_is_anchor(const struct objsym *sym)
{
	return sym->type != STT_SECTION && sym->bind == STB_LOCAL && sym->sec &&
	       secinfo_of(sym->sec)->kind == SECINFO_LITERAL && !syminfo_of(sym)->refname;
}
