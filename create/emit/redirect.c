// SPDX-License-Identifier: GPL-3.0-or-later
// redirect.c - the list of functions whose entries an update redirects

#include "create/emit/redirect.h"

#include <string.h>

#include "base/demangle.h"
#include "create/emit/state_list.h"
#include "create/unit/optimised.h"
#include "create/unit/srcloc.h"

static int add_function(struct update_target *target, const struct objsec *sec,
			struct uspl_err *err)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	const struct objsym *twin = secinfo_twin(secinfo);
	struct update_function *function;
	auto_buf struct buf unit = { 0 };

	if (secinfo->kind != SECINFO_CODE || !secinfo->carried || secinfo->is_cold || !twin)
		return 0;
	function = vec_push(&target->functions);
	if (!function)
		return uspl_fail_nomem(err);
	function->name = demangle_name(twin->name);
	function->symbol = strdup(syminfo_of(twin)->refname);
	function->unit = strdup(optimised_source(twin, &unit));
	function->reason = strdup(secinfo->reason);
	if (!function->name || !function->symbol || !function->unit || !function->reason)
		return uspl_fail_nomem(err);
	return 0;
}

/* What the units were compiled with, by the first unit that tells. */
static int note_compiler(struct side *side, struct update_target *target, struct uspl_err *err)
{
	const char *compiler = target->compiler ? NULL : side_compiler(side);
	struct dbginfo *dbg = target->producer ? NULL : side_dbginfo(side);
	const char *producer = dbg ? dbginfo_producer(dbg) : NULL;

	if (compiler)
		target->compiler = strdup(compiler);
	if (producer)
		target->producer = strdup(producer);
	if ((compiler && !target->compiler) || (producer && !target->producer))
		return uspl_fail_nomem(err);
	return 0;
}

/* What runs by itself, and what was answered. */
static int add_hooks(const struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	const struct diff_answer *answer;
	const struct diff_hook *hook;

	vec_for_each (&diff->hooks, hook) {
		struct update_hook *slot = vec_push(&target->hooks);

		if (!slot)
			return uspl_fail_nomem(err);
		slot->kind = hook->kind;
		slot->name = demangle_name(hook->function->name);
		slot->symbol = strdup(syminfo_of(hook->function)->refname);
		slot->unit = strdup(syminfo_of(hook->function)->unit->source);
		if (!slot->name || !slot->symbol || !slot->unit)
			return uspl_fail_nomem(err);
	}
	vec_for_each (&diff->answers, answer)
		if (answer->used && !strvec_add(&target->answers, answer->name))
			return uspl_fail_nomem(err);
	return 0;
}

int redirect_list(const struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < diff->n; i++) {
		const struct objfile *obj = diff->units[i].post.obj;

		rc = note_compiler(&diff->units[i].post, target, err);
		if (rc)
			return rc;
		for (size_t j = 0; j < obj->secs.n; j++) {
			rc = add_function(target, obj->secs.items[j], err);
			if (rc)
				return rc;
		}
		unit_close_dbginfo(&diff->units[i]);
	}
	rc = add_hooks(diff, target, err);
	if (rc)
		return rc;
	return state_list_add(diff, target, err);
}
