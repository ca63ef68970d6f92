// SPDX-License-Identifier: GPL-3.0-or-later
// pads.c - jumps in pages of their own, where entries want them
/*
 * Some places are free and still not taken: what the heap (brk) and the main thread's stack may
 * grow into soon. An allocator finds other memory when brk has come to an end, but not all programs
 * use an allocator.
 */

#include "text/pads.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"

/* What the heap keeps free for growing, and the stack. */
#define HEAP_ROOM (128ull << 20)
#define STACK_ROOM (128ull << 20)
/* How far behind the program the kernel may begin the heap (arch_randomize_brk). */
#define HEAP_RANDOM (32ull << 20)
/* Lower addresses aren't for programs (vm.mmap_min_addr). */
#define LOWEST 0x10000ull
/* Pads that may lie anywhere lie at multiples of this. */
#define PAD_STEP 16ull

static taddr page_of(taddr addr)
{
	return addr & ~(PAGE - 1);
}

int pads_open(struct pads *pads, const struct proc *proc, const module_vec *modules,
	      struct uspl_err *err)
{
	*pads = (struct pads){ .proc = proc, .modules = modules };
	return regions_read(proc, &pads->present, err);
}

void pads_release(struct pads *pads)
{
	regions_release(&pads->present);
	vec_release(&pads->items);
	vec_release(&pads->pages);
}

/* Where the heap ends; where it may begin if there is none yet. */
static taddr heap_end(const struct pads *pads)
{
	const struct module *module;
	const struct mapping *map;
	taddr end = 0;

	vec_for_each (pads->modules, module)
		if (module->is_main)
			end = module->end + HEAP_RANDOM;
	vec_for_each (&pads->proc->maps, map)
		if (!strcmp(map->path, "[heap]"))
			end = map->end;
	return end;
}

/* Why a free page is better left free; NULL if there is no reason. */
static const char *why_not(const struct pads *pads, taddr page)
{
	const struct mapping *map;
	taddr heap = heap_end(pads);

	if (page >= heap - HEAP_RANDOM && page < heap + HEAP_ROOM)
		return "where the heap grows";
	vec_for_each (&pads->proc->maps, map)
		if (!strcmp(map->path, "[stack]") && page < map->start &&
		    page + STACK_ROOM > map->start)
			return "where the stack grows";
	return NULL;
}

/* True if the record of a region, other than one, names a pad on the page. */
static bool is_pad_page(const region_vec *present, taddr page, const struct region *but)
{
	const struct region *region;
	const struct region_site *site;

	vec_for_each (present, region)
		vec_for_each (&region->sites, site)
			if (site->pad_len && site->pad + site->pad_len > page &&
			    site->pad < page + PAGE && (!but || region->self != but->self))
				return true;
	return false;
}

static bool is_planned(const struct pads *pads, taddr page)
{
	const taddr *planned;

	vec_for_each (&pads->pages, planned)
		if (*planned == page)
			return true;
	return false;
}

static int fail_place(const struct region_site *site, taddr at, const char *why,
		      struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the pad of '%s' would have to lie at 0x%" PRIx64 ", %s", site->name, at,
			 why);
}

/* True for memory that was mapped for pads, and not a program's own code with a pad behind it. */
static bool is_ours(const struct pads *pads, const struct mapping *map, taddr page)
{
	return !map->inode && is_pad_page(&pads->present, page, NULL);
}

/* No pad of ours, nor another's, may have a byte in common with this one. */
static int check_overlap(const struct pads *pads, const struct region_site *site,
			 const struct pad *pad, struct uspl_err *err)
{
	uint8_t have[PAD_MAX] = { 0 };
	static const uint8_t empty[PAD_MAX];
	const struct pad *other;

	vec_for_each (&pads->items, other)
		if (other->at < pad->at + pad->len && pad->at < other->at + other->len)
			return fail_place(site, pad->at, "where another one is planned", err);
	proc_read_some(pads->proc, pad->at, have, pad->len);
	if (memcmp(have, empty, pad->len) && memcmp(have, pad->code, pad->len))
		return fail_place(site, pad->at, "where another one is", err);
	return 0;
}

static int check_page(const struct pads *pads, const struct region_site *site, taddr page,
		      struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(pads->proc, page);
	const char *why = map ? NULL : why_not(pads, page);

	if (map && !is_ours(pads, map, page))
		return fail_place(site, page, "which is taken", err);
	return why ? fail_place(site, page, why, err) : 0;
}

static int plan_page(struct pads *pads, taddr page, struct uspl_err *err)
{
	taddr *item;

	if (proc_mapping_at(pads->proc, page) || is_planned(pads, page))
		return 0;
	item = vec_push(&pads->pages);
	if (!item)
		return uspl_fail_nomem(err);
	*item = page;
	return 0;
}

static int add_item(struct pads *pads, struct region_site *site, const struct pad *pad,
		    struct uspl_err *err)
{
	struct pad *item = vec_push(&pads->items);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *pad;
	site->pad = pad->at;
	site->pad_len = pad->len;
	return 0;
}

int pads_add(struct pads *pads, struct region_site *site, taddr at, taddr to, struct uspl_err *err)
{
	struct pad pad = { .at = at };
	taddr first = page_of(at), last;
	int rc;

	pad.len = (uint8_t)pad_encode(at, to, pad.code);
	last = page_of(at + pad.len - 1);
	rc = check_overlap(pads, site, &pad, err);
	for (taddr page = first; !rc && page <= last; page += PAGE)
		rc = check_page(pads, site, page, err);
	for (taddr page = first; !rc && page <= last; page += PAGE)
		rc = plan_page(pads, page, err);
	return rc ? rc : add_item(pads, site, &pad, err);
}

taddr pads_next(const struct pads *pads, taddr at)
{
	taddr page = page_of(at);

	if (is_planned(pads, page) || is_pad_page(&pads->present, page, NULL))
		return (at & ~(PAD_STEP - 1)) + PAD_STEP;
	return page + PAGE;
}

static bool is_near(const struct region_site *site, taddr at)
{
	uint64_t reach = arch_native()->reach;

	return at >= site->addr ? at - site->addr < reach : site->addr - at < reach;
}

/* In a page that has pads, or is to have some. */
static bool add_in_page(struct pads *pads, struct region_site *site, taddr page, taddr to)
{
	for (taddr at = page; at < page + PAGE; at += PAD_STEP)
		if (is_near(site, at) && pads_add(pads, site, at, to, NULL) == 0)
			return true;
	return false;
}

static bool add_beside(struct pads *pads, struct region_site *site, taddr to)
{
	const struct region_site *theirs;
	const struct region *region;

	if (site->pad_len && is_near(site, site->pad) &&
	    pads_add(pads, site, site->pad, to, NULL) == 0)
		return true;
	for (size_t i = 0; i < pads->pages.n; i++)
		if (add_in_page(pads, site, pads->pages.items[i], to))
			return true;
	vec_for_each (&pads->present, region)
		vec_for_each (&region->sites, theirs)
			if (theirs->pad_len && add_in_page(pads, site, page_of(theirs->pad), to))
				return true;
	return false;
}

/* The last page of a gap between mappings, as far as that is within reach. */
static bool add_in_gap(struct pads *pads, struct region_site *site, taddr from, taddr end, taddr to)
{
	taddr most = page_of(site->addr + arch_native()->reach);

	if (end > most)
		end = most;
	return end > from && is_near(site, end - PAGE) &&
	       pads_add(pads, site, end - PAGE, to, NULL) == 0;
}

/* Behind the code of the site's own module, where its last page isn't full. */
static bool add_in_slack(struct pads *pads, struct region_site *site, taddr to)
{
	const struct module *module = module_at(pads->modules, site->addr);
	taddr start, end;

	if (!module || !agent_spare(pads->proc, module, &start, &end))
		return false;
	for (taddr at = start; at + PAD_STEP <= end; at += PAD_STEP) {
		struct pad pad = { .at = at };

		pad.len = (uint8_t)pad_encode(at, to, pad.code);
		if (is_near(site, at) && check_overlap(pads, site, &pad, NULL) == 0 &&
		    add_item(pads, site, &pad, NULL) == 0)
			return true;
	}
	return false;
}

int pads_add_near(struct pads *pads, struct region_site *site, taddr to, struct uspl_err *err)
{
	const struct mapping *map;
	taddr from = LOWEST;

	if (add_beside(pads, site, to))
		return 0;
	vec_for_each (&pads->proc->maps, map) {
		if (map->start > from && add_in_gap(pads, site, from, map->start, to))
			return 0;
		from = map->end;
	}
	if (add_in_slack(pads, site, to))
		return 0;
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "no page within reach of '%s' is free for a jump to its new code",
			 site->name);
}

/* A pad behind a program's own code: the rest of the page is empty again. */
static int clear_pad(const struct proc *proc, const struct region_site *site, struct uspl_err *err)
{
	static const uint8_t empty[PAD_MAX];

	return proc_write(proc, site->pad, empty, site->pad_len, err);
}

/*
 * Some pages, at most INJECT_MAX. An old kernel that doesn't know MAP_FIXED_NOREPLACE (Linux 4.17)
 * maps them elsewhere.
 */
static int map_some(const struct pads *pads, taddr slate, size_t first, size_t n,
		    struct uspl_err *err)
{
	const struct inject_choice choice = { .slate = slate };
	struct inject_req reqs[INJECT_MAX];
	size_t done;
	int rc;

	for (size_t i = 0; i < n; i++)
		reqs[i] = inject_mmap(pads->pages.items[first + i], PAGE, PROT_READ | PROT_EXEC,
				      MAP_PRIVATE | MAP_FIXED_NOREPLACE);
	rc = inject_run_in(pads->proc, &choice, reqs, n, &done, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (i < done && (taddr)reqs[i].result == pads->pages.items[first + i])
			continue;
		for (size_t mapped = 0; mapped < first + i; mapped++)
			if (inject_unmap(pads->proc, pads->pages.items[mapped], PAGE, NULL) != 0)
				log_info("gate", "a page for pads stays in pid %d",
					 pads->proc->pid);
		return uspl_fail(err, USPL_E_UNSUPPORTED, "no page for a pad at 0x%" PRIx64,
				 pads->pages.items[first + i]);
	}
	return 0;
}

int pads_map(const struct pads *pads, taddr slate, struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0, n; !rc && at < pads->pages.n; at += n) {
		n = pads->pages.n - at < INJECT_MAX ? pads->pages.n - at : INJECT_MAX;
		rc = map_some(pads, slate, at, n, err);
	}
	return rc;
}

int pads_write_once(const struct proc *proc, taddr at, const uint8_t *code, size_t len,
		    struct uspl_err *err)
{
	static const uint8_t empty[GATE_LEN];
	uint8_t have[GATE_LEN];
	int rc = proc_read(proc, at, have, len, err);

	if (rc || !memcmp(have, code, len))
		return rc;
	if (memcmp(have, empty, len))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "other code than this update's lies at 0x%" PRIx64, at);
	return proc_write(proc, at, code, len, err);
}

int pads_write(const struct pads *pads, struct uspl_err *err)
{
	const struct pad *pad;
	int rc = 0;

	vec_for_each (&pads->items, pad)
		rc = rc ? rc : pads_write_once(pads->proc, pad->at, pad->code, pad->len, err);
	return rc;
}

int pads_discard(const struct proc *proc, const struct region *region, struct uspl_err *err)
{
	const struct region_site *site;
	region_vec present = { 0 };
	int rc = regions_read(proc, &present, err);

	vec_for_each (&region->sites, site) {
		taddr first = page_of(site->pad), last = page_of(site->pad + site->pad_len - 1u);
		const struct mapping *map = proc_mapping_at(proc, site->pad);

		if (!rc && site->pad_len && map && map->inode) {
			rc = clear_pad(proc, site, err);
			continue;
		}
		for (taddr page = first; !rc && site->pad_len && page <= last; page += PAGE)
			if (!is_pad_page(&present, page, region))
				rc = inject_unmap(proc, page, PAGE, err);
	}
	regions_release(&present);
	return rc;
}
