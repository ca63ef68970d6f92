// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_sort.c - names that stay, and mean something of another sort
 *
 * What the process has under such a name isn't what new code needs: a variable of the process is
 * none of each thread, the entry of an indirect function is its resolver's, and a variable that the
 * source has for itself now isn't the one that it shared with others. In all of these the linker
 * would be content, and the value, or the change, be lost without a word.
 */

#include "create/diff/statics.h"
#include "create/unit/answer.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

/* A variable of the other build's unit that goes by that name and is of that sort. */
static const struct objsym *find_variable(const struct side *side, const struct objsym *like,
					  bool of_thread)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (sym_is_variable(sym) && (sym->type == STT_TLS) == of_thread &&
		    static_same_name(sym, like))
			return sym;
	}
	return NULL;
}

static bool has_thread_variables(const struct side *side)
{
	for (size_t i = 0; i < side->obj->syms.n; i++)
		if (side->obj->syms.items[i]->type == STT_TLS)
			return true;
	return false;
}

int vet_thread_variables(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	if (!has_thread_variables(&unit->pre) && !has_thread_variables(&unit->post))
		return 0;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		bool of_thread = sym->type == STT_TLS;

		if (!sym_is_variable(sym) || find_variable(&unit->pre, sym, of_thread) ||
		    !find_variable(&unit->pre, sym, !of_thread))
			continue;
		sym_refuse(sym, err, USPL_E_DATA_CHANGE,
			   of_thread ? "'%s' becomes thread-local: it was one variable for all "
				       "threads"
				     : "'%s' isn't thread-local any more: each thread has one",
			   sym->name);
		uspl_hint(err, "the program goes on with what it has; leave it as it is, and let "
			       "changed code use a new variable");
		return -USPL_E_DATA_CHANGE;
	}
	return 0;
}

int vet_indirect(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *old = sym_is_function(sym) ? syminfo_of(sym)->twin : NULL;
		bool indirect = sym->type == STT_GNU_IFUNC;

		if (!old || indirect == (old->type == STT_GNU_IFUNC))
			continue;
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   indirect ? "'%s' becomes an indirect function, which a resolver chooses"
				    : "'%s' was an indirect function, and callers go on with what "
				      "its resolver has chosen",
			   sym->name);
		uspl_hint(err, indirect ? "the program has been linked; choose in the function, at "
					  "each call"
					: "change the functions that its resolver chose from");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

/* What a function refers to by that name and its unit doesn't define. */
static const struct objsym *find_shared(const struct objsec *code, const struct objsym *like)
{
	const struct objrel *rel;

	vec_for_each (&code->rels, rel)
		if (!rel->sym->sec && rel->sym->bind != STB_LOCAL &&
		    rel->sym->shndx != SHN_COMMON && static_same_name(rel->sym, like))
			return rel->sym;
	return NULL;
}

/* A variable of the unit's own that code uses, where it shares one in the other build. */
static const struct objsym *find_own(const struct diff *diff, const struct objsec *code,
				     const struct objsec *other)
{
	const struct objrel *rel;

	vec_for_each (&code->rels, rel) {
		const struct objsym *sym = rel->sym;
		enum secinfo_kind kind = sym->sec ? secinfo_of(sym->sec)->kind : SECINFO_IGNORED;

		if ((kind == SECINFO_DATA || kind == SECINFO_TLS) && sym_is_variable(sym) &&
		    !syminfo_of(sym)->twin && find_shared(other, sym) && !find_shared(code, sym) &&
		    !answer_given_for(diff, sym))
			return sym;
	}
	return NULL;
}

int vet_own_variables(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		const struct objsym *own, *was_own;

		if (secinfo->kind != SECINFO_CODE || !secinfo->carried || !twin)
			continue;
		own = find_own(diff, sec, twin->sec);
		was_own = own ? NULL : find_own(diff, twin->sec, sec);
		if (!own && !was_own)
			continue;
		sym_refuse(own ? own : was_own, err, USPL_E_DATA_CHANGE,
			   own ? "'%s' is a variable of the source's own now; '%s' used another "
				 "source's, or a library's, of that name, whose value would be lost"
			       : "'%s' was a variable of the source's own; '%s' uses another "
				 "source's, or a library's, of that name now: its value would be "
				 "lost",
			   own ? own->name : was_own->name, sec_title(sec));
		uspl_hint(err, "leave it as it is; or, if another one is meant, give that one "
			       "another name, or say USPL_ANSWERS(VARIABLE)");
		return -USPL_E_DATA_CHANGE;
	}
	return 0;
}
