// SPDX-License-Identifier: GPL-3.0-or-later
// quieten.c - a profiler's calls become NOPs
/*
 * Each is a single instruction, so no thread can stand within it; and one that is in the profiler
 * returns to the byte behind it, as before. A tool that dies half-way has quietened some functions,
 * which changes nothing that the program can see.
 */

#include "trace/engine/quieten.h"

#include <string.h>

#include "arch/arch.h"
#include "thread/sharers.h"
#include "trace/engine/batch.h"
#include "trace/engine/mcount_sites.h"
#include "trace/engine/spot.h"
#include "trace/engine/still.h"

static int add_call(site_vec *sites, const struct module *module, const struct image *image,
		    struct site *site, struct uspl_err *err)
{
	const uint8_t *code = image_bytes(image, site->addr, site->len);
	struct site *item;

	/* A call has at most 7 bytes, and the image holds it: it was decoded there. */
	if (!code || !arch_native()->nop_encode(site->to, site->len))
		return uspl_fail(err, USPL_E_BUG, "a call of %u bytes", site->len);
	site->name = module->name;
	memcpy(site->from, code, site->len);
	item = vec_push(sites);
	if (!item)
		return uspl_fail_nomem(err);
	*item = *site;
	return 0;
}

static int find_calls(const struct proc *proc, const struct module *module, site_vec *ret,
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
			rc = add_call(ret, module, image, &site, err);
	}
	vec_release(&spots);
	hooks_release(&hooks);
	image_free(image);
	return rc;
}

static int by_addr(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int switch_all(struct proc *proc, const site_vec *sites, struct batch_result *result,
		      struct uspl_err *err)
{
	const struct batch_input in = { .proc = proc, .on = true };
	struct sharers sharers = { 0 };
	int rc = sharers_await(proc, &sharers, clock_now_ns() + SHARERS_WAIT_NS, err);

	return rc ? rc : still_exchange_once(&in, sites, result, err);
}

int quieten(struct proc *proc, const struct module *module, struct batch_result *result,
	    struct uspl_err *err)
{
	site_vec sites = { 0 };
	int rc = find_calls(proc, module, &sites, err);

	if (!rc && sites.n) {
		qsort(sites.items, sites.n, sizeof(*sites.items), by_addr);
		rc = switch_all(proc, &sites, result, err);
	}
	result->sites += rc ? 0 : sites.n;
	vec_release(&sites);
	return rc;
}
