// SPDX-License-Identifier: GPL-3.0-or-later
// nop_mcount.c - a profiler's calls become NOPs
/*
 * Each is a single instruction, so no thread can stand within it; and one that is in the profiler
 * returns to the byte behind it, as before. A tool that dies half-way has nopped some functions,
 * which changes nothing that the program can see.
 */

#include "trace/engine/nop_mcount.h"

#include <string.h>

#include "arch/arch.h"
#include "thread/vm_sharers.h"
#include "trace/engine/patch_module.h"
#include "trace/engine/mcount_sites.h"
#include "trace/engine/candidate.h"
#include "trace/engine/patch_stopped.h"

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
	auto_image struct image *image = NULL;
	auto_mcount_sites struct mcount_sites mcount_sites = { 0 };
	auto_vec candidate_vec candidates = { 0 };
	const struct candidate *candidate;
	int rc = module_image_sparse(proc, module, &image, err);

	if (rc)
		return rc;
	image->forgets = true;
	rc = mcount_sites_find(proc, module, image, &mcount_sites, err);
	if (rc)
		return rc;
	if (mcount_sites.slots.n || mcount_sites.functions.n) {
		rc = candidates_find(image, &candidates, err);
		if (rc)
			return rc;
	}
	vec_for_each (&candidates, candidate) {
		struct site site = { 0 };

		site.addr = mcount_sites_call_in(&mcount_sites, image, candidate->entry,
						 candidate->size, &site.len);
		if (!site.addr)
			continue;
		rc = add_call(ret, module, image, &site, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int nop_mcount(struct proc *proc, const struct module *module, struct patch_result *result,
	       struct uspl_err *err)
{
	const struct patch_input in = { .proc = proc, .on = true };
	struct vm_sharers vm_sharers = { 0 };
	auto_vec site_vec sites = { 0 };
	int rc = find_calls(proc, module, &sites, err);

	if (rc || !sites.n)
		return rc;
	qsort(sites.items, sites.n, sizeof(*sites.items), by_addr);
	rc = vm_sharers_await(proc, &vm_sharers, proc_deadline(proc, VM_SHARERS_WAIT_NS), err);
	if (rc)
		return rc;
	rc = patch_stopped_once(&in, &sites, result, err);
	if (rc)
		return rc;
	result->sites += sites.n;
	return 0;
}
