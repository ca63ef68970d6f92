// SPDX-License-Identifier: GPL-3.0-or-later
// scan.c - which updates are in which processes

#include "view/scan.h"

#include <string.h>

#include "machine/lookout.h"
#include "machine/census.h"
#include "switch/trampolines.h"

/* What went wrong with a process that wasn't named, and that may have gone in the meantime. */
static int pass_over(struct scan *scan, const struct uspl_err *failure, struct uspl_err *err)
{
	struct uspl_err *note;

	switch (failure->code) {
	case USPL_E_HOSTILE:
	case USPL_E_FORMAT:
		note = vec_push(&scan->notes);
		if (!note)
			return uspl_fail_nomem(err);
		*note = *failure;
		return 0;
	case USPL_E_CANCELLED:
		if (err)
			*err = *failure;
		return -USPL_E_CANCELLED;
	case USPL_E_NOMEM:
		return uspl_fail_nomem(err);
	case USPL_E_PERMISSION:
		scan->skipped++;
		return 0;
	default:
		return 0;
	}
}

static void process_release(struct scan_process *process)
{
	shadow_record_vec *shadows;

	vec_for_each (&process->shadows, shadows)
		shadow_records_release(shadows);
	vec_release(&process->shadows);
	regions_release(&process->regions);
	modules_release(&process->modules);
}

const shadow_record_vec *scan_shadows(const struct scan_process *process,
				      const struct region *region)
{
	return &process->shadows.items[region - process->regions.items];
}

static int read_process(pid_t pid, bool all, struct scan *scan, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	struct scan_process process = { .pid = pid }, *place = NULL;
	shadow_record_vec *shadows;
	struct region *region;
	int rc;

	/* The others were said to be so before. */
	if (!lookout_may(pid))
		return all ? 0 : lookout_fail(pid, 0, err);
	rc = (all ? proc_open_scan : proc_open_readonly)(pid, &proc, err);
	if (rc)
		return rc;
	rc = regions_read(proc, &process.regions, err);
	if (rc || !process.regions.n)
		return rc;
	rc = modules_read(proc, &process.modules, err);
	/* For each update, the modules are searched for new copies of the one it has changed. */
	if (!rc)
		rc = proc_charge(proc, process.regions.n * process.modules.n / 16, 0, err);
	vec_for_each (&process.regions, region) {
		if (rc)
			break;
		shadows = vec_push(&process.shadows);
		rc = shadows ? shadow_records_read(proc, region, shadows, err)
			     : uspl_fail_nomem(err);
	}
	if (!rc)
		place = vec_push(&scan->processes);
	if (!place) {
		process_release(&process);
		if (rc)
			return rc;
		return uspl_fail_nomem(err);
	}
	region_status_find_gone(proc, &process.modules, &process.regions);
	vec_for_each (&process.regions, region)
		if (region_is_interrupted(region))
			region->between =
				trampolines_by_thread(proc, region, &region->threads_left);
	memcpy(process.comm, proc->comm, sizeof(process.comm));
	snprintf(process.user, sizeof(process.user), "%s", proc_owner(proc));
	*place = process;
	return 0;
}

static int read_or_pass_over(struct scan *scan, pid_t pid, struct uspl_err *err)
{
	struct uspl_err failure = { 0 };

	return read_process(pid, true, scan, &failure) ? pass_over(scan, &failure, err) : 0;
}

static bool is_named(const struct selection *sel, pid_t pid)
{
	const pid_t *named;

	vec_for_each (&sel->named, named)
		if (*named == pid)
			return true;
	return false;
}

static int read_selected(const struct selection *sel, struct scan *scan, struct uspl_err *err)
{
	auto_vec census_vec selected = { 0 };
	const struct census_process *process;
	auto_buf struct buf by = { 0 };
	size_t hidden;
	int rc = census_take(sel, &selected, &hidden, err);

	if (rc)
		return rc;
	scan->skipped += hidden;
	vec_for_each (&selected, process) {
		rc = is_named(sel, process->pid) ? 0 : read_or_pass_over(scan, process->pid, err);
		if (rc)
			return rc;
	}
	if (selected.n || sel->named.n)
		return 0;
	selection_describe(sel, &by);
	uspl_fail(err, USPL_E_NO_PROCESS, "there is no process for '%s'", buf_str(&by));
	if (hidden)
		uspl_hint(err, "processes that this user may not read: %zu", hidden);
	return -USPL_E_NO_PROCESS;
}

static int scan_selected(const struct selection *sel, struct scan *scan, struct uspl_err *err)
{
	auto_closedir DIR *dir = NULL;
	const struct dirent *entry;
	const pid_t *pid;
	pid_t found;
	int rc;

	if (selection_is_empty(sel)) {
		dir = opendir("/proc");
		if (!dir)
			return uspl_fail_errno(err, "cannot open '/proc'");
		while ((entry = readdir(dir))) {
			if (cli_pid(entry->d_name, &found, NULL) != 0)
				continue;
			rc = read_or_pass_over(scan, found, err);
			if (rc)
				return rc;
		}
		return 0;
	}
	vec_for_each (&sel->named, pid) {
		struct uspl_err failure = { 0 }, *item;

		if (read_process(*pid, false, scan, &failure) == 0)
			continue;
		item = vec_push(&scan->failures);
		if (!item)
			return uspl_fail_nomem(err);
		*item = failure;
	}
	return selection_narrows(sel) ? read_selected(sel, scan, err) : 0;
}

int scan_processes(const struct selection *sel, struct scan *scan, struct uspl_err *err)
{
	struct uspl_err left, *note;
	pid_t pid;
	int rc = scan_selected(sel, scan, err);

	lookout_end();
	if (rc)
		return rc;
	/* A process that was named has a failure of its own. */
	for (size_t i = 0; (pid = lookout_left(i, &left)); i++) {
		if (is_named(sel, pid))
			continue;
		note = vec_push(&scan->notes);
		if (!note)
			return uspl_fail_nomem(err);
		*note = left;
	}
	return 0;
}

static bool is_same(const struct region *a, const struct region *b)
{
	return region_has_id(a, b->id) && !strcmp(a->description, b->description) &&
	       a->patch_len == b->patch_len && !memcmp(a->patch, b->patch, a->patch_len);
}

static struct scan_update *add_update(struct scan *scan, const struct region *region)
{
	uintptr_t first = (uintptr_t)strmap_get(&scan->by_id, region->id);
	struct scan_update *update = vec_push(&scan->updates);

	if (!update)
		return NULL;
	update->region = region;
	/* The first one stays the one that is looked up: it leads to those that came later. */
	if (first) {
		update->same_id = scan->updates.items[first - 1].same_id;
		scan->updates.items[first - 1].same_id = scan->updates.n;
		update->is_other = true;
	} else if (!strmap_set(&scan->by_id, region->id, (void *)scan->updates.n)) {
		return NULL;
	}
	return update;
}

/* Adds what a process has of the update that `first`, its oldest region, is part of. */
static int add_presence(struct scan *scan, const struct scan_process *process,
			const struct region *first, bool all, struct uspl_err *err)
{
	struct scan_presence presence = { .process = process }, *place;
	uintptr_t at = (uintptr_t)strmap_get(&scan->by_id, first->id);
	struct scan_update *update;
	int rc = region_status_read(&process->modules, &process->regions, first->id,
				    &presence.status, err);

	if (rc)
		return rc;
	if (!presence.status.wanted && !all) {
		region_status_release(&presence.status);
		return 0;
	}
	presence.record = presence.status.regions.n
				  ? presence.status.regions.items[presence.status.regions.n - 1]
				  : first;
	/*
	 * Of updates that share an id the first one is looked up, and leads to the next. Places
	 * count from 1; 0 is none.
	 */
	while (at && !is_same(scan->updates.items[at - 1].region, first))
		at = scan->updates.items[at - 1].same_id;
	update = at ? &scan->updates.items[at - 1] : add_update(scan, first);
	place = update ? vec_push(&update->presences) : NULL;
	if (!place) {
		region_status_release(&presence.status);
		return uspl_fail_nomem(err);
	}
	*place = presence;
	return 0;
}

int scan_group(struct scan *scan, const char *id, bool all, struct uspl_err *err)
{
	const struct scan_process *process;
	const struct region *region, *earlier;

	vec_for_each (&scan->processes, process)
		vec_for_each (&process->regions, region) {
			int rc;

			if (id && !region_has_id(region, id))
				continue;
			for (earlier = process->regions.items; earlier < region; earlier++)
				if (region_has_id(earlier, region->id))
					break;
			if (earlier < region)
				continue;
			rc = add_presence(scan, process, region, all, err);
			if (rc)
				return rc;
		}
	return 0;
}

void scan_release(struct scan *scan)
{
	struct scan_presence *presence;
	struct scan_process *process;
	struct scan_update *update;

	vec_for_each (&scan->updates, update) {
		vec_for_each (&update->presences, presence)
			region_status_release(&presence->status);
		vec_release(&update->presences);
	}
	vec_release(&scan->updates);
	strmap_release(&scan->by_id);
	vec_for_each (&scan->processes, process)
		process_release(process);
	vec_release(&scan->processes);
	vec_release(&scan->failures);
	vec_release(&scan->notes);
}
