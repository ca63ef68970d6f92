// SPDX-License-Identifier: GPL-3.0-or-later
// pending.c - a library that an update changes and the process hasn't loaded

#include "apply/pending.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "apply/load.h"
#include "apply/map_region.h"
#include "base/log.h"

bool pending_is_possible(const struct update_target *target, const module_vec *modules)
{
	const struct module *program = module_main(modules);
	const Elf64_Phdr *phdr;

	if (!program || !update_target_is_library(target))
		return false;
	vec_for_each (&program->phdrs, phdr)
		if (phdr->p_type == PT_INTERP)
			return true;
	/* The dynamic linker itself, run as a command, is the program then. */
	return program->soname != NULL;
}

/* A region that is nothing but its record. */
static int make_record(struct proc *proc, const struct module *near, struct region *region,
		       struct uspl_err *err)
{
	auto_buf struct buf info = { 0 };
	bool taken = true;
	int rc = region_encode(region, &info, err);

	region->info_len = info.len;
	region->map_len = info.len + 2 * PAGE;
	if (rc)
		return rc;
	for (int i = 0; taken && i < MAP_REGION_TRIES; i++) {
		rc = map_region_find(proc, near, region->map_len, &region->map, err);
		region->self = region->map + PAGE;
		if (rc)
			return rc;
		rc = map_region_map(proc, region, NULL, 0, 0, &taken, err);
		if (rc)
			return rc;
		rc = proc_refresh_maps(proc, err);
		if (rc)
			return rc;
	}
	if (taken) {
		rc = map_region_fail_taken(proc, err);
		if (rc)
			return rc;
	}
	rc = region_write_record(proc, region, err);
	if (rc)
		map_region_give_back(proc, region);
	return rc;
}

int pending_note(struct proc *proc, const module_vec *modules, const struct update *update,
		 const struct update_target *target, region_vec *present, pending_vec *noted,
		 struct uspl_err *err)
{
	struct pending *pending = vec_push(noted);
	struct region *region;
	bool known = false;
	int rc = 0;

	if (!pending)
		return uspl_fail_nomem(err);
	region = &pending->region;
	/* The target's record moves from the present ones to the noted ones. */
	for (size_t i = 0; i < present->n && !known; i++) {
		struct region *record = &present->items[i];

		if (!region_has_id(record, update->id) || record->module || record->sites.n ||
		    strcmp(record->module_name, target->name))
			continue;
		*region = *record;
		present->n--;
		memmove(record, record + 1, (present->n - i) * sizeof(*record));
		known = true;
	}
	if (!known) {
		pending->change = PENDING_MADE;
		rc = load_describe(update, target->name, NULL, region, err);
		region->state = USPL_REGION_PENDING;
		region_now(&region->applied_at, &region->order);
		if (!rc)
			rc = make_record(proc, module_main(modules), region, err);
	} else if (region->state != USPL_REGION_PENDING) {
		pending->change = PENDING_REVIVED;
		rc = region_write_state(proc, region, USPL_REGION_PENDING, err);
	}
	if (rc) {
		region_release(region);
		noted->n--;
	}
	return rc;
}

bool pending_is_news(const pending_vec *noted)
{
	const struct pending *pending;

	vec_for_each (noted, pending)
		if (pending->change != PENDING_KEPT)
			return true;
	return false;
}

void pending_take_back(struct proc *proc, pending_vec *noted)
{
	struct pending *pending;

	vec_for_each (noted, pending) {
		if (pending->change == PENDING_MADE)
			map_region_give_back(proc, &pending->region);
		else if (pending->change == PENDING_REVIVED &&
			 region_write_state(proc, &pending->region, USPL_REGION_UNDONE, NULL) != 0)
			log_info("load", "the record at 0x%" PRIx64 " stays pending",
				 pending->region.self);
	}
}

void pending_release(pending_vec *noted)
{
	struct pending *pending;

	vec_for_each (noted, pending)
		region_release(&pending->region);
	vec_release(noted);
}
