// SPDX-License-Identifier: GPL-3.0-or-later
// trial.c - one attempt to find a func at an address

#include <inttypes.h>

#include "match/match_internal.h"

bool trial_run(struct trial *trial, struct match *match, struct func *func, taddr addr)
{
	const struct image_seg *seg = image_seg_at(match->image, addr);
	struct match_func here = func->pub;
	const struct ref_hint *ref;

	trial->match = match;
	trial->func = func;
	trial->addr = trial->run_at = addr;
	if (func->broken)
		return trial_fail(trial, "the update's own copy can't be decoded");
	if (!seg || !seg->exec || !seg->bytes)
		return trial_fail(trial, "there is no code at 0x%" PRIx64, addr);
	trial->run = seg->bytes + (addr - seg->start);
	trial->run_len = seg->len - (addr - seg->start);
	if (!code_compare(trial))
		return false;
	/* Tables refer to the func: their entries count among its own references. */
	if (!data_compare_pending(trial))
		return false;
	here.addr = addr;
	vec_for_each (&trial->own, ref) {
		if (trial_lands(match, &here, trial->map, ref))
			continue;
		trial->at = ref->off;
		trial->run_at = ref->addr;
		return trial_fail(trial, "a jump or table leads to another place in it");
	}
	/* What references from elsewhere said about where parts of this func lie. */
	vec_for_each (&func->ref_hints, ref) {
		if (trial_lands(match, &here, trial->map, ref))
			continue;
		trial->at = ref->off;
		trial->run_at = ref->addr;
		return trial_fail(trial, "other code refers to it at 0x%" PRIx64, ref->addr);
	}
	return true;
}

void trial_undo(struct trial *trial)
{
	for (size_t i = 0; i < trial->noted.n; i++)
		trial->noted.items[i]->known = false;
	for (size_t i = 0; i < trial->hinted_on.n; i++)
		trial->hinted_on.items[i]->ref_hints.n--;
}

void trial_commit(struct trial *trial)
{
	struct func *func = trial->func;

	func->state = FUNC_MATCHED;
	func->pub.addr = trial->addr;
	func->pub.len = trial->used;
	func->map = take_ptr(trial->map);
}

void trial_release(struct trial *trial)
{
	free(trial->map);
	vec_release(&trial->own);
	vec_release(&trial->pending);
	vec_release(&trial->noted);
	vec_release(&trial->hinted_on);
}
