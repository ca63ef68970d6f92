// SPDX-License-Identifier: GPL-3.0-or-later
// link_caller.c - functions that look at the address that they return to
//
// The dynamic linker's own functions ask which module has called them: RTLD_NEXT is what comes
// behind that one, RTLD_DEFAULT of a plugin begins with what it was opened with, dlopen() searches
// by the caller's DT_RUNPATH, in the caller's namespace. New code lies in no module, and would be
// taken for the program's, or be refused.
//
// So new code calls them by a stub that has them return to the module, to a place where a function
// ends behind a call: it takes the word away that aligned the stack for that call, and returns to
// what lies on the stack above, the address that the new code goes on at (arch.return_place).

#include <string.h>

#include "link/link_internal.h"

/* Each has a use of RETURN_ADDRESS(0) in glibc's source, or reads it off the stack in musl's. */
static const char *const asking[] = { "dlsym", "dlvsym", "dlopen", "dlmopen", "dl_iterate_phdr" };

static bool asks_caller(const struct objsym *sym)
{
	size_t len = strcspn(sym->name, "@");

	if (sym->sec || sym->shndx == SHN_COMMON || sym->shndx == SHN_ABS)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		if (strlen(asking[i]) == len && !strncmp(sym->name, asking[i], len))
			return true;
	return false;
}

int link_place_caller(struct link *link, const struct objsym *sym, struct uspl_err *err)
{
	struct link_symbol *item = link_symbol_of(link, sym);
	int rc;

	item->asks_caller = item->used && asks_caller(sym);
	if (!item->asks_caller)
		return 0;
	link->asks_caller = sym->name;
	rc = link_reserve(&link->segs[LINK_TEXT], link->arch->return_stub_len, link->arch->stub_len,
			  &item->return_stub, err);
	if (rc)
		return rc;
	return link_reserve(&link->segs[LINK_RODATA], 2 * sizeof(taddr), sizeof(taddr),
			    &item->return_slots, err);
}

void link_fill_callers(struct link *link)
{
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		struct link_symbol *item = link_symbol_of(link, link->obj->syms.items[i]);
		taddr slots[] = { item->value.addr, link->return_place };
		taddr stub, at;

		/* A weak one that isn't there stays 0. */
		if (!item->asks_caller || !item->value.addr)
			continue;
		memcpy(link->segs[LINK_RODATA].bytes + item->return_slots, slots, sizeof(slots));
		stub = link_in_segment(link, LINK_TEXT, item->return_stub);
		at = link_in_segment(link, LINK_RODATA, item->return_slots);
		link->arch->return_stub_encode(stub, at, at + sizeof(taddr),
					       link->segs[LINK_TEXT].bytes + item->return_stub);
		item->value.addr = stub;
	}
}
