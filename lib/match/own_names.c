// SPDX-License-Identifier: GPL-3.0-or-later
// own_names.c - what a refname means by a program's own symbol table

#include "match/own_names.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "objfile/refname.h"

taddr own_names_value(const struct image *image, const struct image_sym *sym)
{
	return sym->type == STT_TLS ? sym->addr + (uint64_t)image->tls_offset : sym->addr;
}

/* A global definition rules out statics of its name. */
struct own_names own_names_find(const struct match *match, const char *refname)
{
	struct own_names own = { 0 };
	size_t n;
	const struct image_sym *const *named =
		match_run_symbols(match, refname_symbol(refname), &n);

	for (size_t i = 0; i < n; i++) {
		const struct image_sym *sym = named[i];
		bool is_global = sym->bind != STB_LOCAL;

		/* A hidden global became local when it was linked. */
		if (refname_is_local(refname) && sym->file && sym->file[0] &&
		    (is_global || !refname_in_file(refname, sym->file)))
			continue;
		if (own.n && own.first->addr == sym->addr)
			continue;
		if (!refname_is_local(refname) && own.n &&
		    is_global != (own.first->bind != STB_LOCAL)) {
			if (!is_global)
				continue;
			own.n = 0;
		}
		if (!own.n++)
			own.first = sym;
	}
	return own;
}

int own_names_check(const struct match *match, const struct image *image, const char *refname,
		    taddr value, const char *module, struct uspl_err *err)
{
	struct own_names own = own_names_find(match, refname);
	bool is_inside = value >= image->start && value < image->end;

	if (own.n != 1 || own.first->type == STT_GNU_IFUNC)
		return 0;
	if (own_names_value(image, own.first) == value)
		return 0;
	/* Interposed by another module, or reached through a stub. */
	if (own.first->type != STT_TLS && (!is_inside || own.first->bind != STB_LOCAL))
		return 0;
	return uspl_fail(err, USPL_E_UNRESOLVED,
			 "'%s' is at 0x%" PRIx64 " by the running code, but at 0x%" PRIx64
			 " by the symbol table of '%s'",
			 refname, value, own_names_value(image, own.first), module);
}

int own_names_require_one(const struct own_names *own, const char *refname, const char *module,
			  struct uspl_err *err)
{
	if (own->n > 1)
		return uspl_fail(err, USPL_E_UNRESOLVED,
				 "'%s' can't be told apart: %zu symbols of '%s' have its name and "
				 "file, and no code that matches refers to it",
				 refname, own->n, module);
	if (!own->n)
		return uspl_fail(err, USPL_E_UNRESOLVED,
				 "'%s' isn't found: no code that matches refers to it, and the "
				 "symbol table of '%s' doesn't have it",
				 refname, module);
	return 0;
}

int own_names_fail_nowhere(const char *refname, size_t n_modules, const char *module,
			   struct uspl_err *err)
{
	uspl_fail(
		err, USPL_E_UNRESOLVED,
		"'%s' isn't found: no code that matches refers to it, and none of the %zu modules "
		"that '%s' sees defines it",
		refname, n_modules, module);
	uspl_hint(err, "let the new code use what the program has used before, or bring a function "
		       "of its own; a program that keeps its symbol table knows all of its names");
	return -USPL_E_UNRESOLVED;
}
