// SPDX-License-Identifier: GPL-3.0-or-later
// reference.c - where a reference to a place in a section points

#include "create/unit/reference.h"

#include "arch/arch.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

bool reference_is_relative(const struct objrel *rel)
{
	enum reloc_kind kind = arch_native()->reloc(rel->type)->kind;

	return kind == RELOC_PCREL || kind == RELOC_PLT;
}

int64_t reference_target(const struct objsec *from, const struct objrel *rel)
{
	const struct secinfo *secinfo = secinfo_of(from);
	int64_t bias = 0;

	if (reference_is_relative(rel) && secinfo->bias)
		bias = secinfo->bias[rel - from->rels.items];
	else if (reference_is_relative(rel) && secinfo->kind == SECINFO_LITERAL &&
		 objsec_is_distances(from))
		bias = -(int64_t)rel->offset;
	return (int64_t)rel->sym->value + rel->addend + bias;
}

const struct objrel *reference_within(const struct objsec *sec, uint64_t at, uint64_t len)
{
	size_t i = vec_lower_bound(&sec->rels, it, it->offset < at);

	return i < sec->rels.n && sec->rels.items[i].offset < at + len ? &sec->rels.items[i] : NULL;
}

bool reference_begins_got(const struct objsec *sec, int64_t place)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (arch_native()->reloc(rel->type)->kind == RELOC_GOTPC &&
		    (int64_t)rel->offset - rel->addend == place)
			return true;
	return false;
}
