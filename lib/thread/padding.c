// SPDX-License-Identifier: GPL-3.0-or-later
// padding.c - places in a process that nothing uses: the end of a module's last page of constants

#include "thread/padding.h"

#include <stddef.h>
#include <string.h>

#include "proc/module.h"
#include "proc/task.h"
#include "thread/blocked_place.h"

#define MARK "uspl's places, 2"
#define MARK_LEN 16ull
#define PLACE sizeof(struct padding_place)
/* With less it isn't worth while. */
#define PLACES_MIN 4

_Static_assert(sizeof(MARK) - 1 == MARK_LEN, "the mark is as long as it is said to be");
_Static_assert(MARK_LEN + sizeof(((struct padding *)NULL)->places) <= PAGE, "a page has room");

/*
 * What lies between a segment of constants and the end of its last page; false if it's of no use.
 */
static bool look_behind(const struct proc *proc, const struct module *module,
			const Elf64_Phdr *phdr, struct padding *ret)
{
	static const uint8_t zeros[PAGE];
	uint8_t have[PAGE];
	taddr end = phdr->p_vaddr + (uint64_t)module->bias + phdr->p_filesz;
	const struct mapping *map = proc_mapping_at(proc, end - 1);
	taddr at = (end + MARK_LEN - 1) & ~(MARK_LEN - 1), limit = (at + PAGE - 1) & ~(PAGE - 1);

	if (phdr->p_type != PT_LOAD || phdr->p_flags != PF_R || !phdr->p_filesz ||
	    phdr->p_memsz != phdr->p_filesz || !map || !map->read || map->write || map->exec ||
	    map->shared || limit > map->end || limit - at < MARK_LEN + PLACES_MIN * PLACE ||
	    proc_read_some(proc, at, have, limit - at) != limit - at)
		return false;
	/* All zeros, or our mark: then nothing else uses it. */
	if (memcmp(have, MARK, MARK_LEN) != 0 && memcmp(have, zeros, limit - at) != 0)
		return false;
	*ret = (struct padding){ .at = at + MARK_LEN, .n = (limit - at - MARK_LEN) / PLACE };
	memcpy(ret->places, have + MARK_LEN, ret->n * PLACE);
	return proc_write(proc, at, MARK, MARK_LEN, NULL) == 0;
}

bool padding_find(const struct proc *proc, struct padding *ret)
{
	const struct module *module;
	auto_modules module_vec own = { 0 };
	bool found = false;

	/* Only lasting modules are looked at: it doesn't matter when the modules were read. */
	if (!proc->modules && modules_read(proc, &own, NULL) != 0)
		return false;
	vec_for_each (proc->modules ? proc->modules : &own, module) {
		const Elf64_Phdr *phdr;

		vec_for_each (&module->phdrs, phdr)
			found = found || (!module->is_vdso && module->lasting &&
					  look_behind(proc, module, phdr, ret));
	}
	return found;
}

/* A thread that sleeps, and not in a call that goes by that place. */
static bool is_elsewhere(const struct proc *proc, pid_t tid, taddr at)
{
	struct blocked_place place;

	if (!blocked_place_read(proc, tid, &place))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(place.args); i++)
		if (place.args[i] == at)
			return false;
	return true;
}

/* Takes away the places of threads that have ended, or are known to be elsewhere. */
static void reclaim(const struct proc *proc, struct padding *padding)
{
	auto_vec tid_vec tids = { 0 };
	bool kept[PADDING_PLACES];
	const pid_t *tid;

	memcpy(kept, padding->taken, sizeof(kept));
	if (tasks_list(proc, &tids, NULL) != 0)
		return;
	vec_for_each (&tids, tid) {
		uint64_t owner = (uint64_t)task_inner_id(proc, *tid);

		for (size_t i = 0; i < padding->n; i++)
			kept[i] |= owner && padding->places[i].owner == owner &&
				   !is_elsewhere(proc, *tid, padding->at + i * PLACE);
	}
	for (size_t i = 0; i < padding->n; i++)
		if (!kept[i])
			padding->places[i].owner = 0;
}

void padding_keep(struct padding *padding, taddr at)
{
	size_t i = (size_t)(at - padding->at) / PLACE;

	if (at >= padding->at && i < padding->n)
		padding->taken[i] = true;
}

static struct padding_place *find(struct padding *padding, uint64_t owner)
{
	for (size_t i = 0; i < padding->n; i++)
		if (padding->places[i].owner == owner)
			return &padding->places[i];
	return NULL;
}

taddr padding_take(const struct proc *proc, struct padding *padding, pid_t tid)
{
	uint64_t owner = (uint64_t)task_inner_id(proc, tid);
	struct padding_place *place = owner ? find(padding, owner) : NULL;
	taddr at;

	if (owner && !place)
		place = find(padding, 0);
	if (owner && !place) {
		reclaim(proc, padding);
		place = find(padding, 0);
	}
	if (!place)
		return 0;
	at = padding->at + (taddr)(place - padding->places) * PLACE;
	if (place->owner != owner && proc_write(proc, at + offsetof(struct padding_place, owner),
						&owner, sizeof(owner), NULL) != 0)
		return 0;
	place->owner = owner;
	padding_keep(padding, at);
	return at;
}
