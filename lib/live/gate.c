// SPDX-License-Identifier: GPL-3.0-or-later
// gate.c - the gates of an update: planned, and brought into the process
/*
 * Where the four bytes behind an entry's first one lead decides where its pad must be: any place
 * within 2 GB of the function. A page is mapped there, if the place is free, and kept: a thread may
 * be on its way through it for as long as it likes. Pads of several functions and updates share
 * pages. A page belongs to us if the record of an update names a pad in it.
 *
 * Some places are free and still not taken: what the heap (brk) and the main thread's stack may
 * grow into soon. An allocator finds other memory when brk has come to an end, but not all programs
 * use an allocator.
 */

#include "live/gate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/log.h"
#include "proc/inject.h"

#define PAGE 4096ull
/* What the heap keeps free for growing, and the stack. */
#define HEAP_ROOM (128ull << 20)
#define STACK_ROOM (128ull << 20)
/* How far behind the program the kernel may begin the heap (arch_randomize_brk). */
#define HEAP_RANDOM (32ull << 20)

/* Each pad is held against all others. */
#define SITES_MAX 4096

uint64_t gates_room(const struct region *region)
{
	return (region->sites.n * GATE_LEN + PAGE - 1) / PAGE * PAGE + GATES_WORD_LEN;
}

void gates_place(struct region *region, taddr at)
{
	region->gates = at;
	region->gates_len = gates_room(region) - GATES_WORD_LEN;
	region->word = at + region->gates_len;
}

void gates_take_over(struct region *region, const struct region *old)
{
	for (size_t i = 0; i < region->sites.n && i < old->sites.n; i++) {
		const struct region_site *from = &old->sites.items[i];
		struct region_site *to = &region->sites.items[i];

		to->entry = from->entry;
		to->pad = from->pad;
		to->pad_len = from->pad_len;
	}
}

taddr gate_address(const struct region *region, const struct region_site *site)
{
	return region->gates + (taddr)(site - region->sites.items) * GATE_LEN;
}

static taddr page_of(taddr addr)
{
	return addr & ~(PAGE - 1);
}

static bool in_one_word(const struct region_site *site)
{
	return site->addr % 8 + site->len <= 8;
}

bool gates_jump(const struct region *region, const struct region_site *site,
		uint8_t bytes[USPL_SITE_BYTES_MAX])
{
	taddr pad;

	if (site->entry == USPL_ENTRY_PUN)
		return gate_pun(site->addr, site->old_bytes, bytes, &pad);
	return site->entry == USPL_ENTRY_STORE &&
	       arch_native()->jump_encode(site->addr, gate_address(region, site), bytes);
}

/* Where the heap ends; where it may begin if there is none yet. */
static taddr heap_end(const struct gates *gates)
{
	const struct module *program = module_main(gates->modules);
	taddr end = program ? program->end + HEAP_RANDOM : 0;
	const struct mapping *map;

	vec_for_each (&gates->proc->maps, map)
		if (!strcmp(map->path, "[heap]"))
			end = map->end;
	return end;
}

/* Why a free page is better left free; NULL if there is no reason. */
static const char *why_not(const struct gates *gates, taddr page)
{
	const struct mapping *map;
	taddr heap = heap_end(gates);

	if (page >= heap - HEAP_RANDOM && page < heap + HEAP_ROOM)
		return "where the heap grows";
	vec_for_each (&gates->proc->maps, map)
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

static bool is_planned(const struct gates *gates, taddr page)
{
	const taddr *planned;

	vec_for_each (&gates->pages, planned)
		if (*planned == page)
			return true;
	return false;
}

static int fail_place(const struct region_site *site, const char *why, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the pad of '%s' would have to lie at 0x%" PRIx64 ", %s", site->name,
			 site->pad, why);
}

/* One page of a pad's place. */
static int plan_page(struct gates *gates, const struct region_site *site, taddr page,
		     struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(gates->proc, page);
	const char *why = map ? NULL : why_not(gates, page);
	taddr *item;

	if (map && !is_pad_page(&gates->present, page, NULL))
		return fail_place(site, "which is taken", err);
	if (why)
		return fail_place(site, why, err);
	if (map || is_planned(gates, page))
		return 0;
	item = vec_push(&gates->pages);
	if (!item)
		return uspl_fail_nomem(err);
	*item = page;
	return 0;
}

/* No pad of ours, nor another's, may have a byte in common with this one. */
static int check_overlap(const struct gates *gates, const struct gate *gate, struct uspl_err *err)
{
	const struct region_site *site = gate->site;
	const struct gate *other;
	uint8_t have[PAD_MAX] = { 0 };
	static const uint8_t empty[PAD_MAX];

	vec_for_each (&gates->items, other)
		if (other != gate && other->site->pad_len &&
		    other->site->pad < site->pad + site->pad_len &&
		    site->pad < other->site->pad + other->site->pad_len)
			return fail_place(site, "where another one is planned", err);
	proc_read_some(gates->proc, site->pad, have, site->pad_len);
	if (memcmp(have, empty, site->pad_len) && memcmp(have, gate->pad, site->pad_len))
		return fail_place(site, "where another one is", err);
	return 0;
}

static int plan_pun(struct gates *gates, struct gate *gate, struct uspl_err *err)
{
	struct region_site *site = gate->site;
	uint8_t bytes[USPL_SITE_BYTES_MAX];
	int rc;

	if (!gate_pun(site->addr, site->old_bytes, bytes, &site->pad))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the first byte of '%s' can't be made a jump", site->name);
	site->entry = USPL_ENTRY_PUN;
	site->pad_len =
		(uint8_t)pad_encode(site->pad, gate_address(gates->region, site), gate->pad);
	rc = check_overlap(gates, gate, err);
	if (!rc)
		rc = plan_page(gates, site, page_of(site->pad), err);
	if (!rc && page_of(site->pad + site->pad_len - 1) != page_of(site->pad))
		rc = plan_page(gates, site, page_of(site->pad + site->pad_len - 1), err);
	return rc;
}

/* By one store: all that is replaced is one instruction, so that nobody can stand inside it. */
static bool plan_store(struct region_site *site, const uint8_t *old, size_t len)
{
	struct insn insn;

	if (!in_one_word(site) || !arch_native()->insn_decode(old, len, &insn) ||
	    insn.len < site->len)
		return false;
	site->entry = USPL_ENTRY_STORE;
	site->pad = site->pad_len = 0;
	return true;
}

/* The bytes at the entry as they were: those behind the jump are still there. */
static int read_old(const struct gates *gates, const struct region_site *site,
		    uint8_t old[GATE_OLD_MAX], size_t *ret_len, struct uspl_err *err)
{
	size_t len = proc_read_some(gates->proc, site->addr, old, GATE_OLD_MAX);

	if (len < site->len)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' can't be read", site->name);
	memcpy(old, site->old_bytes, site->len);
	*ret_len = len;
	return 0;
}

static int plan_gate(struct gates *gates, struct gate *gate, struct uspl_err *err)
{
	struct region_site *site = gate->site;
	uint8_t old[GATE_OLD_MAX];
	struct gate_code code = { .at = gate_address(gates->region, site),
				  .word = gates->region->word,
				  .entry = site->addr,
				  .new_addr = site->new_addr,
				  .old = old };
	int rc = read_old(gates, site, old, &code.old_len, err);

	if (rc)
		return rc;
	rc = gate_encode(&code, gate->code, err);
	if (rc) {
		uspl_context(err, "'%s' can't have a gate", site->name);
		return rc;
	}
	rc = plan_pun(gates, gate, err);
	if (rc == -USPL_E_UNSUPPORTED && plan_store(site, old, code.old_len))
		rc = 0;
	return rc;
}

int gates_plan(struct gates *gates, const struct proc *proc, const module_vec *modules,
	       struct region *region, struct uspl_err *err)
{
	struct region_site *site;
	int rc;

	*gates = (struct gates){ .proc = proc, .modules = modules, .region = region };
	if (!region->gates)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "the update has no room for gates");
	if (region->sites.n > SITES_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions change",
				 SITES_MAX);
	rc = regions_read(proc, &gates->present, err);
	vec_for_each (&region->sites, site) {
		struct gate *gate = rc ? NULL : vec_push(&gates->items);

		if (!gate)
			return rc ? rc : uspl_fail_nomem(err);
		gate->site = site;
		rc = plan_gate(gates, gate, err);
	}
	return rc;
}

void gates_release(struct gates *gates)
{
	regions_release(&gates->present);
	vec_release(&gates->items);
	vec_release(&gates->pages);
}

static int unmap_page(const struct proc *proc, taddr page, struct uspl_err *err)
{
	struct inject_req req = inject_syscall(SYS_munmap, page, PAGE, 0);
	size_t done;

	return inject_run(proc, &req, 1, &done, err);
}

/*
 * Some pages, at most INJECT_MAX. An old kernel that doesn't know MAP_FIXED_NOREPLACE (Linux 4.17)
 * maps them elsewhere.
 */
static int map_some(const struct gates *gates, size_t first, size_t n, struct uspl_err *err)
{
	struct inject_req reqs[INJECT_MAX];
	size_t done;
	int rc;

	for (size_t i = 0; i < n; i++)
		reqs[i] = inject_mmap(gates->pages.items[first + i], PAGE, PROT_READ | PROT_EXEC,
				      MAP_PRIVATE | MAP_FIXED_NOREPLACE);
	rc = inject_run(gates->proc, reqs, n, &done, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (i < done && (taddr)reqs[i].result == gates->pages.items[first + i])
			continue;
		for (size_t mapped = 0; mapped < first + i; mapped++)
			if (unmap_page(gates->proc, gates->pages.items[mapped], NULL) != 0)
				log_info("gate", "a page for pads stays in pid %d",
					 gates->proc->pid);
		return uspl_fail(err, USPL_E_UNSUPPORTED, "no page for a pad at 0x%" PRIx64,
				 gates->pages.items[first + i]);
	}
	return 0;
}

static int map_pages(const struct gates *gates, struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0, n; !rc && at < gates->pages.n; at += n) {
		n = gates->pages.n - at < INJECT_MAX ? gates->pages.n - at : INJECT_MAX;
		rc = map_some(gates, at, n, err);
	}
	return rc;
}

/* Writes len bytes where nothing or the same is; the place is code that somebody may be running. */
static int write_once(const struct gates *gates, taddr at, const uint8_t *code, size_t len,
		      struct uspl_err *err)
{
	static const uint8_t empty[GATE_LEN];
	uint8_t have[GATE_LEN];
	int rc = proc_read(gates->proc, at, have, len, err);

	if (rc || !memcmp(have, code, len))
		return rc;
	if (memcmp(have, empty, len))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "other code than this update's lies at 0x%" PRIx64, at);
	return proc_write(gates->proc, at, code, len, err);
}

int gates_load(struct gates *gates, struct uspl_err *err)
{
	const struct gate *gate;
	int rc = gates->pages.n ? map_pages(gates, err) : 0;

	/* From now on the pages are known to be pads'. A tool that dies before leaves a free page. */
	if (!rc)
		rc = region_write_record(gates->proc, gates->region, err);
	vec_for_each (&gates->items, gate) {
		const struct region_site *site = gate->site;

		if (!rc)
			rc = write_once(gates, gate_address(gates->region, site), gate->code,
					GATE_LEN, err);
		if (!rc && site->pad_len)
			rc = write_once(gates, site->pad, gate->pad, site->pad_len, err);
	}
	return rc;
}

int gates_discard(const struct proc *proc, const struct region *region, struct uspl_err *err)
{
	const struct region_site *site;
	region_vec present = { 0 };
	int rc = regions_read(proc, &present, err);

	vec_for_each (&region->sites, site) {
		taddr first = page_of(site->pad), last = page_of(site->pad + site->pad_len - 1u);

		for (taddr page = first; !rc && site->pad_len && page <= last; page += PAGE)
			if (!is_pad_page(&present, page, region))
				rc = unmap_page(proc, page, err);
	}
	regions_release(&present);
	return rc;
}
