// SPDX-License-Identifier: GPL-3.0-or-later
// branches.c - the branches of a process that say what is expected of them

#include "trace/probe/branches.h"

#include <string.h>

#include "arch/arch.h"
#include "record/overlay.h"
#include "trace/probe/mark_notes.h"
#include "trace/probe/marks_internal.h"
#include "uspl/branch.h"

static int add_site(const struct image *image, const struct note *note, taddr addr,
		    struct branches *branches, struct uspl_err *err)
{
	struct uspl_branch_site from;
	struct branch_site site, *place;
	const uint8_t *code;

	if (note->desc_len < sizeof(from))
		return 0;
	memcpy(&from, note->desc, sizeof(from));
	site.site = mark_note_target(addr, from.site, 0);
	site.on = mark_note_target(addr, from.on, offsetof(struct uspl_branch_site, on));
	/* The program's NOP is there, or the jump that a tool has made of it. */
	code = image_bytes(image, site.site, USPL_TRACE_SITE_BYTES);
	if (!mark_note_nop(image, site.site) &&
	    (!code ||
	     arch_native()->jump_target(site.site, code, USPL_TRACE_SITE_BYTES) != site.on))
		return 0;
	place = vec_push(&branches->sites);
	if (!place)
		return uspl_fail_nomem(err);
	*place = site;
	return 0;
}

static int add_count(const struct image *image, const struct note *note, taddr addr,
		     struct branches *branches, struct uspl_err *err)
{
	struct uspl_branch_count from;
	struct branch_count *place;
	char *file;

	if (note->desc_len < sizeof(from))
		return 0;
	memcpy(&from, note->desc, sizeof(from));
	file = mark_note_text(image, mark_note_target(addr, from.file,
						      offsetof(struct uspl_branch_count, file)));
	place = file ? vec_push(&branches->counts) : NULL;
	if (!place) {
		free(file);
		return file ? uspl_fail_nomem(err) : 0;
	}
	place->code = mark_note_target(addr, from.code, 0);
	place->count =
		mark_note_target(addr, from.count, offsetof(struct uspl_branch_count, count));
	place->file = file;
	place->line = from.line;
	place->right = from.right != 0;
	return 0;
}

static int add_note(void *ctx, const struct image *image, const struct note *note, taddr addr,
		    struct uspl_err *err)
{
	if (note_is(note, USPL_MARK_OWNER, USPL_BRANCH_NOTE_SITE))
		return add_site(image, note, addr, ctx, err);
	if (note_is(note, USPL_MARK_OWNER, USPL_BRANCH_NOTE_COUNT))
		return add_count(image, note, addr, ctx, err);
	return 0;
}

int branches_find(const struct proc *proc, const struct module *module, struct branches *ret,
		  struct uspl_err *err)
{
	struct image *image;
	int rc = overlay_image(proc, module, &image, err);

	if (rc)
		return rc;
	rc = mark_notes_each(module, image, add_note, ret, err);
	image_free(image);
	return rc;
}

void branches_release(struct branches *branches)
{
	struct branch_count *count;

	vec_for_each (&branches->counts, count)
		free(count->file);
	vec_release(&branches->counts);
	vec_release(&branches->sites);
}

static int by_count(const void *a, const void *b)
{
	const struct branch_count *x = a, *y = b;

	return x->count < y->count ? -1 : x->count > y->count;
}

/* Counters lie one behind the other, mostly: each run of them is read at once. */
int branches_read(const struct proc *proc, struct branches *branches, struct uspl_err *err)
{
	struct branch_count *counts = branches->counts.items;
	size_t n = branches->counts.n;
	auto_free uint64_t *values = calloc(n + 1, sizeof(*values));
	int rc = values ? 0 : uspl_fail_nomem(err);

	if (n)
		qsort(counts, n, sizeof(*counts), by_count);
	if (rc)
		return rc;
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n &&
			      counts[i + run].count == counts[i].count + run * sizeof(*values);)
			run++;
		rc = proc_read(proc, counts[i].count, values, run * sizeof(*values), err);
		if (rc)
			return rc;
		for (size_t k = 0; k < run; k++)
			counts[i + k].value = values[k];
	}
	return 0;
}

/* The change of one site, if there is one to be made. */
static int add_change(const struct proc *proc, const struct branch_site *site, bool on,
		      mark_changes *changes, struct uspl_err *err)
{
	struct mark_change change = { .addr = site->site }, *place;
	uint8_t now[USPL_TRACE_SITE_BYTES];

	(void)arch_native()->nop_encode(change.from, sizeof(change.from));
	if (!arch_native()->jump_encode(site->site, site->on, change.to) ||
	    proc_read_some(proc, site->site, now, sizeof(now)) != sizeof(now))
		return 0;
	if (!on) {
		memcpy(change.from, change.to, sizeof(change.from));
		(void)arch_native()->nop_encode(change.to, sizeof(change.to));
	}
	/* Switched already; or a function begins there that is traced, or patched. */
	if (memcmp(now, change.from, sizeof(now)) != 0)
		return 0;
	place = vec_push(changes);
	if (!place)
		return uspl_fail_nomem(err);
	*place = change;
	return 0;
}

int branches_switch(struct proc *proc, const module_vec *modules, const struct branches *branches,
		    bool on, struct uspl_err *err)
{
	const struct branch_site *site;
	const mark_counts none = { 0 };
	struct marks_switched switched = { 0 };
	auto_vec mark_changes changes = { 0 };
	int rc = 0;

	vec_for_each (&branches->sites, site) {
		rc = add_change(proc, site, on, &changes, err);
		if (rc)
			return rc;
	}
	if (changes.n)
		return mark_switch(proc, modules, &changes, &none, &switched, err);
	return 0;
}
