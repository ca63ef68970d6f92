// SPDX-License-Identifier: GPL-3.0-or-later
// punned.c - jumps in pages of their own, where entries want them
/*
 * Some places are free and still not taken: what the heap (brk) and the main thread's stack may
 * grow into soon. An allocator finds other memory when brk has come to an end, but not all programs
 * use an allocator.
 */

#include "text/punned.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"

/* What is kept free for the heap and the stack to grow into. */
#define HEAP_ROOM (128ull << 20)
#define STACK_ROOM (128ull << 20)
/* How far behind the program the kernel may begin the heap (arch_randomize_brk). */
#define HEAP_RANDOM (32ull << 20)
/* Lower addresses aren't for programs (vm.mmap_min_addr). */
#define LOWEST 0x10000ull
/* Punned trampolines that may lie anywhere lie at multiples of this. */
#define PUNNED_STEP 16ull

static taddr page_of(taddr addr)
{
	return addr & ~(PAGE - 1);
}

int punned_open(struct punned *punned, const struct proc *proc, const module_vec *modules,
		struct uspl_err *err)
{
	*punned = (struct punned){ .proc = proc, .modules = modules };
	return regions_read(proc, &punned->present, err);
}

void punned_release(struct punned *punned)
{
	regions_release(&punned->present);
	vec_release(&punned->items);
	vec_release(&punned->pages);
}

/* True if the record of a region, other than one, names a punned trampoline on the page. */
static bool is_punned_page(const region_vec *present, taddr page, const struct region *but)
{
	const struct region *region;
	const struct region_site *site;

	vec_for_each (present, region)
		vec_for_each (&region->sites, site)
			if (site->punned_len && site->punned + site->punned_len > page &&
			    site->punned < page + PAGE && (!but || region->self != but->self))
				return true;
	return false;
}

static bool is_planned(const struct punned *punned, taddr page)
{
	const taddr *planned;

	vec_for_each (&punned->pages, planned)
		if (*planned == page)
			return true;
	return false;
}

static int fail_place(const struct region_site *site, taddr at, const char *why,
		      struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the punned trampoline of '%s' would have to lie at 0x%" PRIx64 ", %s",
			 site->name, at, why);
}

/* No other punned trampoline, planned or there, may have a byte in common with this one. */
static int check_overlap(const struct punned *punned, const struct region_site *site,
			 const struct punned_trampoline *pun, struct uspl_err *err)
{
	uint8_t have[PUNNED_MAX] = { 0 };
	static const uint8_t empty[PUNNED_MAX];
	const struct punned_trampoline *other;

	vec_for_each (&punned->items, other)
		if (other->at < pun->at + pun->len && pun->at < other->at + other->len)
			return fail_place(site, pun->at, "where another one is planned", err);
	proc_read_some(punned->proc, pun->at, have, pun->len);
	if (memcmp(have, empty, pun->len) && memcmp(have, pun->code, pun->len))
		return fail_place(site, pun->at, "where another one is", err);
	return 0;
}

static int check_page(const struct punned *punned, const struct region_site *site, taddr page,
		      struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(punned->proc, page);
	const struct module *module;
	taddr heap = 0;

	/* A program's own page may hold a punned trampoline behind the code. */
	if (map && (map->inode || !is_punned_page(&punned->present, page, NULL)))
		return fail_place(site, page, "which is taken", err);
	if (map)
		return 0;
	/* Where the heap ends; where it may begin if there is none yet. */
	vec_for_each (punned->modules, module)
		if (module->is_main)
			heap = module->end + HEAP_RANDOM;
	vec_for_each (&punned->proc->maps, map)
		if (!strcmp(map->path, "[heap]"))
			heap = map->end;
	if (page >= heap - HEAP_RANDOM && page < heap + HEAP_ROOM)
		return fail_place(site, page, "where the heap grows", err);
	vec_for_each (&punned->proc->maps, map)
		if (!strcmp(map->path, "[stack]") && page < map->start &&
		    page + STACK_ROOM > map->start)
			return fail_place(site, page, "where the stack grows", err);
	return 0;
}

static int add_item(struct punned *punned, struct region_site *site,
		    const struct punned_trampoline *pun, struct uspl_err *err)
{
	struct punned_trampoline *item = vec_push(&punned->items);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *pun;
	site->punned = pun->at;
	site->punned_len = pun->len;
	return 0;
}

int punned_add(struct punned *punned, struct region_site *site, taddr at, taddr to,
	       struct uspl_err *err)
{
	struct punned_trampoline pun = { .at = at };
	taddr first = page_of(at), last;
	int rc;

	pun.len = (uint8_t)trampoline_encode_punned(at, to, pun.code);
	last = page_of(at + pun.len - 1);
	rc = check_overlap(punned, site, &pun, err);
	if (rc)
		return rc;
	for (taddr page = first; page <= last; page += PAGE) {
		rc = check_page(punned, site, page, err);
		if (rc)
			return rc;
	}
	for (taddr page = first; page <= last; page += PAGE) {
		taddr *item;

		if (proc_mapping_at(punned->proc, page) || is_planned(punned, page))
			continue;
		item = vec_push(&punned->pages);
		if (!item)
			return uspl_fail_nomem(err);
		*item = page;
	}
	return add_item(punned, site, &pun, err);
}

taddr punned_next(const struct punned *punned, taddr at)
{
	taddr page = page_of(at);

	if (is_planned(punned, page) || is_punned_page(&punned->present, page, NULL))
		return (at & ~(PUNNED_STEP - 1)) + PUNNED_STEP;
	return page + PAGE;
}

static bool is_near(const struct region_site *site, taddr at)
{
	uint64_t reach = arch_native()->reach;

	return at >= site->addr ? at - site->addr < reach : site->addr - at < reach;
}

/* Adds it in a page that has punned trampolines, or is to have some. */
static bool add_in_page(struct punned *punned, struct region_site *site, taddr page, taddr to)
{
	for (taddr at = page; at < page + PAGE; at += PUNNED_STEP)
		if (is_near(site, at) && punned_add(punned, site, at, to, NULL) == 0)
			return true;
	return false;
}

static bool add_beside(struct punned *punned, struct region_site *site, taddr to)
{
	const struct region_site *theirs;
	const struct region *region;

	if (site->punned_len && is_near(site, site->punned) &&
	    punned_add(punned, site, site->punned, to, NULL) == 0)
		return true;
	for (size_t i = 0; i < punned->pages.n; i++)
		if (add_in_page(punned, site, punned->pages.items[i], to))
			return true;
	vec_for_each (&punned->present, region)
		vec_for_each (&region->sites, theirs)
			if (theirs->punned_len &&
			    add_in_page(punned, site, page_of(theirs->punned), to))
				return true;
	return false;
}

/* Behind the code of the site's own module, where its last page isn't full. */
static bool add_in_padding(struct punned *punned, struct region_site *site, taddr to)
{
	const struct module *module = module_at(punned->modules, site->addr);
	taddr start, end;

	if (!module || !agent_spare(punned->proc, module, &start, &end))
		return false;
	for (taddr at = start; at + PUNNED_STEP <= end; at += PUNNED_STEP) {
		struct punned_trampoline pun = { .at = at };

		pun.len = (uint8_t)trampoline_encode_punned(at, to, pun.code);
		if (is_near(site, at) && check_overlap(punned, site, &pun, NULL) == 0 &&
		    add_item(punned, site, &pun, NULL) == 0)
			return true;
	}
	return false;
}

int punned_add_near(struct punned *punned, struct region_site *site, taddr to, struct uspl_err *err)
{
	const struct mapping *map;
	taddr from = LOWEST, most = page_of(site->addr + arch_native()->reach);

	if (add_beside(punned, site, to))
		return 0;
	/* The last page of a gap between mappings, as far as that is within reach. */
	vec_for_each (&punned->proc->maps, map) {
		taddr end = map->start < most ? map->start : most;

		if (end > from && is_near(site, end - PAGE) &&
		    punned_add(punned, site, end - PAGE, to, NULL) == 0)
			return 0;
		from = map->end;
	}
	if (add_in_padding(punned, site, to))
		return 0;
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "no page within reach of '%s' is free for a jump to its new code",
			 site->name);
}

/*
 * Some pages, at most INJECT_MAX. An old kernel that doesn't know MAP_FIXED_NOREPLACE (Linux 4.17)
 * maps them elsewhere.
 */
static int map_some(const struct punned *punned, taddr result_page, size_t first, size_t n,
		    struct uspl_err *err)
{
	const struct inject_choice choice = { .result_page = result_page };
	struct inject_req reqs[INJECT_MAX];
	size_t done;
	int rc;

	for (size_t i = 0; i < n; i++)
		reqs[i] = inject_mmap(punned->pages.items[first + i], PAGE, PROT_READ | PROT_EXEC,
				      MAP_PRIVATE | MAP_FIXED_NOREPLACE);
	rc = inject_run_in(punned->proc, &choice, reqs, n, &done, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (i < done && (taddr)reqs[i].result == punned->pages.items[first + i])
			continue;
		for (size_t mapped = 0; mapped < first + i; mapped++)
			if (inject_unmap(punned->proc, punned->pages.items[mapped], PAGE, NULL) !=
			    0)
				log_info("trampoline",
					 "a page of punned trampolines stays in pid %d",
					 punned->proc->pid);
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "no page for a punned trampoline at 0x%" PRIx64,
				 punned->pages.items[first + i]);
	}
	return 0;
}

int punned_map(const struct punned *punned, taddr result_page, struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0, n; at < punned->pages.n; at += n) {
		n = punned->pages.n - at < INJECT_MAX ? punned->pages.n - at : INJECT_MAX;
		rc = map_some(punned, result_page, at, n, err);
		if (rc)
			return rc;
	}
	return 0;
}

int punned_write_once(const struct proc *proc, taddr at, const uint8_t *code, size_t len,
		      struct uspl_err *err)
{
	static const uint8_t empty[TRAMPOLINE_LEN_MAX];
	uint8_t have[TRAMPOLINE_LEN_MAX];
	int rc = proc_read(proc, at, have, len, err);

	if (rc || !memcmp(have, code, len))
		return rc;
	if (memcmp(have, empty, len))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "other code than this update's lies at 0x%" PRIx64, at);
	return proc_write(proc, at, code, len, err);
}

int punned_write(const struct punned *punned, struct uspl_err *err)
{
	const struct punned_trampoline *pun;
	int rc = 0;

	vec_for_each (&punned->items, pun) {
		rc = punned_write_once(punned->proc, pun->at, pun->code, pun->len, err);
		if (rc)
			return rc;
	}
	return 0;
}

int punned_discard(const struct proc *proc, const struct region *region, struct uspl_err *err)
{
	static const uint8_t empty[PUNNED_MAX];
	const struct region_site *site;
	auto_regions region_vec present = { 0 };
	int rc = regions_read(proc, &present, err);

	if (rc)
		return rc;
	vec_for_each (&region->sites, site) {
		taddr first = page_of(site->punned),
		      last = page_of(site->punned + site->punned_len - 1u);
		const struct mapping *map = proc_mapping_at(proc, site->punned);

		if (!site->punned_len)
			continue;
		/* Behind a program's own code: the rest of the page is empty again. */
		if (map && map->inode) {
			rc = proc_write(proc, site->punned, empty, site->punned_len, err);
			if (rc)
				return rc;
			continue;
		}
		for (taddr page = first; page <= last; page += PAGE) {
			if (is_punned_page(&present, page, region))
				continue;
			rc = inject_unmap(proc, page, PAGE, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}
