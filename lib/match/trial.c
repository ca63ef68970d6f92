// SPDX-License-Identifier: GPL-3.0-or-later
// trial.c - one attempt to find a piece at an address

#include <inttypes.h>

#include "match/match_internal.h"

static bool own_references_lead_right(struct trial *trial)
{
	struct match_piece here = trial->piece->pub;
	const struct landing *own;

	here.addr = trial->addr;
	vec_for_each (&trial->own, own) {
		if (trial_lands(trial->match, &here, trial->map, own))
			continue;
		trial->at = own->off;
		trial->run_at = own->addr;
		return trial_fail(trial, "a jump or table leads to another place in it");
	}
	return true;
}

/* What others said about where parts of this piece lie. */
static bool landings_agree(struct trial *trial)
{
	struct match_piece here = trial->piece->pub;
	const struct landing *landing;

	here.addr = trial->addr;
	vec_for_each (&trial->piece->landings, landing) {
		if (trial_lands(trial->match, &here, trial->map, landing))
			continue;
		trial->at = landing->off;
		trial->run_at = landing->addr;
		return trial_fail(trial, "other code refers to it at 0x%" PRIx64, landing->addr);
	}
	return true;
}

bool trial_run(struct trial *trial, struct match *match, struct piece *piece, taddr addr)
{
	const struct image_seg *seg = image_seg_at(match->image, addr);

	trial->match = match;
	trial->piece = piece;
	trial->addr = trial->run_at = addr;
	if (piece->broken)
		return trial_fail(trial, "the update's own copy can't be decoded");
	if (!seg || !seg->exec || !seg->bytes)
		return trial_fail(trial, "there is no code at 0x%" PRIx64, addr);
	trial->run = seg->bytes + (addr - seg->start);
	trial->run_len = seg->len - (addr - seg->start);
	if (!code_compare(trial))
		return false;
	/* Tables refer to the piece: their entries count among its own references. */
	return data_compare_pending(trial) && own_references_lead_right(trial) &&
	       landings_agree(trial);
}

void trial_undo(struct trial *trial)
{
	for (size_t i = 0; i < trial->noted.n; i++)
		trial->noted.items[i]->known = false;
	for (size_t i = 0; i < trial->landed_on.n; i++)
		trial->landed_on.items[i]->landings.n--;
}

void trial_commit(struct trial *trial)
{
	struct piece *piece = trial->piece;

	piece->state = PIECE_MATCHED;
	piece->pub.addr = trial->addr;
	piece->pub.len = trial->used;
	piece->map = take_ptr(trial->map);
}

void trial_release(struct trial *trial)
{
	free(trial->map);
	vec_release(&trial->own);
	vec_release(&trial->pending);
	vec_release(&trial->noted);
	vec_release(&trial->landed_on);
}
