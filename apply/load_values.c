// SPDX-License-Identifier: GPL-3.0-or-later
// load_values.c - what the symbols of new code mean in the process that it is brought into

#include "apply/load_values.h"

#include <string.h>

#include "record/detours.h"

/* True for a thread-local variable that an earlier update has brought; *ret is where it is. */
static bool find_lent(const struct load *load, const struct objsym *sym, struct symbol_value *ret)
{
	struct detours_variable variable;
	uint64_t value;

	if (!match_value(load->match, sym->name, &value) ||
	    !detours_variable(load->image, load->present, value, &variable))
		return false;
	*ret = (struct symbol_value){ .addr = variable.offset,
				      .lent_distance = variable.distance,
				      .lent_from_block = variable.from_block };
	return true;
}

bool load_is_lent(void *ctx, const struct objsym *sym)
{
	struct symbol_value value;

	return find_lent(ctx, sym, &value);
}

int load_value(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
	       struct uspl_err *err)
{
	const struct load *load = ctx;
	const struct update_function *function;
	const struct match_func *func;
	int rc;

	vec_for_each (&load->target->functions, function) {
		if (strcmp(function->symbol, sym->name) != 0)
			continue;
		if (resolve_interposed(load->resolver, sym, &ret->addr))
			return 0;
		rc = match_require(load->match, sym->name, &func, err);
		if (!rc)
			ret->addr = image_entry(load->image, func->addr);
		return rc;
	}
	return redirected || find_lent(load, sym, ret) ? 0 : resolve(load->resolver, sym, ret, err);
}
