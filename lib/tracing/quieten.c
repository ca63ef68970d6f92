// SPDX-License-Identifier: GPL-3.0-or-later
// quieten.c - a profiler's calls become NOPs
/*
 * Each is a single instruction, so no thread can stand within it; and one that is in the profiler returns to the byte behind it, as
 * before. A tool that dies half-way has quietened some functions, which changes nothing that the program can see.
 */

#include <string.h>

#include "arch/arch.h"
#include "live/site.h"
#include "proc/sharers.h"
#include "proc/stop.h"
#include "tracing/hook.h"
#include "tracing/internal.h"

#define STOP_LIMIT_NS 1000000000ll

static int add_call(struct site_plan *plan, const struct module *module, const struct image *image,
		    struct site *site, struct uspl_err *err)
{
	const uint8_t *code = image_bytes(image, site->addr, site->len);

	/* A call has at most 7 bytes, and the image holds it: it was decoded there. */
	if (!code || !arch_native()->nop_encode(site->to, site->len))
		return uspl_fail(err, USPL_E_BUG, "a call of %u bytes", site->len);
	site->name = module->name;
	memcpy(site->from, code, site->len);
	return site_plan_add(plan, site, err);
}

static int find_calls(const struct proc *proc, const struct module *module, struct site_plan *plan,
		      struct uspl_err *err)
{
	struct image *image = NULL;
	struct hooks hooks = { 0 };
	spot_vec spots = { 0 };
	const struct spot *spot;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		rc = hooks_find(proc, module, image, &hooks, err);
	if (!rc && (hooks.slots.n || hooks.functions.n))
		rc = spots_find(image, &spots, err);
	vec_for_each (&spots, spot) {
		struct site site = { 0 };

		if (!rc)
			site.addr =
				hooks_call_in(&hooks, image, spot->entry, spot->size, &site.len);
		if (site.addr)
			rc = add_call(plan, module, image, &site, err);
	}
	vec_release(&spots);
	hooks_release(&hooks);
	image_free(image);
	return rc;
}

static int switch_all(struct proc *proc, struct site_plan *plan, struct uspl_err *err)
{
	struct stop stop = { 0 };
	int rc = sharers_refuse(proc, err);

	if (!rc)
		rc = site_plan_check(plan, err);
	if (!rc)
		rc = site_plan_prepare(plan, err);
	if (!rc)
		rc = stop_prepare(&stop, proc, err);
	if (rc)
		return rc;
	rc = stop_enter(&stop, clock_now_ns() + STOP_LIMIT_NS, err);
	if (!rc)
		rc = site_plan_switch(plan, err);
	stop_leave(&stop);
	return rc;
}

int quieten(struct proc *proc, const struct module *module, size_t *ret_n, struct uspl_err *err)
{
	struct site_plan plan = { .proc = proc };
	int rc = find_calls(proc, module, &plan, err);

	*ret_n = plan.sites.n;
	if (!rc && plan.sites.n)
		rc = switch_all(proc, &plan, err);
	site_plan_release(&plan);
	return rc;
}
