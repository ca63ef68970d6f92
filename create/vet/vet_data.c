// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_data.c - reasons to refuse that concern data
 *
 * A variable of a running process has the value that the program gave it. A new initial value or
 * another size can't simply be put in its place, and to leave the change out would be a silent
 * loss. New variables come with the new code. Constants without a name of their own are part of the
 * code that uses them; a constant table of one unit is replaced together with all code that uses it
 * (compare.c), unless data that stays points to the old one.
 */

#include <string.h>

#include "base/buf.h"
#include "create/unit/answer.h"
#include "create/unit/dbgtype.h"
#include "create/unit/equal.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_adopt.h"
#include "create/vet/vet_checks.h"
#include "create/vet/vet_collected.h"

/* The reference at the start of a variable, if there is one. */
static bool show_reference(const struct objsym *sym, struct buf *buf)
{
	const struct objrel *rel;

	vec_for_each (&sym->sec->rels, rel) {
		if (rel->offset != sym->value)
			continue;
		rel_show(sym->sec, rel, buf);
		return true;
	}
	return false;
}

/* For messages: an initial value, as a number or name if it is one, else as its first bytes. */
static const char *show_value(const struct objsym *sym, struct buf *buf)
{
	const uint8_t *data = sym->sec ? sym->sec->data : NULL;
	uint64_t number = 0, n = sym->size;

	if (data && n == 8 && show_reference(sym, buf))
		return buf_str(buf);
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

/* How large a variable is by its type; 0 if that isn't known. */
static uint64_t declared_size(const struct objsym *sym)
{
	struct dbginfo *dbg = side_dbginfo(syminfo_of(sym)->side);
	Dwarf_Die die, type;

	return dbg && dbginfo_find(dbg, sym, &die) && dbgtype_of(&die, &type) &&
			       dbgtype_peel(&type, &type)
		       ? dbgtype_size(&type)
		       : 0;
}

/* unfit: what keeps processes from taking the new value over; "" if that wasn't asked. */
static int refuse_data(const struct objsym *sym, const char *unfit, struct uspl_err *err)
{
	const struct objsym *old = syminfo_of(sym)->twin;
	auto_buf struct buf was = { 0 }, is = { 0 };
	const char *from, *to;
	int rc;

	if (old->size != sym->size && declared_size(old) &&
	    declared_size(old) == declared_size(sym)) {
		rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
				"'%s' has the size %llu in the program, and %llu after the patch, "
				"though its type is the same: the compiler makes a variable that "
				"has only two values a smaller one",
				sym->name, (unsigned long long)old->size,
				(unsigned long long)sym->size);
		uspl_hint(err, "let it have as many values as before, and put what is new into a "
			       "new variable");
		return rc;
	}
	if (old->size != sym->size) {
		rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
				"the size of '%s' changes from %llu to %llu bytes", sym->name,
				(unsigned long long)old->size, (unsigned long long)sym->size);
		uspl_hint(err, "the running program has room for the old size only; put what is "
			       "new into a new variable");
		return rc;
	}
	from = show_value(old, &was);
	to = show_value(sym, &is);
	if (!strcmp(from, to))
		rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE, "the initial value of '%s' changes",
				sym->name);
	else
		rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
				"the initial value of '%s' changes from %s to %s", sym->name, from,
				to);
	if (*unfit) {
		uspl_hint(err,
			  "it can't be adopted, since %s; give it its value by a hook, and say "
			  "USPL_ANSWERS(%s)",
			  unfit, sym->name);
		return rc;
	}
	uspl_hint(err,
		  "the variable exists already and keeps its value; leave the initial value "
		  "as it is, and let changed code use a new variable or constant; or give it "
		  "its value by a hook, and say USPL_ANSWERS(%s)",
		  sym->name);
	return rc;
}

/*
 * A constant table may be replaced for the code that uses it (compare.c); nothing else may
 * change.
 */
int vet_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct syminfo *syminfo = syminfo_of(sym);
		auto_buf struct buf why = { 0 };

		if (!syminfo->twin || !syminfo->changed ||
		    (sym->sec && secinfo_of(sym->sec)->reason))
			continue;
		if (diff->report->adopt_data && sym_is_variable(sym) &&
		    syminfo->twin->size == sym->size && sym->sec &&
		    vet_adopt_is_possible(unit, sym, &why))
			continue;
		/* No answer makes room for another size. */
		if (syminfo->twin->size == sym->size && answer_given_for(diff, sym))
			continue;
		return refuse_data(sym, buf_str(&why), err);
	}
	return 0;
}

/*
 * Data that stays in the running program points to the old table, or into the old code: code that
 * follows it would read old values. The way out is the same for both.
 */
static int refuse_pointing(const struct objsec *sec, const struct objsec *to, struct uspl_err *err)
{
	int rc;

	if (secinfo_of(to)->kind == SECINFO_CODE)
		rc = sec_refuse(sec, err, USPL_E_DATA_CHANGE,
				"'%s' holds addresses within '%s', which changes", sec_title(sec),
				sec_title(to));
	else
		rc = sec_refuse(to, err, USPL_E_DATA_CHANGE,
				"the constant '%s' changes, and '%s' points to it", sec_title(to),
				sec_title(sec));
	uspl_hint(err,
		  "'%s' stays as it is in the process; leave what it points to as it is, too, "
		  "and let changed code use a new constant or function",
		  sec_title(sec));
	return rc;
}

int vet_replaced_tables(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (secinfo_of(sec)->reason || secinfo_of(sec)->carried ||
		    (secinfo_of(sec)->kind != SECINFO_DATA &&
		     secinfo_of(sec)->kind != SECINFO_CONST && !vet_is_collected(diff, sec)))
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct secinfo *secinfo =
				rel->sym->sec ? secinfo_of(rel->sym->sec) : NULL;

			if (!secinfo || !secinfo->reason)
				continue;
			if ((secinfo->kind == SECINFO_CONST && secinfo_twin(secinfo) &&
			     !answer_given_for(diff, secinfo->owner) &&
			     !(secinfo_of(sec)->owner &&
			       answer_given_for(diff, secinfo_of(sec)->owner))) ||
			    (secinfo->kind == SECINFO_CODE && rel->sym->type == STT_SECTION))
				return refuse_pointing(sec, rel->sym->sec, err);
		}
	}
	return 0;
}

/* Does code of the update refer to it? Without -fdata-sections' help: by its section, too. */
static bool is_used(const struct unit *unit, const struct objsym *sym)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (!secinfo_of(sec)->carried)
			continue;
		vec_for_each (&sec->rels, rel)
			if (rel->sym == sym || (rel->sym->sec && rel->sym->sec == sym->sec))
				return true;
	}
	return false;
}

int vet_storage(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *old = sym_is_variable(sym) ? syminfo_of(sym)->twin : NULL;
		bool writable, higher;
		int rc;

		if (!old || !old->sec || !sym->sec || secinfo_of(sym->sec)->carried)
			continue;
		/*
		 * A constant lies where nothing may be written, under whatever name: as a literal,
		 * too, and a static variable that no code writes. What writes it now may be in
		 * another unit.
		 */
		writable = secinfo_of(sym->sec)->kind == SECINFO_DATA &&
			   secinfo_of(old->sec)->kind != SECINFO_DATA &&
			   secinfo_of(old->sec)->kind != SECINFO_TLS;
		/*
		 * The compiler knows how a variable is aligned that it lays out itself, and chooses
		 * instructions for it that fault where that isn't so.
		 */
		higher = sym->sec->align > old->sec->align && !(sym->value & (sym->sec->align - 1));
		if (!writable && (!higher || !is_used(unit, sym)))
			continue;
		if (writable)
			rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
					"'%s' was never written before the patch, and lies where "
					"the process can't write it",
					sym->name);
		else
			rc = sym_refuse(sym, err, USPL_E_DATA_CHANGE,
					"the alignment of '%s' changes from %llu to %llu bytes",
					sym->name, (unsigned long long)old->sec->align,
					(unsigned long long)sym->sec->align);
		uspl_hint(err, "it exists already and stays where it is; let changed code use a "
			       "new variable");
		return rc;
	}
	return 0;
}

int vet_new_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct secinfo *secinfo = sym->sec ? secinfo_of(sym->sec) : NULL;

		if (!secinfo || !secinfo->carried || !secinfo->shared || !sym_is_variable(sym) ||
		    syminfo_of(sym)->twin)
			continue;
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "new variable '%s' shares its section '%s' with others", sym->name,
			   sym->sec->name);
		uspl_hint(err, "build with -fdata-sections, and without a section attribute here");
		return -USPL_E_UNSUPPORTED;
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

			if (sym_is_variable(old) && !syminfo_of(old)->twin &&
			    !strcmp(old->name, sym->name))
				return old;
		}
	}
	return NULL;
}

int vet_moved_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *old;
		const struct secinfo *secinfo = sym->sec ? secinfo_of(sym->sec) : NULL;
		auto_buf struct buf place = { 0 };
		int rc;

		if (!secinfo || !secinfo->carried ||
		    (secinfo->kind != SECINFO_DATA && secinfo->kind != SECINFO_TLS) ||
		    !sym_is_variable(sym) || syminfo_of(sym)->twin)
			continue;
		old = find_lost(diff, unit, sym);
		if (!old || answer_given_for(diff, sym))
			continue;
		rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				"variable '%s' moves from %s to here, or is it another one?",
				sym->name, sym_srcloc(old, &place));
		uspl_hint(err, "leave it where it is, or give the new one another name");
		return rc;
	}
	return 0;
}
