// SPDX-License-Identifier: GPL-3.0-or-later
// coverage.c - programs that are built to count what runs in them

#include "create/coverage.h"

#include <string.h>

#include "objfile/objfile.h"

/* gcc and clang register such an object at the start; clang's own way is a section of counters. */
static const char *const starters[] = { "__gcov_init", "llvm_gcov_init" };
static const char counters[] = "__llvm_prf_cnts";

int coverage_find(const char *object, bool *ret, struct uspl_err *err)
{
	auto_objfile struct objfile *obj = NULL;
	int rc = objfile_read_code(object, &obj, err);

	if (rc)
		return rc;
	*ret = objfile_section(obj, counters) != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(starters); i++)
		*ret |= objfile_symbol(obj, starters[i]) != NULL;
	return 0;
}
