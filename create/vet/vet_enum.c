// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_enum.c - enumerators without an enumeration's name, with other values
 *
 * `enum { IDLE, BUSY };` is a list of constants: no variable has it as its type, so nothing tells
 * which ones hold its numbers. All code that has a value compiled in is found; what the process has
 * kept is not. So there is a warning where an enumerator has another value, except for the highest
 * one of a list if its name says that it counts the others.
 */

#include <dwarf.h>
#include <string.h>

#include "base/strmap.h"
#include "create/unit/dbgtype.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/unit/unit.h"
#include "create/vet/types_changed.h"
#include "create/vet/vet_checks.h"

/* The nameless enumerations of a build, by the names of their enumerators. */
struct enumerators {
	struct dbginfo *dbg;
	struct strmap by_name; /* of Dwarf_Die, which the map owns */
	VEC(Dwarf_Die) types;
	bool oom;
};

static void enumerators_release(struct enumerators *list)
{
	for (size_t i = 0; i < list->by_name.cap; i++)
		free(list->by_name.slots[i].value);
	strmap_release(&list->by_name);
	vec_release(&list->types);
}

DEFINE_AUTO_RELEASE(enumerators, struct enumerators, enumerators_release)
#define auto_enumerators __attribute__((cleanup(cleanup_enumerators_)))

static bool is_highest(Dwarf_Die *type, int64_t value)
{
	Dwarf_Die child;

	for (bool has = !dwarf_child(type, &child); has; has = !dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_enumerator && dbgtype_value(&child) > value)
			return false;
	return true;
}

static bool note_enumerators(struct enumerators *list, Dwarf_Die *type)
{
	Dwarf_Die child, *slot;

	for (bool has = !dwarf_child(type, &child); has; has = !dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);

		if (!name || strmap_get(&list->by_name, name) ||
		    (types_is_count(name) && is_highest(type, dbgtype_value(&child))))
			continue;
		slot = malloc(sizeof(*slot));
		if (!slot)
			return false;
		*slot = child;
		if (!strmap_set(&list->by_name, name, slot)) {
			free(slot);
			return false;
		}
	}
	return true;
}

static enum walk note_die(struct die_path *at, void *arg)
{
	struct enumerators *list = arg;
	Dwarf_Die *slot;

	switch (dwarf_tag(&at->die)) {
	case DW_TAG_compile_unit:
	case DW_TAG_namespace:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return WALK_INTO;
	case DW_TAG_enumeration_type:
		if (dwarf_diename(&at->die))
			return WALK_PAST;
		slot = vec_push(&list->types);
		if (!slot || !note_enumerators(list, &at->die)) {
			list->oom = true;
			return WALK_STOP;
		}
		*slot = at->die;
		return WALK_PAST;
	default:
		return WALK_PAST;
	}
}

static void say(const struct diff *diff, const struct enumerators *post, Dwarf_Die *type,
		Dwarf_Die *was, Dwarf_Die *is)
{
	auto_buf struct buf place = { 0 };

	if (!dbginfo_add_srcloc(post->dbg, is, &place) &&
	    !dbginfo_add_srcloc(post->dbg, type, &place))
		buf_addstr(&place, "enum");
	report_warn(diff->report,
		    "%s: the enumerator '%s' changes from %lld to %lld, of an enumeration without "
		    "a name: what holds such numbers in the process isn't known, and keeps them",
		    buf_str(&place), dwarf_diename(is), (long long)dbgtype_value(was),
		    (long long)dbgtype_value(is));
}

/* Warns of the first enumerator of an enumeration that has another value. */
static void compare_type(const struct diff *diff, const struct enumerators *pre,
			 const struct enumerators *post, Dwarf_Die *type)
{
	Dwarf_Die child, *old;

	for (bool has = !dwarf_child(type, &child); has; has = !dwarf_siblingof(&child, &child)) {
		old = dwarf_diename(&child) ? strmap_get(&pre->by_name, dwarf_diename(&child))
					    : NULL;
		if (!old || dbgtype_value(old) == dbgtype_value(&child))
			continue;
		say(diff, post, type, old, &child);
		return;
	}
}

static bool carries_code(const struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++)
		if (unit->post.secinfos[i].carried && unit->post.secinfos[i].kind == SECINFO_CODE)
			return true;
	return false;
}

int vet_warn_enumerators(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	auto_enumerators struct enumerators pre = { 0 }, post = { 0 };
	Dwarf_Die *type;

	if (!carries_code(unit) || !unit->pre.path)
		return 0;
	pre.dbg = side_dbginfo((struct side *)&unit->pre);
	post.dbg = side_dbginfo((struct side *)&unit->post);
	if (!pre.dbg || !post.dbg)
		return 0;
	dbginfo_walk(pre.dbg, note_die, &pre);
	dbginfo_walk(post.dbg, note_die, &post);
	if (pre.oom || post.oom)
		return uspl_fail_nomem(err);
	vec_for_each (&post.types, type)
		compare_type(diff, &pre, &post, type);
	return 0;
}
