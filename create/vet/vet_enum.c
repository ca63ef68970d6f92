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

struct enumeration {
	Dwarf_Die die;
	char *scope; /* "std::string::", "" outside of all */
};

/* The nameless enumerations of a build, by the scopes and names of their enumerators. */
struct enumerators {
	struct dbginfo *dbg;
	struct strmap by_name; /* of Dwarf_Die, which the map owns */
	VEC(struct enumeration) types;
	bool oom;
};

static void enumerators_release(struct enumerators *list)
{
	for (size_t i = 0; i < list->by_name.cap; i++)
		free(list->by_name.slots[i].value);
	strmap_release(&list->by_name);
	for (size_t i = 0; i < list->types.n; i++)
		free(list->types.items[i].scope);
	vec_release(&list->types);
}

DEFINE_AUTO_RELEASE(enumerators, struct enumerators, enumerators_release)
#define auto_enumerators __attribute__((cleanup(cleanup_enumerators_)))

/* Appends "std::string::" for what is in that scope. */
static void add_scope(const struct die_path *scope, struct buf *buf)
{
	Dwarf_Die die;
	const char *name;

	if (!scope || !scope->up)
		return;
	add_scope(scope->up, buf);
	die = scope->die;
	name = dwarf_diename(&die);
	buf_addf(buf, "%s::", name ? name : "");
}

/* The enumerator of that name and of the enumeration's scope; NULL. */
static Dwarf_Die *find_enumerator(const struct enumerators *list, const struct enumeration *type,
				  const char *name)
{
	auto_buf struct buf key = { 0 };

	buf_addf(&key, "%s%s", type->scope, name);
	return strmap_get(&list->by_name, buf_str(&key));
}

static bool note_enumerators(struct enumerators *list, const struct enumeration *type)
{
	Dwarf_Die die = type->die, child, *slot;

	for (bool has = !dwarf_child(&die, &child); has; has = !dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);
		auto_buf struct buf key = { 0 };

		if (!name || find_enumerator(list, type, name) ||
		    (types_is_count(name) && dbgtype_value(&child) == types_highest(&die)))
			continue;
		slot = malloc(sizeof(*slot));
		if (!slot)
			return false;
		*slot = child;
		buf_addf(&key, "%s%s", type->scope, name);
		if (key.oom || !strmap_set(&list->by_name, buf_str(&key), slot)) {
			free(slot);
			return false;
		}
	}
	return true;
}

static enum walk note_die(struct die_path *at, void *arg)
{
	struct enumerators *list = arg;
	auto_buf struct buf scope = { 0 };
	struct enumeration *slot;

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
		add_scope(at->up, &scope);
		if (slot)
			*slot = (struct enumeration){ at->die, strdup(buf_str(&scope)) };
		if (!slot || scope.oom || !slot->scope || !note_enumerators(list, slot)) {
			list->oom = true;
			return WALK_STOP;
		}
		return WALK_PAST;
	default:
		return WALK_PAST;
	}
}

/* Warns of the first enumerator of an enumeration that has another value. */
static void compare_type(const struct diff *diff, const struct enumerators *pre,
			 const struct enumerators *post, const struct enumeration *type)
{
	Dwarf_Die die = type->die, child, *old;

	for (bool has = !dwarf_child(&die, &child); has; has = !dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);
		auto_buf struct buf place = { 0 };

		old = name ? find_enumerator(pre, type, name) : NULL;
		if (!old || dbgtype_value(old) == dbgtype_value(&child))
			continue;
		if (!dbginfo_add_srcloc(post->dbg, &child, &place) &&
		    !dbginfo_add_srcloc(post->dbg, &die, &place))
			buf_addstr(&place, "enum");
		report_warn(
			diff->report,
			"%s: the enumerator '%s' changes from %lld to %lld, of an enumeration "
			"without a name: what holds such numbers in the process isn't known, and "
			"keeps them",
			buf_str(&place), name, (long long)dbgtype_value(old),
			(long long)dbgtype_value(&child));
		return;
	}
}

int vet_warn_enumerators(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	auto_enumerators struct enumerators pre = { 0 }, post = { 0 };
	struct enumeration *type;

	if (!unit_carries_code(unit) || !unit->pre.path)
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
