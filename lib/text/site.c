// SPDX-License-Identifier: GPL-3.0-or-later
// site.c - bytes of instruction slots, and changing many of them at once

#include "text/site.h"

#include <inttypes.h>
#include <string.h>

#include "proc/private_pages.h"

/*
 * Sites of one page are written together: one system call for each page of code, not for each site,
 * and the kernel makes it as a whole. Where there are sites on page after page, these pages are
 * written by one call, from the first one's beginning to the last one's end: 0.8 us a page. One by
 * one the pages take 1.8 us each, and twice that if they aren't whole.
 */
#define PIECE_PAGES 64

bool site_needs_stop(const struct site *site)
{
	return site->guard > 1 || site->addr % WORD_LEN + site->len > WORD_LEN;
}

int site_plan_add(struct site_plan *plan, const struct site *site, struct uspl_err *err)
{
	struct site *item = vec_push(&plan->sites);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *site;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void hex(char *out, const uint8_t *bytes, size_t len)
{
	*out = '\0';
	for (size_t i = 0; i < len; i++)
		snprintf(out + 3 * i, 4, i + 1 < len ? "%02x " : "%02x", bytes[i]);
}

static int fail_overwritten(const struct site *site, const uint8_t *have, struct uspl_err *err)
{
	char have_hex[3 * SITE_BYTES_MAX + 1], want_hex[3 * SITE_BYTES_MAX + 1];

	hex(have_hex, have, site->len);
	hex(want_hex, site->from, site->len);
	uspl_fail(err, USPL_E_OVERWRITTEN,
		  "the entry of '%s' at 0x%" PRIx64 " holds '%s', not '%s' as expected", site->name,
		  site->addr, have_hex, want_hex);
	uspl_hint(err, have[0] == 0xcc
			       ? "a debugger or uprobe has a breakpoint there; remove it first"
			       : "another tool or a newer update has changed it; undo that first");
	return -USPL_E_OVERWRITTEN;
}

/* One more piece, with the memory of an earlier one if there was one. NULL: out of memory. */
static struct site_piece *new_piece(struct site_plan *plan)
{
	struct site_piece *piece;

	if (plan->pieces.n < plan->kept)
		return &plan->pieces.items[plan->pieces.n++];
	piece = vec_push(&plan->pieces);
	if (piece)
		plan->kept = plan->pieces.n;
	return piece;
}

/* Makes a piece of n sites, sorted by address. */
static int add_piece(struct site_plan *plan, const struct site *sites, size_t n,
		     struct uspl_err *err)
{
	taddr end = sites[n - 1].addr + sites[n - 1].len;
	/* Whole words, or, if it is of several pages, whole pages. */
	uint64_t unit = n > 1 && (end - 1) / PAGE != sites[0].addr / PAGE ? PAGE : WORD_LEN;
	struct site_piece *piece = new_piece(plan);
	int rc;

	if (!piece)
		return uspl_fail_nomem(err);
	piece->addr = sites[0].addr & ~(unit - 1);
	piece->len = (size_t)(((end + unit - 1) & ~(unit - 1)) - piece->addr);
	if (piece->room < piece->len) {
		free(piece->before);
		piece->before = malloc(3 * piece->len);
		piece->room = piece->before ? piece->len : 0;
	}
	if (!piece->before)
		return uspl_fail_nomem(err);
	piece->after = piece->before + piece->len;
	piece->now = piece->after + piece->len;
	rc = proc_read(plan->proc, piece->addr, piece->before, piece->len, err);
	if (rc)
		return rc;
	memcpy(piece->after, piece->before, piece->len);
	memcpy(piece->now, piece->before, piece->len); /* so that its pages are there in the stop */
	for (size_t i = 0; i < n; i++) {
		const struct site *site = &sites[i];
		size_t at = (size_t)(site->addr - piece->addr);
		const uint8_t *have = piece->before + at;

		if (memcmp(have, site->from, site->len) &&
		    !(site->has_trampoline && !memcmp(have, site->trampoline, site->len)) &&
		    !(plan->either && !memcmp(have, site->to, site->len)))
			return fail_overwritten(site, have, err);
		memcpy(piece->after + at, site->to, site->len);
	}
	return 0;
}

/*
 * True if a site goes into the piece from the first one to `last`: pieces have no page in common.
 */
static bool goes_on(const struct site *first, const struct site *last, const struct site *site)
{
	taddr page = site->addr / PAGE;

	return page == (last->addr + last->len - 1) / PAGE ||
	       (site->addr - last->addr < PAGE && page - first->addr / PAGE < PIECE_PAGES);
}

int site_plan_check_these(struct site_plan *plan, const struct site *sites, size_t n,
			  struct uspl_err *err)
{
	size_t first = 0;
	int rc;

	for (size_t i = 1; i <= n; i++) {
		if (i < n && goes_on(&sites[first], &sites[i - 1], &sites[i]))
			continue;
		rc = add_piece(plan, sites + first, i - first, err);
		if (rc)
			return rc;
		first = i;
	}
	return 0;
}

int site_plan_check(struct site_plan *plan, struct uspl_err *err)
{
	struct site *sites = plan->sites.items;

	/* As a rule they are in order of address already. */
	for (size_t i = 1; i < plan->sites.n; i++) {
		if (sites[i - 1].addr <= sites[i].addr)
			continue;
		qsort(sites, plan->sites.n, sizeof(*sites), by_addr);
		break;
	}
	return site_plan_check_these(plan, sites, plan->sites.n, err);
}

/* Notes a byte of the code if its page isn't the process's own. */
static int look_at(struct site_plan *plan, struct private_run *owned, taddr addr, uint8_t byte,
		   struct uspl_err *err)
{
	const struct site_piece *last = &plan->pieces.items[plan->pieces.n - 1];
	size_t n = (last->addr + last->len - 1) / PAGE - addr / PAGE + 1;
	struct site_byte *item;

	if (*private_page(owned, plan->proc, addr, n))
		return 0;
	item = vec_push(&plan->foreign);
	if (!item)
		return uspl_fail_nomem(err);
	*item = (struct site_byte){ addr, byte };
	return 0;
}

int site_plan_look(struct site_plan *plan, struct uspl_err *err)
{
	const struct site_piece *piece;
	struct private_run owned = { 0 };

	plan->looked = false;
	plan->foreign.n = 0;
	vec_for_each (&plan->pieces, piece) {
		taddr at = piece->addr, end = piece->addr + piece->len;

		for (; at < end; at = (at & ~(PAGE - 1)) + PAGE) {
			int rc = look_at(plan, &owned, at, piece->before[at - piece->addr], err);

			if (rc)
				return rc;
		}
	}
	plan->looked = true;
	return 0;
}

int site_plan_prepare(struct site_plan *plan, struct uspl_err *err)
{
	const struct site_byte *byte;
	int rc = plan->looked ? 0 : site_plan_look(plan, err);

	if (rc)
		return rc;
	vec_for_each (&plan->foreign, byte) {
		rc = proc_write(plan->proc, byte->addr, &byte->value, 1, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* True if memory holds exactly these bytes. */
static bool holds(const struct proc *proc, const struct site_piece *piece, const uint8_t *bytes)
{
	return proc_read_some(proc, piece->addr, piece->now, piece->len) == piece->len &&
	       !memcmp(piece->now, bytes, piece->len);
}

/*
 * The first piece of which memory doesn't hold what it had, or is to have; NULL if there is none.
 */
static const struct site_piece *find_other(const struct site_plan *plan, bool after)
{
	struct proc_piece reads[PROC_PIECES_MAX];
	const struct site_piece *pieces = plan->pieces.items;
	size_t n;

	for (size_t at = 0; at < plan->pieces.n; at += n) {
		bool all_read;

		for (n = 0; n < PROC_PIECES_MAX && at + n < plan->pieces.n; n++)
			reads[n] = (struct proc_piece){ pieces[at + n].addr, pieces[at + n].len,
							pieces[at + n].now };
		all_read = proc_read_pieces(plan->proc, reads, n);
		for (size_t i = at; i < at + n; i++) {
			const uint8_t *bytes = after ? pieces[i].after : pieces[i].before;

			if (all_read ? memcmp(pieces[i].now, bytes, pieces[i].len)
				     : !holds(plan->proc, &pieces[i], bytes))
				return &pieces[i];
		}
	}
	return NULL;
}

int site_plan_restore(struct site_plan *plan, struct uspl_err *err)
{
	for (; plan->written; plan->written--) {
		const struct site_piece *piece = &plan->pieces.items[plan->written - 1];
		int rc = proc_write(plan->proc, piece->addr, piece->before, piece->len, err);

		if (!rc)
			rc = proc_read(plan->proc, piece->addr, piece->now, piece->len, err);
		/* In a process that has ended there is nothing to put back. */
		if (rc == -USPL_E_NO_PROCESS)
			return rc;
		if (!rc && !memcmp(piece->now, piece->before, piece->len))
			continue;
		uspl_fail(err, USPL_E_STRANDED,
			  "cannot put back the code at 0x%" PRIx64 " of pid %d", piece->addr,
			  plan->proc->pid);
		uspl_hint(err, "some functions are the old ones, some the new ones: "
			       "restart the process when you can");
		return -USPL_E_STRANDED;
	}
	return 0;
}

int site_plan_write(struct site_plan *plan, struct uspl_err *err)
{
	const struct site_piece *piece = find_other(plan, false);
	int rc = 0, restored;

	plan->written = 0;
	if (piece) {
		/* Or the process has ended, and there is nothing to be read. */
		rc = proc_read(plan->proc, piece->addr, piece->now, piece->len, err);
		if (rc)
			return rc;
		return uspl_fail(err, USPL_E_OVERWRITTEN,
				 "the code at 0x%" PRIx64 " of pid %d changed meanwhile",
				 piece->addr, plan->proc->pid);
	}
	for (size_t i = 0; !rc && i < plan->pieces.n; i++) {
		piece = &plan->pieces.items[i];
		plan->written++;
		rc = proc_write(plan->proc, piece->addr, piece->after, piece->len, err);
	}
	restored = rc ? site_plan_restore(plan, err) : 0;
	return restored ? restored : rc;
}

int site_plan_confirm(const struct site_plan *plan, struct uspl_err *err)
{
	const struct site_piece *piece = find_other(plan, true);

	return piece ? uspl_fail(err, USPL_E_SYSTEM,
				 "the code at 0x%" PRIx64 " of pid %d doesn't stay as written",
				 piece->addr, plan->proc->pid)
		     : 0;
}

int site_plan_switch(struct site_plan *plan, struct uspl_err *err)
{
	int rc = site_plan_write(plan, err), restored;

	if (rc)
		return rc;
	rc = site_plan_confirm(plan, err);
	restored = rc ? site_plan_restore(plan, err) : 0;
	return restored ? restored : rc;
}

void site_plan_clear(struct site_plan *plan)
{
	plan->sites.n = 0;
	plan->pieces.n = 0;
	plan->foreign.n = 0;
	plan->looked = false;
	plan->written = 0;
}

void site_plan_release(struct site_plan *plan)
{
	for (size_t i = 0; i < plan->kept; i++)
		free(plan->pieces.items[i].before);
	plan->kept = 0;
	vec_release(&plan->pieces);
	vec_release(&plan->foreign);
	vec_release(&plan->sites);
}
