// SPDX-License-Identifier: GPL-3.0-or-later
// sanitizer.c - leaves out what the address sanitizer tells its library of a unit's variables
/*
 * With -fsanitize=address each unit has a table of its variables, one function that registers it
 * when the program starts and one that takes it back at the end. The table of a running program is
 * registered, and stays so: another number of variables or strings is no reason to refuse, and no
 * reason to run either function once more. New variables of an update are in no table; accesses to
 * them are checked as those to memory that the sanitizer knows nothing of.
 */

#include <string.h>

#include "create/unit/unit.h"

/*
 * Names that no function of a program has: gcc's, whose numbers are a priority of its own, and
 * clang's.
 */
static const char *const functions[] = { "_sub_I_00099_", "_sub_D_00099_", "asan.module_" };
/* Where clang leaves the tables to the linker, which can drop parts of them. */
static const char table_section[] = "asan_globals";

static bool is_left_out(const struct objsec *sec)
{
	return secinfo_of(sec)->kind == SECINFO_IGNORED;
}

static void leave_out(const struct objsec *sec)
{
	secinfo_of(sec)->kind = SECINFO_IGNORED;
}

static bool leave_out_functions(const struct objfile *obj)
{
	bool any = false;

	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];

		for (size_t j = 0; j < ARRAY_SIZE(functions); j++) {
			if (!sym->sec || sym->type != STT_FUNC || sym->value ||
			    !name_starts(sym->name, functions[j]))
				continue;
			leave_out(sym->sec);
			any = true;
		}
	}
	return any;
}

/* Does a list of what runs at the start or end have nothing else in it? */
static bool only_leads_to_those(const struct objsec *sec)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (!rel->sym->sec || !is_left_out(rel->sym->sec))
			return false;
	return sec->rels.n;
}

/* Whether anything that is looked at refers to the section. */
static bool is_used(const struct objfile *obj, const struct objsec *table)
{
	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objsec *sec = obj->secs.items[i];
		const struct objrel *rel;

		if (is_left_out(sec) || sec == table)
			continue;
		vec_for_each (&sec->rels, rel)
			if (rel->sym->sec == table)
				return true;
	}
	return false;
}

static void leave_out_tables(const struct objfile *obj, const struct objsec *function)
{
	const struct objrel *rel;

	vec_for_each (&function->rels, rel) {
		const struct objsec *table = rel->sym->sec;

		if (table &&
		    (secinfo_of(table)->kind == SECINFO_DATA ||
		     secinfo_of(table)->kind == SECINFO_LITERAL) &&
		    !is_used(obj, table))
			leave_out(table);
	}
}

void sanitizer_leave_out(const struct objfile *obj)
{
	if (!leave_out_functions(obj))
		return;
	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objsec *sec = obj->secs.items[i];

		if (!strcmp(sec->name, table_section) ||
		    (secinfo_of(sec)->kind == SECINFO_START && only_leads_to_those(sec)))
			leave_out(sec);
		else if (is_left_out(sec) && (sec->flags & SHF_EXECINSTR))
			leave_out_tables(obj, sec);
	}
}
