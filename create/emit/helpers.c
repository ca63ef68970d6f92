// SPDX-License-Identifier: GPL-3.0-or-later
// helpers.c - unchanged units that tell where things are that changed code comes to refer to
/*
 * Where things lie in a stripped program is known from its own references to them, and these are
 * found by comparing it with pre code (docs/tour.md, "Match"). The pre code of the units that
 * change knows what they have referred to so far. If new code refers to something else, another
 * unit's function or variable, or a function of a library in a static program, then the pre code of
 * other units has to be compared, too: for each such name, of the unit that defines it and of the
 * first one that refers to it.
 *
 * Not every helper is needed: a thing that has a dynamic symbol is found without one. But here only
 * the build is known, not the process.
 */

#include "create/emit/helpers.h"

#include <string.h>

#include "base/error.h"
#include "base/strmap.h"
#include "create/unit/diff_unit.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"
#include "objfile/refname.h"

/* A name that the new code refers to, and no participating unit has known before. */
struct stranger {
	bool defined, used; /* a helper that does so is chosen */
};

struct search {
	struct strmap known;     /* names in units whose pre code is in pre.o anyway */
	struct strmap strangers; /* struct stranger, by name */
	struct stranger *items;
	struct strmap parts; /* the sources of those units */
};

static int note_known(struct search *search, const struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct objfile *obj = diff->units[i].pre.obj;

		if (!diff->units[i].takes_part)
			continue;
		if (!strmap_set(&search->parts, diff->units[i].source, search))
			return uspl_fail_nomem(err);
		for (size_t j = 0; j < obj->syms.n; j++)
			if (obj->syms.items[j]->name[0] &&
			    !strmap_set(&search->known, obj->syms.items[j]->name,
					obj->syms.items[j]))
				return uspl_fail_nomem(err);
	}
	return 0;
}

static int note_strangers(struct search *search, const struct objfile *new_code, size_t *ret_n,
			  struct uspl_err *err)
{
	size_t n = 0;

	search->items = calloc(new_code->syms.n + 1, sizeof(*search->items));
	if (!search->items)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < new_code->syms.n; i++) {
		const struct objsym *sym = new_code->syms.items[i];

		if (!sym->name[0] || sym->sec || sym->shndx != SHN_UNDEF ||
		    refname_is_local(sym->name) || strmap_get(&search->known, sym->name))
			continue;
		if (!strmap_set(&search->strangers, sym->name, &search->items[n++]))
			return uspl_fail_nomem(err);
	}
	*ret_n = n;
	return 0;
}

/* True if the object tells something that no helper has told yet. */
static bool helps(const struct search *search, const struct objfile *obj)
{
	bool helps = false;

	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];
		bool defines = sym->sec || sym->shndx == SHN_COMMON;
		struct stranger *stranger = strmap_get(&search->strangers, sym->name);

		if (!stranger || sym->bind == STB_LOCAL)
			continue;
		helps |= defines ? !stranger->defined : !stranger->used;
		stranger->defined |= defines;
		stranger->used |= !defines;
	}
	return helps;
}

static int choose(const struct search *search, const struct diff *diff, struct diff_unit *ret,
		  size_t *ret_n, struct uspl_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n_inputs; i++) {
		auto_objfile struct objfile *obj = NULL;
		int rc;

		if (!diff->inputs[i].pre_obj || strmap_get(&search->parts, diff->inputs[i].source))
			continue;
		rc = objfile_read_code(diff->inputs[i].pre_obj, &obj, err);
		if (rc)
			return rc;
		if (helps(search, obj))
			ret[n++] = diff->inputs[i];
	}
	*ret_n = n;
	return 0;
}

int helpers_choose(const struct diff *diff, const struct objfile *new_code, struct diff_unit *ret,
		   size_t *ret_n, struct uspl_err *err)
{
	struct search search = { 0 };
	size_t n = 0;
	int rc = note_known(&search, diff, err);

	if (!rc)
		rc = note_strangers(&search, new_code, &n, err);
	if (!rc && n)
		rc = choose(&search, diff, ret, ret_n, err);
	strmap_release(&search.known);
	strmap_release(&search.strangers);
	strmap_release(&search.parts);
	free(search.items);
	return rc;
}
