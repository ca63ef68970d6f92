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

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

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

static int refuse_data(const struct objsym *sym, struct uspl_err *err)
{
	const struct objsym *old = syminfo_of(sym)->twin;
	auto_buf struct buf was = { 0 }, is = { 0 };
	const char *from, *to;
	int rc;

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
	uspl_hint(err, "the variable exists already and keeps its value; leave the initial value "
		       "as it is, and let changed "
		       "code use a new variable or constant");
	return rc;
}

/*
 * A constant table may be replaced for the code that uses it (compare.c); nothing else may
 * change.
 */
int vet_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct syminfo *syminfo = syminfo_of(sym);

		if (!syminfo->twin || !syminfo->changed ||
		    (sym->sec && secinfo_of(sym->sec)->reason))
			continue;
		return refuse_data(sym, err);
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
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (secinfo_of(sec)->reason || (secinfo_of(sec)->kind != SECINFO_DATA &&
						secinfo_of(sec)->kind != SECINFO_CONST))
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct secinfo *secinfo =
				rel->sym->sec ? secinfo_of(rel->sym->sec) : NULL;

			if (!secinfo || !secinfo->reason)
				continue;
			if ((secinfo->kind == SECINFO_CONST && secinfo->owner &&
			     syminfo_of(secinfo->owner)->twin) ||
			    (secinfo->kind == SECINFO_CODE && rel->sym->type == STT_SECTION))
				return refuse_pointing(sec, rel->sym->sec, err);
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

static int refuse_new(const struct objsym *sym, struct uspl_err *err)
{
	const struct secinfo *secinfo = secinfo_of(sym->sec);
	int rc;

	/* The linker makes one table of all sections of such a name. */
	if (is_identifier(sym->sec->name)) {
		rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				"'%s' is added to the linker's table '%s'", sym->name,
				sym->sec->name);
		uspl_hint(err, "the program's table has no room; call what is new from a function "
			       "that reads the table");
		return rc;
	}
	if (secinfo->carried && secinfo->shared) {
		rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				"new variable '%s' shares its section '%s' with others", sym->name,
				sym->sec->name);
		uspl_hint(err, "build with -fdata-sections, and without a section attribute here");
		return rc;
	}
	return 0;
}

int vet_new_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		int rc = 0;

		if (sym->sec && sym_is_variable(sym) && !syminfo_of(sym)->twin)
			rc = refuse_new(sym, err);
		if (rc)
			return rc;
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

		if (!secinfo || !secinfo->carried || secinfo->kind != SECINFO_DATA ||
		    !sym_is_variable(sym) || syminfo_of(sym)->twin)
			continue;
		old = find_lost(diff, unit, sym);
		if (!old)
			continue;
		rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				"variable '%s' moves from %s to here, or is it another one?",
				sym->name, sym_srcloc(old, &place));
		uspl_hint(err, "leave it where it is, or give the new one another name");
		return rc;
	}
	return 0;
}
