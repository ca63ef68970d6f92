/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trampoline.h - code that leads to an old function or to its new one, as a selector in memory says
 *
 * docs/transition.md has the protocol. A trampoline is TRAMPOLINE_LEN bytes of code for one
 * function:
 *
 *     read the selector:
 *       OLD    -> the function's first instruction, moved here; then to its second one
 *       NEW    -> the new function
 *       else   -> read the selector that decides, which may be the same one:
 *         OLD, NEW          -> as above
 *         HOLD_* with DRAIN -> what a lapse would lead to, if the stack pointer lies in one of the
 *                              ranges behind that selector; else
 *         HOLD_*            -> wait until it is neither; if a commit byte stands beside it, swap
 *                              both for what that says; if its `turns` turns of waiting are over,
 *                              swap it back to what it was; begin anew
 *         BY_THREAD         -> what it is to become, unless the thread has a slot behind that
 *                              selector and is in the call that the slot tells of: then the other
 *                              code. Only trampolines of TRAMPOLINE_LEN_BY_THREAD bytes know that
 *
 * It changes no register and no flag that is live at a function's entry, and nothing on the stack.
 */
#ifndef USPL_ARCH_TRAMPOLINE_H
#define USPL_ARCH_TRAMPOLINE_H

#include "base/error.h"

enum {
	TRAMPOLINE_LEN = 256,           /* bytes of one trampoline, with room */
	TRAMPOLINE_LEN_BY_THREAD = 384, /* of one that knows BY_THREAD */
	TRAMPOLINE_LEN_MAX = TRAMPOLINE_LEN_BY_THREAD,
	/* how many bytes of old code are wanted, at most: one instruction */
	TRAMPOLINE_OLD_MAX = 15,
	PUNNED_MAX = 14,         /* the longest punned trampoline */
	TRAMPOLINE_N_PARTS = 3,  /* of a trampoline, that lead to old code, or to new code */
	TRAMPOLINE_N_EITHER = 2, /* of a trampoline, that lead to the one or to the other */
};

/* What a trampoline is made of. */
struct trampoline_code {
	taddr at;           /* where it will lie */
	taddr selector;     /* struct uspl_selector of its region, include/uspl/abi.h */
	taddr entry;        /* the function */
	taddr new_addr;     /* its replacement */
	const uint8_t *old; /* the bytes at entry */
	size_t old_len;
	bool by_thread; /* it is to know BY_THREAD */
};

/* How long such a trampoline is. */
static inline size_t trampoline_len(bool by_thread)
{
	return by_thread ? TRAMPOLINE_LEN_BY_THREAD : TRAMPOLINE_LEN;
}

/* A part of a trampoline, from its beginning. */
struct trampoline_part {
	uint16_t start, end;
};

/*
 * Where a thread is that has read OLD and isn't in the old function yet, or has read NEW and isn't
 * in the new one yet. A thread at any other place in a trampoline reads the selector again.
 */
extern const struct trampoline_part trampoline_old_parts[TRAMPOLINE_N_PARTS],
	trampoline_new_parts[TRAMPOLINE_N_PARTS];
/*
 * Where a thread is that has read DRAIN or BY_THREAD and finds out what that means for it: it is on
 * its way to the code that the selector led to when it read it, whichever that was. The second
 * array is for trampolines that know BY_THREAD.
 */
extern const struct trampoline_part trampoline_either_parts[2][TRAMPOLINE_N_EITHER];

/*
 * How many bytes the stack pointer is below where it was at the function's entry, for a thread at
 * that place in a trampoline; -1: that isn't known, the function's first instruction has been
 * executed.
 */
int trampoline_depth(size_t offset);
/* The same of a trampoline that knows BY_THREAD. */
int trampoline_depth_by_thread(size_t offset);

/*
 * Writes the trampoline, trampoline_len bytes. USPL_E_UNSUPPORTED, saying why, if the first
 * instruction can't be moved;
 * USPL_E_OUT_OF_REACH if something is too far for its displacement.
 */
int trampoline_encode(const struct trampoline_code *trampoline, uint8_t code[TRAMPOLINE_LEN_MAX],
		      struct uspl_err *err) uspl_must_check;

/*
 * The jump that stands at an entry when only its first byte is replaced: its bytes, and where it
 * leads, which the four bytes after the first one decide. False if that is no address, or if the
 * first byte is the jump's already.
 */
bool trampoline_pun_jump(taddr entry, const uint8_t *old, uint8_t *ret_bytes, taddr *ret_punned);

/*
 * A jump of which only the first `len` bytes are ours to write: what stands behind them, the next
 * function's code, is part of its distance. So it leads to places in [lowest, highest] only.
 */
struct short_jump {
	uint8_t len;
	uint8_t size; /* with what stands behind, at most SHORT_JUMP_MAX */
	uint8_t bytes[4];
	taddr lowest, highest;
};

#define SHORT_JUMP_MAX 8
/*
 * The forms that a jump at the entry has, by number from 0 on: code is what stands there
 * (SHORT_JUMP_MAX bytes), of which `own` (1 to 4) may be changed. Form 0 changes the first byte
 * alone. False: there are no more forms. A form that leads to no address has lowest above highest.
 */
bool trampoline_short_form(taddr entry, const uint8_t code[SHORT_JUMP_MAX], size_t own,
			   unsigned int form, struct short_jump *ret);
/* Makes it lead to `to`, which is one of its places. */
void trampoline_short_aim(struct short_jump *jump, taddr to);

/* How many turns of a trampoline's waiting take about that long here. */
uint32_t trampoline_turns(int64_t ns);

/* Writes a jump of any reach and returns its length, at most PUNNED_MAX. */
size_t trampoline_encode_punned(taddr at, taddr to, uint8_t code[PUNNED_MAX]);

/*
 * Moves the instruction at from (len bytes are known of its code) to to, so that it does there what
 * it would do at from; returns its length at from. *ret_len is its length at to, at most
 * INSN_MOVED_MAX. Execution goes on behind it, unless it jumps. Fails like trampoline_encode.
 */
int insn_move(taddr from, const uint8_t *code, size_t len, taddr to, uint8_t *moved,
	      size_t *ret_len, struct uspl_err *err) uspl_must_check;

#define INSN_MOVED_MAX 32

#endif
