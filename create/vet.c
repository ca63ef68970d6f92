// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet.c - reasons to refuse: what a diff asks for that new code can't bring about in a process
 * that is running already
 *
 * Each check is one function with its own sentence. They run in two rounds: over the objects
 * before they are compared, and over the differences once it is known what would be carried. Data
 * is the main concern: a variable of a running process has the value that the program gave it, so
 * a new initial value or another size can't simply be put in its place, and leaving the change
 * out would be a silent loss.
 */

#include <ctype.h>
#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "create/differ.h"

typedef int (*vet_fn)(const struct diff *diff, const struct unit *unit, struct uspl_err *err);

/*
 * For messages: the first bytes of a variable's initial value, or its number if it is as small as
 * one.
 */
static const char *show_value(const struct objsym *sym, struct buf *buf)
{
	const uint8_t *data = sym->sec ? sym->sec->data : NULL;
	uint64_t number = 0, n = sym->size;

	if (data && (n == 1 || n == 2 || n == 4 || n == 8)) {
		memcpy(&number, data + sym->value, n);
		buf_addf(buf, "%llu", (unsigned long long)number);
	} else if (data) {
		for (uint64_t i = 0; i < n && i < 12; i++)
			buf_addf(buf, "%s%02x", i ? " " : "", data[sym->value + i]);
		buf_addstr(buf, n > 12 ? " ..." : "");
	} else {
		buf_addstr(buf, "0");
	}
	return buf_str(buf);
}

static int vet_lto(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		int rc;

		if (strncmp(unit->post.obj->secs.items[i]->name, ".gnu.lto_", 9))
			continue;
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "%s was compiled with link time optimisation", unit->source);
		uspl_hint(err, "build with -fno-lto, if the running program was");
		return rc;
	}
	return 0;
}

static int vet_compiler(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const char *pre = side_compiler(&unit->pre), *post = side_compiler(&unit->post);

	(void)diff;
	if (!pre || !post || !strcmp(pre, post))
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "%s was compiled by '%s' before the patch and by '%s' after it",
			 unit->source, pre, post);
}

/* Code that belongs to no function: hand-written assembly without .type, or a top-level asm. */
static int vet_nameless_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i], *old;
		struct range a, b;

		if (part_of(sec)->kind != PART_CODE || part_of(sec)->owner || !sec->size)
			continue;
		old = objfile_section(unit->pre.obj, sec->name);
		a = (struct range){old, 0, old ? old->size : 0};
		b = (struct range){sec, 0, sec->size};
		if (!old || !range_equal(&a, &b, 0))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: code in section '%s' changes that belongs to no "
					 "function (assembler?)",
					 unit->source, sec->name);
	}
	return 0;
}

static int vet_start_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (int way = 0; way < 2; way++) {
		const struct side *side = way ? &unit->pre : &unit->post,
				  *other = way ? &unit->post : &unit->pre;

		for (size_t i = 0; i < side->obj->secs.n; i++) {
			const struct objsec *sec = side->obj->secs.items[i], *twin;
			struct range a, b;

			if (part_of(sec)->kind != PART_START || !sec->size)
				continue;
			twin = objfile_section(other->obj, sec->name);
			a = (struct range){way ? sec : twin, 0, sec->size};
			b = (struct range){way ? twin : sec, 0, sec->size};
			if (twin && twin->size == sec->size && range_equal(&a, &b, 0))
				continue;
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: what runs at the start or end of the program changes "
					 "(section '%s')",
					 unit->source, sec->name);
		}
	}
	return 0;
}

static int vet_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct part *part = part_of(sec);
		const char *name = part->owner ? part->owner->name : sec->name;

		if (part->kind != PART_CODE || !part->carried)
			continue;
		if (part->shared)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: '%s' changes, but shares its section '%s' with other "
					 "functions",
					 unit->source, name, sec->name);
		if (part->opaque)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: '%s' changes, but holds bytes that are no code",
					 unit->source, name);
		if (part->owner && part->owner->type == STT_GNU_IFUNC)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: the resolver of the indirect function '%s' changes; "
					 "it has run already",
					 unit->source, name);
		if (part->is_cold && !part->other)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: '%s' changes, but its function isn't in the unit",
					 unit->source, name);
	}
	return 0;
}

static bool has_alias(const struct side *side, const struct objsec *sec, const char *name)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec == sec && sym_is_function(sym) &&
		    !strcmp(ident_of(sym)->refname, name))
			return true;
	}
	return false;
}

/*
 * Every name of a redirected function leads to its one entry; a name that comes or goes would
 * lead elsewhere.
 */
static int vet_aliases(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *owner, *twin;

		if (!sym_is_function(sym) || !part_of(sym->sec)->carried)
			continue;
		owner = part_of(sym->sec)->owner;
		twin = ident_of(owner)->twin;
		if (sym == owner || !twin ||
		    has_alias(&ident_of(twin)->unit->pre, twin->sec, ident_of(sym)->refname))
			continue;
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%s: '%s' becomes another name of '%s', which changes",
				 unit->source, sym->name, owner->name);
	}
	return 0;
}

static int refuse_data(const struct unit *unit, const struct objsym *sym, struct uspl_err *err)
{
	const struct objsym *old = ident_of(sym)->twin;
	auto_buf struct buf was = {0}, is = {0};
	const char *from, *to;
	int rc;

	if (old->size != sym->size) {
		rc = uspl_fail(err, USPL_E_DATA_CHANGE,
			       "%s: the size of '%s' changes from %llu to %llu bytes", unit->source,
			       sym->name, (unsigned long long)old->size,
			       (unsigned long long)sym->size);
		uspl_hint(err, "the running program has room for the old size only; put what is "
			       "new into a new variable");
		return rc;
	}
	from = show_value(old, &was);
	to = show_value(sym, &is);
	if (!strcmp(from, to))
		rc = uspl_fail(err, USPL_E_DATA_CHANGE, "%s: the initial value of '%s' changes",
			       unit->source, sym->name);
	else
		rc = uspl_fail(err, USPL_E_DATA_CHANGE,
			       "%s: the initial value of '%s' changes from %s to %s", unit->source,
			       sym->name, from, to);
	uspl_hint(err, "the variable exists already and keeps its value; leave the initial value "
		       "as it is, and let changed "
		       "code use a new variable or constant");
	return rc;
}

/*
 * A constant table may be replaced for the code that uses it (compare.c); nothing else may
 * change.
 */
static int vet_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct ident *ident = ident_of(sym);

		if (!ident->twin || !ident->changed || (sym->sec && part_of(sym->sec)->reason))
			continue;
		if (sym->type == STT_TLS && ident->twin->size != sym->size)
			return uspl_fail(err, USPL_E_DATA_CHANGE,
					 "%s: the size of the thread-local '%s' changes",
					 unit->source, sym->name);
		return refuse_data(unit, sym, err);
	}
	return 0;
}

/*
 * Data that stays in the running program points to the old table: who follows it would read old
 * values.
 */
static int vet_replaced_tables(const struct diff *diff, const struct unit *unit,
			       struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (part_of(sec)->reason ||
		    (part_of(sec)->kind != PART_DATA && part_of(sec)->kind != PART_CONST))
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct part *part = rel->sym->sec ? part_of(rel->sym->sec) : NULL;

			if (!part || !part->reason)
				continue;
			if (part->kind == PART_CONST && part->owner && ident_of(part->owner)->twin)
				return uspl_fail(
					err, USPL_E_DATA_CHANGE,
					"%s: the constant '%s' changes, and '%s' points to it",
					unit->source, part->owner->name,
					part_of(sec)->owner ? part_of(sec)->owner->name
							    : sec->name);
			if (part->kind == PART_CODE && rel->sym->type == STT_SECTION)
				return uspl_fail(
					err, USPL_E_DATA_CHANGE,
					"%s: '%s' holds addresses within '%s', which changes",
					unit->source,
					part_of(sec)->owner ? part_of(sec)->owner->name : sec->name,
					part->owner ? part->owner->name : rel->sym->sec->name);
		}
	}
	return 0;
}

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

static int vet_new_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct part *part = sym->sec ? part_of(sym->sec) : NULL;

		if (!part || !sym_is_variable(sym) || ident_of(sym)->twin)
			continue;
		/*
		 * The linker makes one table of all sections of such a name; the program would
		 * not see the new entry.
		 */
		if (is_identifier(sym->sec->name))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: '%s' is added to the linker's table '%s'",
					 unit->source, sym->name, sym->sec->name);
		if (part->carried && part->kind == PART_TLS) {
			int rc = uspl_fail(err, USPL_E_UNSUPPORTED,
					   "%s: new thread-local variable '%s'", unit->source,
					   sym->name);

			uspl_hint(err, "threads that run already have no room for it; use "
				       "pthread_getspecific() or a "
				       "table by thread");
			return rc;
		}
		if (part->carried && part->shared)
			return uspl_fail(
				err, USPL_E_UNSUPPORTED,
				"%s: new variable '%s' shares its section '%s' with others",
				unit->source, sym->name, sym->sec->name);
	}
	return 0;
}

/*
 * A variable that disappears from one unit and a new one of the same name in another: the same
 * one, moved?
 */
static const struct objsym *find_lost(const struct diff *diff, const struct unit *unit,
				      const struct objsym *sym)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct side *pre = &diff->units[i].pre;

		for (size_t j = 0; &diff->units[i] != unit && j < pre->obj->syms.n; j++) {
			const struct objsym *old = pre->obj->syms.items[j];

			if (sym_is_variable(old) && !ident_of(old)->twin &&
			    !strcmp(old->name, sym->name))
				return old;
		}
	}
	return NULL;
}

static int vet_moved_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *old;
		const struct part *part = sym->sec ? part_of(sym->sec) : NULL;
		int rc;

		if (!part || !part->carried || part->kind != PART_DATA || !sym_is_variable(sym) ||
		    ident_of(sym)->twin)
			continue;
		old = find_lost(diff, unit, sym);
		if (!old)
			continue;
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "variable '%s' moves from %s to %s, or is it another one?",
			       sym->name, ident_of(old)->unit->source, unit->source);
		uspl_hint(err, "leave it where it is, or give the new one another name");
		return rc;
	}
	return 0;
}

static int vet_relocations(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (!part_of(sec)->carried)
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct reloc_info *info = arch_native()->reloc(rel->type);

			if (info->kind == RELOC_UNSUPPORTED)
				return uspl_fail(
					err, USPL_E_UNSUPPORTED,
					"%s: '%s' refers to '%s' by the unsupported relocation %s",
					unit->source,
					part_of(sec)->owner ? part_of(sec)->owner->name : sec->name,
					rel->sym->sec && !*rel->sym->name ? rel->sym->sec->name
									  : rel->sym->name,
					info->name);
		}
	}
	return 0;
}

static int run(const vet_fn *checks, size_t n, const struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++)
		for (size_t j = 0; j < n; j++) {
			int rc = checks[j](diff, &diff->units[i], err);

			if (rc)
				return rc;
		}
	return 0;
}

int vet_objects(const struct diff *diff, struct uspl_err *err)
{
	static const vet_fn checks[] = {vet_lto, vet_compiler};

	return run(checks, ARRAY_SIZE(checks), diff, err);
}

int vet_changes(const struct diff *diff, struct uspl_err *err)
{
	static const vet_fn checks[] = {
		vet_nameless_code,   vet_start_code, vet_code,       vet_aliases,     vet_data,
		vet_replaced_tables, vet_new_data,   vet_moved_data, vet_relocations,
	};

	return run(checks, ARRAY_SIZE(checks), diff, err);
}
