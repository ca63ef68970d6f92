// SPDX-License-Identifier: GPL-3.0-or-later
// hook_list.c - the hooks that a patch brings: entries of a section of the unit

#include "create/diff/hook_list.h"

#include <string.h>

#include "base/hook_kind.h"
#include "create/unit/srcloc.h"

/* An entry as the section has it; the function is what its relocation refers to. */
struct entry {
	struct uspl_hook_acts raw;
	struct objsym *function; /* NULL: it isn't known */
};

/* The function at the place that a relocation means. */
static struct objsym *function_of(const struct side *side, const struct objrel *rel)
{
	const struct objsym *to = rel->sym;

	if (!to->sec)
		return NULL;
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec == to->sec && sym_is_function(sym) &&
		    sym->value == to->value + (uint64_t)rel->addend)
			return sym;
	}
	return NULL;
}

/* Reads the entry at `at`; false if there is none, up to the section's end. */
static bool read_entry(const struct side *side, const struct objsec *sec, uint64_t at,
		       struct entry *ret)
{
	const struct objrel *rel;

	if (at + sizeof(ret->raw) > sec->size || !sec->data)
		return false;
	memcpy(&ret->raw, sec->data + at, sizeof(ret->raw));
	ret->function = NULL;
	vec_for_each (&sec->rels, rel)
		if (rel->offset == at + offsetof(struct uspl_hook_acts, function))
			ret->function = function_of(side, rel);
	return true;
}

static bool has(const struct side *side, const struct entry *like)
{
	const struct objsec *sec = objfile_section(side->obj, USPL_HOOK_SECTION);
	struct entry entry;

	for (uint64_t at = 0; sec && read_entry(side, sec, at, &entry); at += sizeof(entry.raw))
		if (entry.raw.kind == like->raw.kind && entry.function &&
		    !strcmp(entry.function->name, like->function->name))
			return true;
	return false;
}

static int by_line(const void *a, const void *b)
{
	const struct diff_hook *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int add_entry(struct diff *diff, const struct unit *unit, const struct entry *entry,
		     struct uspl_err *err)
{
	struct diff_hook *hook;

	if (entry->raw.version != USPL_HOOK_VERSION || !entry->raw.kind ||
	    entry->raw.kind > USPL_HOOK_LAST || !entry->function)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%s: a hook is of a form that this version of uspl doesn't know",
				 unit->source);
	if (has(&unit->pre, entry))
		return 0;
	if (syminfo_of(entry->function)->twin) {
		sym_refuse(entry->function, err, USPL_E_UNSUPPORTED,
			   "the hook '%s' is a function that the program has already",
			   entry->function->name);
		uspl_hint(err, "make the hook a new function that calls it");
		return -USPL_E_UNSUPPORTED;
	}
	hook = vec_push(&diff->hooks);
	if (!hook)
		return uspl_fail_nomem(err);
	*hook = (struct diff_hook){ (enum uspl_hook_kind)entry->raw.kind, entry->raw.line,
				    entry->function };
	return 0;
}

int hook_list_read(struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct unit *unit = &diff->units[i];
		const struct objsec *sec = objfile_section(unit->post.obj, USPL_HOOK_SECTION);
		size_t before = diff->hooks.n;
		struct entry entry;

		for (uint64_t at = 0; sec && read_entry(&unit->post, sec, at, &entry);
		     at += sizeof(entry.raw)) {
			int rc = add_entry(diff, unit, &entry, err);

			if (rc)
				return rc;
		}
		/* Compilers put variables in an order of their own. */
		if (diff->hooks.n > before)
			qsort(diff->hooks.items + before, diff->hooks.n - before,
			      sizeof(*diff->hooks.items), by_line);
	}
	return 0;
}
