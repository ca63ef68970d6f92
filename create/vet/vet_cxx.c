// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_cxx.c - reasons to refuse that concern C++
 *
 * Objects that live in the program have pointers to its tables of virtual functions; a new layout
 * of such a table would leave them with the old one, and new code would read beyond its end.
 * Variables with constructors are set up before main. And what may be defined in many units (static
 * locals of inline functions, inline variables) exists once in the program, maybe from a unit that
 * didn't change.
 */

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "create/diff/statics.h"
#include "create/unit/answer.h"
#include "create/unit/diff_unit.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

int vet_virtual_functions(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		int rc;

		if (!text_starts_with(sym->name, "_ZTV") || !syminfo_of(sym)->twin ||
		    !syminfo_of(sym)->changed)
			continue;
		rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
				"the virtual functions of a class change: '%s'", sym->name);
		uspl_hint(err, "objects that exist have the old table; change the functions that "
			       "are there, and add new ones that aren't virtual");
		return rc;
	}
	return 0;
}

int vet_constructed_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *starter = unit->post.obj->syms.items[i];
		const struct objrel *rel;
		/* It runs once, before main, to set up variables. */
		bool starts = sym_is_function(starter) &&
			      (text_starts_with(starter->name, "_GLOBAL__sub_I_") ||
			       text_starts_with(starter->name, "__cxx_global_var_init") ||
			       strstr(starter->name, "__static_initialization_and_destruction_"));
		int rc;

		if (!starts || !secinfo_of(starter->sec)->reason)
			continue;
		vec_for_each (&starter->sec->rels, rel) {
			if (!rel->sym->sec || !sym_is_variable(rel->sym) ||
			    syminfo_of(rel->sym)->twin ||
			    secinfo_of(rel->sym->sec)->kind != SECINFO_DATA ||
			    answer_given_for(diff, rel->sym))
				continue;
			rc = sym_refuse(rel->sym, err, USPL_E_UNSUPPORTED,
					"the new variable '%s' has a constructor, which would "
					"have to run before main",
					rel->sym->name);
			uspl_hint(err, "make it a static variable of the function that uses it: "
				       "then it is constructed at its first use; or construct it "
				       "by a hook, and say USPL_ANSWERS(VARIABLE)");
			return rc;
		}
	}
	return 0;
}

/* The variable that a guard belongs to: _ZGVZ1fvE1n is that of _ZZ1fvE1n. */
static const struct objsym *find_guarded(const struct side *side, const struct objsym *guard)
{
	static const char prefix[] = "_ZGV";
	const char *name = sym_pair_name(guard) + sizeof(prefix) - 1;

	if (!text_starts_with(sym_pair_name(guard), prefix))
		return NULL;
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (sym_is_variable(sym) && text_starts_with(sym_pair_name(sym), "_Z") &&
		    !strcmp(sym_pair_name(sym) + 2, name))
			return sym;
	}
	return NULL;
}

/*
 * A guard tells whether a variable has been constructed. A new one says that it hasn't: the
 * constructor would run over the value that the variable has.
 */
int vet_guards(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *guard = unit->post.obj->syms.items[i], *variable;
		int rc;

		if (!guard->sec || !secinfo_of(guard->sec)->carried || syminfo_of(guard)->twin)
			continue;
		variable = find_guarded(&unit->post, guard);
		if (!variable || !syminfo_of(variable)->twin)
			continue;
		rc = sym_refuse(variable, err, USPL_E_DATA_CHANGE,
				"'%s' exists already, and is initialised by code now, at its first "
				"use after the patch: it would lose its value",
				variable->name);
		uspl_hint(err, "leave its initial value as it is, and let changed code use a new "
			       "variable");
		return rc;
	}
	return 0;
}

/* Does the code look whether this thread has made its variables, and make a new one among them? */
static bool makes_new_for_thread(const struct objsec *code)
{
	bool looks = false, is_new = false;
	const struct objrel *rel;

	vec_for_each (&code->rels, rel) {
		const struct objsym *sym = rel->sym;

		looks |= !strcmp(sym->name, "__tls_guard") && syminfo_of(sym)->twin;
		is_new |= sym->sec && secinfo_of(sym->sec)->kind == SECINFO_TLS &&
			  sym_is_variable(sym) && !syminfo_of(sym)->twin;
	}
	return looks && is_new;
}

/*
 * The thread_local variables of a unit are made together, at a thread's first use of any. Threads
 * that have done so won't do it again.
 */
int vet_thread_start(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		bool is_list = secinfo->owner && !strcmp(secinfo->owner->name, "__tls_init") &&
			       syminfo_of(secinfo->owner)->twin;
		int rc;

		if (secinfo->kind != SECINFO_CODE || !secinfo->carried ||
		    (!is_list && !makes_new_for_thread(sec)))
			continue;
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"'%s' makes a thread_local variable that is new, together with "
				"old ones, which threads that run have made already",
				sec_title(sec));
		uspl_hint(err, "make it a thread_local variable of the function that uses it");
		return rc;
	}
	return 0;
}

/* Does the name end with one of the source, whose length is in front of it: "_ZZ1fvE3n_6"? */
static bool ends_in_source_name(const char *name, size_t len)
{
	for (size_t own = 1; own < len && isprint((unsigned char)name[len - own]); own++) {
		size_t digits = 0, number = own;

		/* The number is read from its end. */
		while (number && digits < len - own &&
		       name[len - own - digits - 1] == (char)('0' + number % 10)) {
			number /= 10;
			digits++;
		}
		if (!number)
			return true;
	}
	return false;
}

/*
 * How long a static local's name is without what tells it from its namesakes: the "_0" at its end.
 */
static size_t family_len(const char *name)
{
	size_t len = strlen(name), i = len;

	while (i && isdigit((unsigned char)name[i - 1]))
		i--;
	while (i < len && i && name[i - 1] == '_')
		i--;
	return i < len && i && !isdigit((unsigned char)name[i]) && ends_in_source_name(name, i)
		       ? i
		       : len;
}

static bool is_static_local(const struct objsym *sym)
{
	return text_starts_with(sym->name, "_ZZ") && sym_is_variable(sym);
}

static size_t count_namesakes(const struct side *side, const struct objsym *like)
{
	/* Those of lambdas go by the names that the lambdas had before the patch (nameless.h). */
	const char *own = sym_pair_name(like);
	size_t n = 0, len = family_len(own);

	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];
		const char *name;

		if (!is_static_local(sym))
			continue;
		name = sym_pair_name(sym);
		n += family_len(name) == len && !memcmp(name, own, len);
	}
	return n;
}

/* Were namesakes paired by numbers that mean others now? Their uses would tell. */
int vet_numbered_statics(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *twin;
		size_t pre, post;
		int rc;

		if (!is_static_local(sym))
			continue;
		pre = count_namesakes(&unit->pre, sym);
		post = count_namesakes(&unit->post, sym);
		twin = syminfo_of(sym)->twin;
		if (!pre || (pre < 2 && post < 2) ||
		    (pre == post && twin && static_same_use(twin, sym)))
			continue;
		rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				"cannot tell which static variable is which: '%s' and others of "
				"its name and function were %zu, and are %zu%s",
				sym->name, pre, post, pre == post ? ", used in another way" : "");
		uspl_hint(err, "give the variables different names");
		return rc;
	}
	return 0;
}

int vet_shared_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];

		/* Other units may define it too, and the program has only one of it. */
		if (sym->bind == STB_LOCAL || sym->bind == STB_GLOBAL || !sym->sec ||
		    !sym_is_variable(sym) || secinfo_of(sym->sec)->kind != SECINFO_DATA ||
		    !secinfo_of(sym->sec)->carried || syminfo_of(sym)->twin ||
		    sym_is_pointer_for_tables(sym))
			continue;
		for (size_t j = 0; j < diff->n_inputs; j++) {
			bool found = false;
			int rc = diff->inputs[j].pre_obj
					 ? unit_object_defines(diff->inputs[j].pre_obj, sym->name,
							       &found, err)
					 : 0;

			if (rc)
				return rc;
			if (found)
				return uspl_fail(err, USPL_E_UNSUPPORTED,
						 "%s: '%s' is new here, but the program has it "
						 "already, from %s",
						 unit->source, sym->name, diff->inputs[j].source);
		}
	}
	return 0;
}
