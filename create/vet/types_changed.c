// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * types_changed.c - which types and variables of a unit mean something else after the patch
 *
 * The types of both builds that have a name are put in a table each, by sort, scope and name, so
 * that order and place in the source don't matter; a nameless one counts under its typedef's name,
 * and as part of what it lies in if it has none. Lambdas are paired by nameless.h. Then the pairs
 * are compared (types_layout.c). Variables are in the same tables: one that keeps its size may
 * still change its type.
 */

#include "create/vet/types_changed.h"

#include <dwarf.h>
#include <string.h>

#include "base/text.h"
#include "create/unit/nameless.h"
#include "create/unit/srcloc.h"

/* A type or variable of one build. */
struct entry {
	char *key;  /* what it is paired by: "struct f::conn" */
	char *name; /* for messages */
	Dwarf_Die die;
};

struct table {
	const struct unit *unit;
	bool post;
	VEC(struct entry *) entries;
	struct strmap by_key;
	struct strmap pointed; /* names of typedefs that pointers lead to */
	struct strmap bodies;  /* names of pointers whose memory has become a variable */
	bool oom;
};

static void table_release(struct table *table)
{
	struct entry **entry;

	vec_for_each (&table->entries, entry) {
		free((*entry)->key);
		free((*entry)->name);
		free(*entry);
	}
	vec_release(&table->entries);
	strmap_release(&table->by_key);
	strmap_release(&table->pointed);
	strmap_release(&table->bodies);
}

DEFINE_AUTO_RELEASE(table, struct table, table_release)
#define auto_table __attribute__((cleanup(cleanup_table_)))

/* Appends the name of an entry, and which lambdas a template was given, whose names don't tell. */
static void add_name(const struct table *table, Dwarf_Die *die, struct buf *buf)
{
	const char *name = dwarf_diename(die);
	const struct nameless *nameless = table->unit->nameless;

	if (!name)
		return;
	dbgtype_add_name(name, buf);
	if (nameless && strchr(name, '>'))
		nameless_add_arguments(table->post ? &nameless->post : &nameless->pre, table->post,
				       die, buf);
}

/*
 * "f::" for what lies in the function f. The unit itself is a scope only if it is one of several
 * sources.
 */
static void add_scope(const struct table *table, struct die_path *at, struct buf *buf)
{
	struct die_path *up = at->up;
	Dwarf_Attribute attr;
	Dwarf_Die source;

	if (!up || !up->up) {
		if (table->unit->optimised && dwarf_attr_integrate(&at->die, DW_AT_name, &attr) &&
		    dwarf_cu_die(attr.cu, &source, NULL, NULL, NULL, NULL, NULL, NULL) &&
		    dwarf_diename(&source))
			buf_addf(buf, "%s::", dwarf_diename(&source));
		return;
	}
	add_scope(table, up, buf);
	if (!dwarf_diename(&up->die))
		return;
	add_name(table, &up->die, buf);
	buf_addstr(buf, "::");
}

/* Takes an entry into the table; the n-th of the same name gets a number. sort: "struct ". */
static void add_entry(struct table *table, struct die_path *at, const char *sort, Dwarf_Die *die)
{
	auto_buf struct buf key = { 0 };
	struct entry *entry = calloc(1, sizeof(*entry)), **slot = vec_push(&table->entries);
	const char *name = dwarf_diename(&at->die);

	if (!entry || !slot) {
		table->entries.n -= slot != NULL;
		free(entry);
		table->oom = true;
		return;
	}
	*slot = entry;
	buf_addstr(&key, sort);
	add_scope(table, at, &key);
	add_name(table, &at->die, &key);
	for (size_t end = key.len, n = 2; strmap_get(&table->by_key, buf_str(&key)); n++) {
		key.len = end;
		buf_addf(&key, "#%zu", n);
	}
	entry->die = *die;
	entry->key = buf_take(&key);
	entry->name = text_format("%s%s", sort, name);
	if (!entry->key || !entry->name || !strmap_set(&table->by_key, entry->key, entry))
		table->oom = true;
}

static void note_typedef(struct table *table, struct die_path *at)
{
	Dwarf_Die die;
	int tag = dbgtype_peel(&at->die, &die) ? dwarf_tag(&die) : 0;

	/* A number, or a pointer, under a name of the programmer's. */
	if (tag == DW_TAG_base_type || tag == DW_TAG_pointer_type)
		add_entry(table, at, "typedef ", &at->die);
	/* Another name of a lambda, which is paired as one. */
	if (!dbgtype_of(&at->die, &die) || dwarf_diename(&die) || nameless_is_lambda(&die))
		return;
	tag = dwarf_tag(&die);
	if (dbgtype_is_aggregate(&die) || tag == DW_TAG_enumeration_type)
		add_entry(table, at, "", &die);
}

static void note_pointed(struct table *table, Dwarf_Die *pointer)
{
	Dwarf_Die die;
	bool has = dbgtype_of(pointer, &die);

	while (has &&
	       (dwarf_tag(&die) == DW_TAG_const_type || dwarf_tag(&die) == DW_TAG_volatile_type))
		has = dbgtype_of(&die, &die);
	if (has && dwarf_tag(&die) == DW_TAG_typedef && dwarf_diename(&die) &&
	    !strmap_set(&table->pointed, dwarf_diename(&die), table))
		table->oom = true;
}

/*
 * clang makes memory that a static pointer gets from malloc, once, a variable of its own: "p.body",
 * "f.p.body" within a function. The pointer is optimised away, but what it leads to is there.
 */
static bool note_bodies(struct table *table)
{
	static const char suffix[] = ".body";
	const struct objfile *obj = (table->post ? &table->unit->post : &table->unit->pre)->obj;

	for (size_t i = 0; i < obj->syms.n; i++) {
		const char *name = obj->syms.items[i]->name, *dot;
		auto_free char *pointer = NULL;

		if (!sym_is_variable(obj->syms.items[i]) || !text_ends_with(name, suffix))
			continue;
		pointer = strndup(name, strlen(name) - strlen(suffix));
		dot = pointer ? strrchr(pointer, '.') : NULL;
		if (!pointer || !strmap_set(&table->bodies, dot ? dot + 1 : pointer, table))
			return false;
	}
	return true;
}

static bool in_cxx(const struct die_path *at)
{
	struct die_path *top = at->up;
	int lang;

	while (top->up)
		top = top->up;
	lang = dwarf_srclang(&top->die);
	return lang == DW_LANG_C_plus_plus || lang == DW_LANG_C_plus_plus_03 ||
	       lang == DW_LANG_C_plus_plus_11 || lang == DW_LANG_C_plus_plus_14 || lang == 0x2a ||
	       lang == 0x2b; /* C++17 and C++20, as newer compilers call them */
}

static enum walk note_die(struct die_path *at, void *arg)
{
	struct table *table = arg;
	int tag = dwarf_tag(&at->die);
	bool named = dwarf_diename(&at->die) && !dwarf_hasattr(&at->die, DW_AT_declaration);
	Dwarf_Addr address;

	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (named)
			add_entry(table, at, tag == DW_TAG_union_type ? "union " : "struct ",
				  &at->die);
		/* Only C++ has types within types. */
		return in_cxx(at) ? WALK_INTO : WALK_PAST;
	case DW_TAG_enumeration_type:
		if (named)
			add_entry(table, at, "enum ", &at->die);
		return WALK_PAST;
	case DW_TAG_typedef:
		note_typedef(table, at);
		return WALK_PAST;
	case DW_TAG_pointer_type:
		note_pointed(table, &at->die);
		return WALK_PAST;
	case DW_TAG_variable:
		/*
		 * One that lies somewhere: not an automatic one, not one that was optimised away.
		 */
		if (dwarf_diename(&at->die) &&
		    (dbginfo_variable_address(&at->die, &address) ||
		     strmap_get(&table->bodies, dwarf_diename(&at->die))))
			add_entry(table, at, "", &at->die);
		return WALK_PAST;
	case DW_TAG_namespace:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return WALK_INTO;
	default:
		return WALK_PAST;
	}
}

/*
 * The type of a variable, if it is a structure without any name, which no other variable can have.
 */
static bool nameless_of(Dwarf_Die *variable, Dwarf_Die *ret)
{
	return dbgtype_of(variable, ret) && dbgtype_is_aggregate(ret) && !dwarf_diename(ret);
}

/* lead, and "from 'OLD' to 'NEW'". */
static int say_types(struct type_change *change, const char *lead, Dwarf_Die *pre, Dwarf_Die *post,
		     struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };

	buf_addf(&text, "%sfrom ", lead);
	dbgtype_spell_change(pre, post, &text);
	change->text = buf_take(&text);
	return change->text ? 0 : uspl_fail_nomem(err);
}

static int compare_variable(struct type_change *change, struct uspl_err *err)
{
	Dwarf_Die pre, post;
	bool has = dbgtype_of(&change->pre, &pre) && dbgtype_of(&change->post, &post);
	enum type_relation relation = has ? dbgtype_compare(&pre, &post) : TYPE_SAME;

	if (relation == TYPE_SAME)
		return 0;
	change->is_variable = true;
	if (nameless_of(&change->pre, &pre) && nameless_of(&change->post, &post)) {
		change->pre = pre;
		change->post = post;
		return types_compare_layout(change, err);
	}
	change->where = change->post;
	change->unsafe = relation == TYPE_OTHER;
	/* Its new size is the stronger reason, and refused as such. */
	if (dbgtype_size(&pre) != dbgtype_size(&post))
		return 0;
	return say_types(change, "its type changes ", &pre, &post, err);
}

static int compare_pair(struct type_change *change, struct uspl_err *err)
{
	Dwarf_Die pre, post;

	if (dwarf_tag(&change->pre) == DW_TAG_typedef) {
		/* What was made by way of a pointer (malloc) is of the old size. */
		if (!dbgtype_of(&change->pre, &pre) || !dbgtype_of(&change->post, &post) ||
		    dbgtype_compare(&pre, &post) != TYPE_OTHER)
			return 0;
		change->where = change->post;
		return say_types(change, "", &pre, &post, err);
	}
	if (dwarf_tag(&change->pre) == DW_TAG_variable)
		return compare_variable(change, err);
	if (dwarf_tag(&change->pre) == DW_TAG_enumeration_type)
		return types_compare_enum(change, err);
	return types_compare_layout(change, err);
}

/* Compares a pair, and appends what is different, if something is. */
static int add_change(struct unit *unit, const char *name, Dwarf_Die *pre, Dwarf_Die *post,
		      type_changes *changes, struct uspl_err *err)
{
	struct type_change change = {
		.pre_side = &unit->pre,
		.post_side = &unit->post,
		.pre = *pre,
		.post = *post,
	};
	struct type_change *slot;
	int rc = compare_pair(&change, err);

	if (rc || !change.text) {
		free(change.text);
		return rc;
	}
	/* gcc's name for the frame of a coroutine, in which nothing may be new. */
	change.unsafe |= text_ends_with(name, ".Frame");
	slot = vec_push(changes);
	change.name = strdup(name);
	if (!slot || !change.name) {
		free(change.text);
		free(change.name);
		changes->n -= slot != NULL;
		return uspl_fail_nomem(err);
	}
	*slot = change;
	return 0;
}

int types_compare(struct unit *unit, type_changes *changes, struct uspl_err *err)
{
	auto_table struct table pre = { .unit = unit }, post = { .unit = unit, .post = true };
	struct nameless_type **type;
	int rc;

	if (!note_bodies(&pre) || !note_bodies(&post))
		return uspl_fail_nomem(err);
	dbginfo_walk(side_dbginfo(&unit->pre), note_die, &pre);
	dbginfo_walk(side_dbginfo(&unit->post), note_die, &post);
	if (pre.oom || post.oom)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < post.entries.n; i++) {
		struct entry *new = post.entries.items[i];
		struct entry *old = strmap_get(&pre.by_key, new->key);
		bool asked = dwarf_tag(&new->die) != DW_TAG_typedef ||
			     strmap_get(&pre.pointed, dwarf_diename(&new->die));

		rc = old && asked ? add_change(unit, new->name, &old->die, &new->die, changes, err)
				  : 0;
		if (rc)
			return rc;
	}
	if (!unit->nameless)
		return 0;
	/* What a lambda has captured lies in the objects that the process has of its type. */
	vec_for_each (&unit->nameless->post.types, type) {
		struct nameless_type *old = (*type)->twin;

		if (!old || !old->found || !(*type)->found)
			continue;
		rc = add_change(unit, (*type)->text, &old->die, &(*type)->die, changes, err);
		if (rc)
			return rc;
	}
	return 0;
}

void types_release(type_changes *changes)
{
	struct type_change *change;

	vec_for_each (changes, change) {
		free(change->name);
		free(change->text);
	}
	vec_release(changes);
}
