// SPDX-License-Identifier: GPL-3.0-or-later
// wrapped.c - names that the linker was told to take for others (--wrap)
//
// With --wrap=f a reference to f that the object doesn't define itself is one to __wrap_f, and one
// to __real_f is one to f. What is linked into a process later has to mean the same.

#include <string.h>

#include "create/tree/link_options.h"
#include "create/unit/unit.h"

int wrapped_rename(const char *options, struct objfile *obj, struct uspl_err *err)
{
	static const char wrap[] = "__wrap_", real[] = "__real_";

	if (!link_options_wrap_any(options))
		return 0;
	for (size_t i = 0; i < obj->syms.n; i++) {
		struct objsym *sym = obj->syms.items[i];
		auto_free char *name = NULL;

		if (sym->sec || sym->shndx != SHN_UNDEF || !*sym->name)
			continue;
		if (link_options_wrap(options, sym->name)) {
			if (asprintf(&name, "%s%s", wrap, sym->name) < 0)
				name = NULL;
		} else if (name_starts(sym->name, real) &&
			   link_options_wrap(options, sym->name + strlen(real))) {
			name = strdup(sym->name + strlen(real));
		} else {
			continue;
		}
		sym->name = name ? objfile_strdup(obj, name) : NULL;
		if (!sym->name)
			return uspl_fail_nomem(err);
	}
	return 0;
}
