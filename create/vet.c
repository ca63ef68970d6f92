// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet.c - reasons to refuse: what a diff asks for that new code can't bring about in a process that
 * is running already
 *
 * Each check is one function with its own sentence. They run in two rounds: over the objects
 * before they are compared, and over the differences once it is known what would be carried. Those
 * that concern data are in vet_data.c.
 */

#include <string.h>

#include "arch/arch.h"
#include "create/differ.h"
#include "create/vet.h"

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
		a = (struct range){ old, 0, old ? old->size : 0 };
		b = (struct range){ sec, 0, sec->size };
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
			a = (struct range){ way ? sec : twin, 0, sec->size };
			b = (struct range){ way ? twin : sec, 0, sec->size };
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
	static const vet_fn checks[] = { vet_lto, vet_compiler };

	return run(checks, ARRAY_SIZE(checks), diff, err);
}

int vet_changes(const struct diff *diff, struct uspl_err *err)
{
	static const vet_fn checks[] = {
		vet_nameless_code,   vet_constructed_data,  vet_start_code,       vet_code,
		vet_aliases,         vet_virtual_functions, vet_numbered_statics, vet_data,
		vet_replaced_tables, vet_new_data,          vet_moved_data,       vet_shared_data,
		vet_relocations,
	};

	int rc = vet_types(diff, err);

	return rc ? rc : run(checks, ARRAY_SIZE(checks), diff, err);
}
