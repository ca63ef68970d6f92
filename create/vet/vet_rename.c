// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_rename.c - variables that may only have got another name
 *
 * A variable that the patch renames, moves within a function's statics or gives another owner looks
 * like one that is gone and one that is new; and a new one starts with its initial value. If a
 * function that used one which is gone now uses a new one of the same size, that is refused: the
 * value of the running program would be lost without a word. One that is gone without a successor
 * is worth a warning only: its storage stays, for the undo.
 *
 * There is a warning where a class of C++ gets another name: objects that exist have the old one,
 * by which dynamic_cast and exceptions know them.
 */

#include <string.h>

#include "base/demangle.h"
#include "create/unit/answer.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

static bool is_plain_variable(const struct objsym *sym)
{
	enum secinfo_kind kind = sym->sec ? secinfo_of(sym->sec)->kind : SECINFO_IGNORED;

	return (kind == SECINFO_DATA || kind == SECINFO_TLS) && sym_is_variable(sym) &&
	       !sym_is_pointer_for_tables(sym);
}

/* A symbol of the post build that has the name of one that is gone, as far as people wrote it. */
static bool has_namesake(const struct side *post, const struct objsym *gone)
{
	size_t len = name_base_len(gone->name);

	for (size_t i = 0; i < post->obj->syms.n; i++) {
		const struct objsym *sym = post->obj->syms.items[i];

		if (sym_is_variable(sym) && name_base_len(sym->name) == len &&
		    !memcmp(sym->name, gone->name, len) && sym_same_origin(sym, gone))
			return true;
	}
	return false;
}

static int check_gone(const struct diff *diff, const struct unit *unit, const struct objsym *gone,
		      struct uspl_err *err)
{
	auto_buf struct buf place = { 0 };
	bool used = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		const struct objsym *successor = NULL;
		const struct objrel *rel;

		if (secinfo->kind != SECINFO_CODE || !secinfo->carried || !twin ||
		    !sec_refers_to(twin->sec, gone))
			continue;
		/*
		 * A new variable of the same size, which a function that used the gone one uses
		 * now.
		 */
		vec_for_each (&sec->rels, rel)
			if (!successor && is_plain_variable(rel->sym) &&
			    !syminfo_of(rel->sym)->twin && rel->sym->size == gone->size)
				successor = rel->sym;
		if (successor && !answer_given_for(diff, successor)) {
			uspl_fail(err, USPL_E_DATA_CHANGE,
				  "%s: variable '%s' is new and '%s' is gone: the same one under "
				  "another name?",
				  sym_srcloc(successor, &place), successor->name, gone->name);
			uspl_hint(err,
				  "keep the old name, then it keeps its value; or, if it is "
				  "another one, keep the old one too, with __attribute__((used))");
			return -USPL_E_DATA_CHANGE;
		}
		used = true;
	}
	if (used)
		report_warn(diff->report,
			    "%s: variable '%s' isn't used any more; its value stays where it is",
			    sym_srcloc(gone, &place), gone->name);
	return 0;
}

int vet_renamed_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		const struct objsym *gone = unit->pre.obj->syms.items[i];
		int rc;

		if (!is_plain_variable(gone) || syminfo_of(gone)->twin ||
		    has_namesake(&unit->post, gone))
			continue;
		rc = check_gone(diff, unit, gone, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- classes ---- */

/* What stands for a class where it is asked for by name: the first characters of such a symbol. */
static const char typeinfo[] = "_ZTI";

static bool is_class(const struct objsym *sym)
{
	return sym->sec && !strncmp(sym->name, typeinfo, sizeof(typeinfo) - 1) &&
	       !syminfo_of(sym)->twin;
}

int vet_warn_classes(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const struct objsym *lost = NULL;

	(void)err;
	/* A class that isn't in the unit after the patch any more. */
	for (size_t i = 0; !lost && i < unit->pre.obj->syms.n; i++)
		if (is_class(unit->pre.obj->syms.items[i]))
			lost = unit->pre.obj->syms.items[i];
	for (size_t i = 0; lost && i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		auto_free char *was = demangle_name(lost->name);
		auto_free char *is = demangle_name(sym->name);

		if (!is_class(sym))
			continue;
		report_warn(diff->report,
			    "%s: '%s' is new and '%s' is gone: objects that exist stay what they "
			    "are, and dynamic_cast and catch don't know them by the new name",
			    unit->source, is ? is : sym->name, was ? was : lost->name);
		return 0;
	}
	return 0;
}
