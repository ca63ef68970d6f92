// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * literal_place.c - strings that the process has already
 *
 * The contents of a string are all that counts, but for programs that compare addresses of strings:
 * `if (name != unnamed) free(name)`, with "" or "default" as the unnamed one. What the process
 * holds is the address of the program's own string. So where the code before the patch has a string
 * of the same contents as new code, new code gets the address of that one, as it does with a
 * variable: a name for the string goes into pre.o, whose match tells the place, and into new.o,
 * which is linked with it.
 *
 * That is done as far as it is certain that the place will be known: for strings of functions that
 * the update replaces, since these must match. Other strings come with the update. So do strings of
 * functions of which a program has one copy from many units (C++): which unit's copy it has isn't
 * known here.
 */

#include "create/diff/literal_place.h"

#include <ctype.h>
#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "create/unit/equal.h"
#include "create/unit/literal.h"
#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/refname.h"

/* Strings of the build before the patch, in the order in which they were named. */
struct naming {
	struct diff *diff;
	size_t n; /* how many have a name */
	struct uspl_err *err;
};

/* Does the reference lead to the start of a string, or to a string's end that is one, too? */
static bool leads_to_string(const struct objsec *from, const struct objrel *rel)
{
	const struct objsec *sec = rel->sym->sec;
	enum reloc_kind kind = arch_native()->reloc(rel->type)->kind;
	uint64_t end;
	int64_t at;

	if (rel->sym->type != STT_SECTION || !sec || secinfo_of(sec)->kind != SECINFO_LITERAL ||
	    !sec->data || (kind != RELOC_ABS && kind != RELOC_PCREL))
		return false;
	at = reference_target(from, rel);
	if (at < 0 || (uint64_t)at >= sec->size)
		return false;
	if (literal_is_string(sec))
		return true;
	/* Without optimisation strings lie among numbers and tables. */
	for (end = (uint64_t)at; end < sec->size; end++)
		if (!isprint(sec->data[end]) && !isspace(sec->data[end]))
			return end > (uint64_t)at && !sec->data[end];
	return false;
}

/* Makes a symbol that has a refname; sec: NULL where the string is elsewhere. */
static struct objsym *add_symbol(struct side *side, struct unit *unit, const char *refname,
				 struct objsec *sec, uint64_t value)
{
	struct syminfo syminfo = { .unit = unit, .side = side };
	struct objsym *sym = objfile_add_symbol(side->obj, "", STT_OBJECT, STB_LOCAL);

	syminfo.refname = sym ? objfile_strdup(side->obj, refname) : NULL;
	if (!syminfo.refname)
		return NULL;
	sym->sec = sec;
	sym->value = value;
	sym->priv = objfile_memdup(side->obj, &syminfo, sizeof(syminfo));
	if (sec && !literal_is_string(sec))
		sym->size = strlen((const char *)sec->data + value) + 1;
	return sym->priv ? sym : NULL;
}

/* Counts a reference from a symbol that stands where it leads to. */
static void refer_by(struct objrel *rel, struct objsym *sym, int64_t target)
{
	rel->addend += (int64_t)rel->sym->value - target;
	rel->sym = sym;
}

/* Gives a string of the build before the patch a name, and the references of `user` to it. */
static struct objsym *name_string(struct naming *naming, struct objsec *user,
				  const struct objrel *like)
{
	struct unit *unit = secinfo_of(user)->unit;
	struct objsec *sec = like->sym->sec;
	int64_t target = reference_target(user, like);
	auto_buf struct buf name = { 0 };
	auto_free char *refname = NULL;
	struct objsym *sym;
	struct objrel *rel;

	buf_addf(&name, ".string.%zu", naming->n++);
	refname = name.oom ? NULL : refname_local(unit->source, buf_str(&name));
	sym = refname ? add_symbol(&unit->pre, unit, refname, sec, (uint64_t)target) : NULL;
	if (!sym)
		return NULL;
	vec_for_each (&user->rels, rel)
		if (leads_to_string(user, rel) && rel->sym->sec == sec &&
		    reference_target(user, rel) == target)
			refer_by(rel, sym, target);
	return sym;
}

static bool has_name(const struct objrel *rel)
{
	return rel->sym->sec && rel->sym->type == STT_OBJECT && syminfo_of(rel->sym)->refname &&
	       secinfo_of(rel->sym->sec)->kind == SECINFO_LITERAL;
}

/* The symbol of a string of the code before the patch with these contents; NULL if it has none. */
static int find_string(struct naming *naming, struct objsec *user, const struct objsec *from,
		       const struct objrel *rel, const struct objsym **ret)
{
	const struct objrel *old;

	*ret = NULL;
	vec_for_each (&user->rels, old) {
		if ((!has_name(old) && !leads_to_string(user, old)) ||
		    !equal_literals(old->sym->sec, reference_target(user, old), rel->sym->sec,
				    reference_target(from, rel), 0))
			continue;
		*ret = has_name(old) ? old->sym : name_string(naming, user, old);
		return *ret ? 0 : uspl_fail_nomem(naming->err);
	}
	return 0;
}

/* Code that must match for the update to be applied; one copy of many isn't such code. */
static struct objsec *code_before(const struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	const struct objsym *twin = secinfo_twin(secinfo);

	if (secinfo->kind != SECINFO_CODE || !secinfo->carried || sec->group_sig || !twin ||
	    !twin->sec || twin->sec->group_sig || secinfo->owner->bind == STB_WEAK ||
	    twin->bind == STB_WEAK)
		return NULL;
	return twin->sec;
}

static int place_reference(struct naming *naming, struct unit *unit, struct objsec *from,
			   struct objrel *rel)
{
	struct objsec *own = code_before(from);
	const struct objsym *old = NULL;
	struct objsym *sym;
	int rc = own ? find_string(naming, own, from, rel, &old) : 0;

	if (rc)
		return rc;
	for (size_t i = 0; !old && i < unit->post.obj->secs.n; i++) {
		struct objsec *other = code_before(unit->post.obj->secs.items[i]);

		if (other && other != own) {
			rc = find_string(naming, other, from, rel, &old);
			if (rc)
				return rc;
		}
	}
	if (!old)
		return 0;
	sym = add_symbol(&unit->post, unit, syminfo_of(old)->refname, NULL, 0);
	if (!sym)
		return uspl_fail_nomem(naming->err);
	refer_by(rel, sym, reference_target(from, rel));
	return 0;
}

static int place_unit(struct naming *naming, struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		struct objrel *rel;

		if (!secinfo_of(sec)->carried || sec->group_sig ||
		    (secinfo_of(sec)->owner && secinfo_of(sec)->owner->bind == STB_WEAK))
			continue;
		vec_for_each (&sec->rels, rel) {
			int rc = leads_to_string(sec, rel) ? place_reference(naming, unit, sec, rel)
							   : 0;

			if (rc)
				return rc;
		}
	}
	return 0;
}

int literal_places(struct diff *diff, struct uspl_err *err)
{
	struct naming naming = { .diff = diff, .err = err };

	for (size_t i = 0; i < diff->n; i++) {
		int rc = place_unit(&naming, &diff->units[i]);

		if (rc)
			return rc;
	}
	return 0;
}
