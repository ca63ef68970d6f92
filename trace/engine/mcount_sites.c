// SPDX-License-Identifier: GPL-3.0-or-later
// mcount_sites.c - the calls of a profiler that a compiler has put into every function
/*
 * A call of an imported function goes through a slot: directly (call *slot), or by a stub that
 * jumps through it (call stub; stub: jmp *slot). The dynamic relocations tell which function the
 * slot is for, whether it has been bound already or not.
 */

#include "trace/engine/mcount_sites.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/mcount_name.h"

/* The prologue in front of the call: a frame, saved registers, room for locals. */
#define LOOK_BYTES 64
#define STUB_BYTES 16

int mcount_sites_find(const struct proc *proc, const struct module *module,
		      const struct image *image, struct mcount_sites *ret, struct uspl_err *err)
{
	auto_mcount_sites struct mcount_sites mcount_sites = { 0 };
	auto_dynsyms struct dynsyms *dyn = NULL;
	const struct image_sym *sym;
	int rc = dynsyms_open(proc, module, &dyn, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < MCOUNT_NAMES; i++)
		if (!dynsyms_slots(dyn, mcount_name(i), &mcount_sites.slots))
			return uspl_fail_nomem(err);
	vec_for_each (&image->syms, sym) {
		taddr *place;

		if (!is_mcount_name(sym->name))
			continue;
		place = vec_push(&mcount_sites.functions);
		if (!place)
			return uspl_fail_nomem(err);
		*place = sym->addr;
	}
	*ret = mcount_sites;
	mcount_sites = (struct mcount_sites){ 0 };
	return 0;
}

void mcount_sites_release(struct mcount_sites *mcount_sites)
{
	vec_release(&mcount_sites->slots);
	vec_release(&mcount_sites->functions);
}

static bool holds(const slot_vec *addrs, taddr addr)
{
	for (size_t i = 0; i < addrs->n; i++)
		if (addrs->items[i] == addr)
			return true;
	return false;
}

/* True if an indirect branch of that kind at `at` goes through one of the slots. */
static bool goes_through(const struct mcount_sites *mcount_sites, const uint8_t *code,
			 const struct insn *insn, taddr at)
{
	int32_t disp;

	if (!insn->pc_relative_mem || insn->disp_size != sizeof(disp))
		return false;
	memcpy(&disp, code + insn->disp_off, sizeof(disp));
	return holds(&mcount_sites->slots, at + insn->len + (taddr)(int64_t)disp);
}

static bool is_call(const struct mcount_sites *mcount_sites, const struct image *image,
		    const uint8_t *code, const struct insn *insn, taddr at)
{
	const uint8_t *stub;
	struct insn jump;
	taddr target;
	size_t mark;

	if (insn->flow == INSN_CALL_INDIRECT)
		return goes_through(mcount_sites, code, insn, at);
	if (insn->flow != INSN_CALL)
		return false;
	target = at + insn->len + (taddr)insn->rel;
	if (holds(&mcount_sites->functions, target))
		return true;
	/* A stub that jumps through one of the slots. */
	stub = image_bytes(image, target, STUB_BYTES);
	mark = stub ? arch_native()->landing_mark(stub, STUB_BYTES) : 0;
	return stub && arch_native()->insn_decode(stub + mark, STUB_BYTES - mark, &jump) &&
	       jump.flow == INSN_JUMP_INDIRECT &&
	       goes_through(mcount_sites, stub + mark, &jump, target + mark);
}

taddr mcount_sites_call_in(const struct mcount_sites *mcount_sites, const struct image *image,
			   taddr entry, uint64_t size, uint8_t *ret_len)
{
	uint64_t len = size < LOOK_BYTES ? size : LOOK_BYTES, at = 0;
	const uint8_t *code = image_bytes(image, entry, len);
	struct insn insn;

	if (!mcount_sites->slots.n && !mcount_sites->functions.n)
		return 0;
	/* In front of it stand no branches: it is the first thing that a function does. */
	while (code && at < len && arch_native()->insn_decode(code + at, len - at, &insn)) {
		if (is_call(mcount_sites, image, code + at, &insn, entry + at)) {
			*ret_len = insn.len;
			return entry + at;
		}
		if (insn.flow != INSN_PLAIN)
			return 0;
		at += insn.len;
	}
	return 0;
}
