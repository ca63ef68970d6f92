// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nameless_debug.c - what the debugging information tells of types without a name
 *
 * Nothing in it says which number the compiler has given to a type. So each symbol that is named
 * after one is looked up by its address: its entry is that of a member of the type, or of a
 * template that the type was given to, or of a member of such a template. If the symbol's name has
 * one number and its entry leads to one type without a name, these belong together. The same goes
 * for entries that say the symbol's name themselves.
 */

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "create/unit/dbgtype.h"
#include "create/unit/nameless.h"
#include "create/unit/srcloc.h"

/* Deeper than templates are nested in practice; the bound for a hostile file. */
enum { MAX_NESTING = 12, MAX_SEEN = 8 };

/* A type with a scope: where its entry begins and ends. */
struct span {
	Dwarf_Off start, end;
	Dwarf_Die die;
};

/* A function whose name has a number, or the static variable of one, and the function's entry. */
struct function {
	Dwarf_Addr address, end;
	struct nameless_type *type;
	Dwarf_Die die;
	bool found;
};

struct lookup {
	struct dbginfo *dbg;
	VEC(struct span) spans;         /* in the order of their starts */
	VEC(struct function) functions; /* sorted by address */
	VEC(Dwarf_Die) named;           /* functions that say what the linker calls them */
	bool oom;
};

static void lookup_release(struct lookup *lookup)
{
	vec_release(&lookup->spans);
	vec_release(&lookup->functions);
	vec_release(&lookup->named);
}

DEFINE_AUTO_RELEASE(lookup, struct lookup, lookup_release)
#define auto_lookup __attribute__((cleanup(cleanup_lookup_)))

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Where an entry ends: where the next one begins. */
static Dwarf_Off end_of(struct die_path *at)
{
	Dwarf_Die next;

	for (; at; at = at->up)
		if (!dwarf_siblingof(&at->die, &next))
			return dwarf_dieoffset(&next);
	return UINT64_MAX;
}

static struct function *function_at(const struct lookup *lookup, Dwarf_Addr address)
{
	struct function key = { .address = address };

	return lookup->functions.n ? bsearch(&key, lookup->functions.items, lookup->functions.n,
					     sizeof(key), by_address)
				   : NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, DW_AT_linkage_name, &attr));
}

/*
 * clang says the name of every function, even of one that has been inlined everywhere; it puts the
 * variables of such a function nowhere.
 */
static bool note_named(struct lookup *lookup, Dwarf_Die *die)
{
	const char *name = linkage_name(die);
	Dwarf_Die *slot;

	if (!name || !nameless_is_in(name))
		return true;
	slot = vec_push(&lookup->named);
	if (slot)
		*slot = *die;
	return slot;
}

/* A static variable of a function that may have been inlined everywhere. */
static void note_variable(struct lookup *lookup, struct die_path *at, Dwarf_Addr address)
{
	struct function *function = function_at(lookup, address);

	while (at && dwarf_tag(&at->die) != DW_TAG_subprogram)
		at = at->up;
	if (!at || !function || function->found)
		return;
	function->die = at->die;
	function->found = true;
}

static enum walk note_die(struct die_path *at, void *arg)
{
	struct lookup *lookup = arg;
	struct function *function;
	struct span *span;
	Dwarf_Addr address;

	switch (dwarf_tag(&at->die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		span = vec_push(&lookup->spans);
		lookup->oom |= !span;
		if (span)
			*span = (struct span){ dwarf_dieoffset(&at->die), end_of(at), at->die };
		break;
	case DW_TAG_variable:
		if (dbginfo_variable_address(&at->die, &address))
			note_variable(lookup, at, address);
		break;
	case DW_TAG_subprogram:
		function = dwarf_lowpc(&at->die, &address) ? NULL : function_at(lookup, address);
		if (function && !function->found) {
			function->die = at->die;
			function->found = true;
		}
		lookup->oom |= !note_named(lookup, &at->die);
		break;
	default:
		break;
	}
	return lookup->oom ? WALK_STOP : WALK_INTO;
}

/* The innermost type that an entry is within. */
static bool type_around(const struct lookup *lookup, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Off at = dwarf_dieoffset(die);
	size_t i = vec_lower_bound(&lookup->spans, it, it->start < at);

	/* Types of one scope follow each other; the one around comes before them. */
	for (size_t n = 0; i && n < 4096; n++) {
		const struct span *span = &lookup->spans.items[--i];

		if (span->end <= at)
			continue;
		*ret = span->die;
		return true;
	}
	return false;
}

/* The declaration in its class of a function, or of what a piece of code is an instance of. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute attr;
	Dwarf_Die other;

	for (int i = 0; i < MAX_NESTING; i++) {
		unsigned int name = dwarf_hasattr(&die, DW_AT_abstract_origin)
					    ? DW_AT_abstract_origin
					    : DW_AT_specification;

		if (!dwarf_attr(&die, name, &attr) || !dwarf_formref_die(&attr, &other))
			break;
		die = other;
	}
	return die;
}

/* The types without a name that an entry leads to. */
struct seen {
	Dwarf_Die types[MAX_SEEN];
	size_t n;
};

static bool is_nameless(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return !name || text_starts_with(name, "<lambda") || text_starts_with(name, "<unnamed") ||
	       text_starts_with(name, "._anon");
}

static void see_arguments(const struct lookup *lookup, Dwarf_Die *die, struct seen *seen,
			  int depth);

/* A type that a template was given, or that a function is a member of. */
static void see_type(const struct lookup *lookup, Dwarf_Die *type, struct seen *seen, int depth)
{
	Dwarf_Die die, around;

	for (int i = 0; i < MAX_NESTING; i++) {
		int tag;

		if (!dbgtype_peel(type, &die))
			return;
		tag = dwarf_tag(&die);
		if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
		     tag != DW_TAG_rvalue_reference_type && tag != DW_TAG_array_type) ||
		    !dbgtype_of(&die, type))
			break;
	}
	if (!dbgtype_is_aggregate(&die) || depth == MAX_NESTING)
		return;
	if (is_nameless(&die)) {
		for (size_t i = 0; i < seen->n; i++)
			if (seen->types[i].addr == die.addr)
				return;
		if (seen->n < MAX_SEEN)
			seen->types[seen->n++] = die;
		return;
	}
	see_arguments(lookup, &die, seen, depth + 1);
	if (type_around(lookup, &die, &around))
		see_type(lookup, &around, seen, depth + 1);
}

/* The types that a template, function or class, was given. */
static void see_arguments(const struct lookup *lookup, Dwarf_Die *die, struct seen *seen, int depth)
{
	Dwarf_Die child, type;

	if (depth == MAX_NESTING)
		return;
	for (bool has = !dwarf_child(die, &child); has; has = !dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_GNU_template_parameter_pack)
			see_arguments(lookup, &child, seen, depth + 1);
		else if (tag == DW_TAG_template_type_parameter && dbgtype_of(&child, &type))
			see_type(lookup, &type, seen, depth + 1);
	}
}

/* The only type without a name that a function is made of; false if there are others, or none. */
static bool type_of_function(const struct lookup *lookup, Dwarf_Die *function, Dwarf_Die *ret)
{
	Dwarf_Die die = declaration_of(*function), around;
	struct seen seen = { .n = 0 };

	/* A member of the type itself: what it is instantiated with doesn't matter. */
	if (type_around(lookup, &die, &around) && is_nameless(&around)) {
		*ret = around;
		return true;
	}
	see_arguments(lookup, &die, &seen, 0);
	if (!seen.n)
		see_arguments(lookup, function, &seen, 0);
	if (type_around(lookup, &die, &around))
		see_type(lookup, &around, &seen, 0);
	*ret = seen.types[0];
	return seen.n == 1;
}

static int add_functions(struct side *side, struct nameless_type *type, const sym_vec *syms,
			 struct lookup *lookup, struct uspl_err *err)
{
	struct objsym **sym;

	vec_for_each (syms, sym) {
		struct function *function;
		Dwarf_Addr address;

		if (!dbginfo_address(side->dbg, (*sym)->sec, (*sym)->value, &address))
			continue;
		function = vec_push(&lookup->functions);
		if (!function)
			return uspl_fail_nomem(err);
		*function = (struct function){ .address = address,
					       .end = address + (*sym)->size,
					       .type = type };
	}
	return 0;
}

static void settle(struct nameless_type *type, Dwarf_Die *die)
{
	int line = 0;

	dwarf_decl_line(die, &line);
	type->clash |= type->found && type->line != line;
	type->die = *die;
	type->line = line;
	type->found = true;
}

/* The only type that a function is named after; NULL if there are several or none in the list. */
static struct nameless_type *named_after(const struct nameless_list *list, Dwarf_Die *die)
{
	auto_free char *text = nameless_demangle(linkage_name(die));
	auto_tokens nameless_tokens tokens = { 0 };
	const struct nameless_token *token, *only = NULL;
	auto_free char *key = NULL;

	if (!text || !nameless_find(text, &tokens))
		return NULL;
	vec_for_each (&tokens, token) {
		if (!nameless_is_whole(&tokens, token))
			continue;
		if (only)
			return NULL;
		only = token;
	}
	key = only ? strndup(text + only->start, only->end - only->start) : NULL;
	return key ? strmap_get(&list->by_text, key) : NULL;
}

static void settle_types(struct lookup *lookup, struct nameless_list *list)
{
	struct nameless_type **it;
	struct function *function;
	Dwarf_Die *named, die;

	vec_for_each (&lookup->functions, function)
		if (function->found && type_of_function(lookup, &function->die, &die))
			settle(function->type, &die);
	vec_for_each (&lookup->named, named) {
		struct nameless_type *type = named_after(list, named);

		if (type && !type->found && type_of_function(lookup, named, &die))
			settle(type, &die);
	}
	vec_for_each (&list->types, it)
		if ((*it)->clash) {
			(*it)->found = false;
			(*it)->line = 0;
		}
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Notes the lines of all code of one unit of the debugging information. */
static bool note_lines(const struct lookup *lookup, Dwarf_Die *cu)
{
	Dwarf_Lines *lines;
	size_t n = 0;

	if (dwarf_getsrclines(cu, &lines, &n))
		return true;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const struct function *function;
		struct nameless_type *type;
		size_t before;
		const char *file, *own;
		Dwarf_Addr address;
		int number, *slot;

		if (dwarf_lineaddr(line, &address) || dwarf_lineno(line, &number) || !number)
			continue;
		before = vec_lower_bound(&lookup->functions, it, it->address <= address);
		function = before ? &lookup->functions.items[before - 1] : NULL;
		type = function && address < function->end ? function->type : NULL;
		own = type && type->found ? dbginfo_declaring_file(&type->die) : NULL;
		file = own ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (!file || strcmp(file, own))
			continue;
		slot = vec_push(&type->lines);
		if (!slot)
			return false;
		*slot = number;
	}
	return true;
}

int nameless_look_up(struct side *side, struct nameless_list *list, struct uspl_err *err)
{
	auto_lookup struct lookup lookup = { .dbg = side_dbginfo(side) };
	struct nameless_type **type;
	struct die_path unit = { 0 };
	int rc;

	if (!lookup.dbg || !list->types.n)
		return 0;
	vec_for_each (&list->types, type) {
		rc = add_functions(side, *type, &(*type)->code, &lookup, err);
		if (rc)
			return rc;
		rc = add_functions(side, *type, &(*type)->data, &lookup, err);
		if (rc)
			return rc;
	}
	if (lookup.functions.n)
		qsort(lookup.functions.items, lookup.functions.n, sizeof(*lookup.functions.items),
		      by_address);
	dbginfo_walk(lookup.dbg, note_die, &lookup);
	if (lookup.oom)
		return uspl_fail_nomem(err);
	settle_types(&lookup, list);
	for (Dwarf_CU *cu = NULL; dbginfo_next_unit(lookup.dbg, &cu, &unit.die);)
		if (!note_lines(&lookup, &unit.die))
			return uspl_fail_nomem(err);
	vec_for_each (&list->types, type)
		if ((*type)->lines.n)
			qsort((*type)->lines.items, (*type)->lines.n, sizeof(int), by_number);
	return 0;
}

bool nameless_is_lambda(Dwarf_Die *type)
{
	Dwarf_Die child;

	if (!dbgtype_is_aggregate(type) || !is_nameless(type))
		return false;
	for (bool has = !dwarf_child(type, &child); has; has = !dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_subprogram && name && !strcmp(name, "operator()"))
			return true;
	}
	return false;
}

static void add_identity(const struct nameless_list *list, bool post, Dwarf_Die *die,
			 struct buf *buf)
{
	struct nameless_type **it;
	int line = 0;

	vec_for_each (&list->types, it) {
		const struct nameless_type *type = *it;

		if (!type->found || type->die.addr != die->addr)
			continue;
		if (post)
			type = type->twin;
		buf_addf(buf, "@%s", type ? type->text : "new");
		return;
	}
	dwarf_decl_line(die, &line);
	buf_addf(buf, "@%d", line);
}

void nameless_add_arguments(const struct nameless_list *list, bool post, Dwarf_Die *die,
			    struct buf *buf)
{
	const struct lookup none = { .dbg = NULL };
	struct seen seen = { .n = 0 };

	see_arguments(&none, die, &seen, 0);
	for (size_t i = 0; i < seen.n; i++)
		add_identity(list, post, &seen.types[i], buf);
}
