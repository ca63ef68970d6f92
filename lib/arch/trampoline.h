/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trampoline.h - code that leads to an old function or to its new one, as a word in memory says
 *
 * docs/transition.md has the protocol. A gate is GATE_LEN bytes of code for one function:
 *
 *     read the word: OLD    -> the function's first instruction, moved here; then to its second one
 *                    NEW    -> the new function
 *                    else   -> read the word that decides, which may be the same one:
 *                    OLD, NEW -> as above
 *                    HOLD_* with DRAIN -> what a lapse would lead to, if the stack pointer lies
 *                              in one of the ranges behind that word; else
 *                    HOLD_* -> wait until it is neither; if a verdict stands beside it, swap both
 *                              for what that says; if its `turns` turns of waiting are over, swap
 *                              it back to what it was; begin anew
 *
 * It changes no register and no flag that is live at a function's entry, and nothing on the stack.
 */
#ifndef USPL_ARCH_TRAMPOLINE_H
#define USPL_ARCH_TRAMPOLINE_H

#include "base/error.h"

enum {
	GATE_LEN = 256,    /* bytes of one gate, with room */
	GATE_OLD_MAX = 15, /* how many bytes of old code are wanted, at most: one instruction */
	PAD_MAX = 14,      /* the longest pad */
	GATE_N_PARTS = 3,  /* of a gate, that lead to old code, or to new code */
	GATE_N_EITHER = 2, /* of a gate, that lead to the one or to the other */
};

/* What a gate is made of. */
struct gate_code {
	taddr at;           /* where it will lie */
	taddr word;         /* struct uspl_word of its region, include/uspl/abi.h */
	taddr entry;        /* the function */
	taddr new_addr;     /* its replacement */
	const uint8_t *old; /* the bytes at entry */
	size_t old_len;
};

/* A part of a gate, from its beginning. */
struct gate_part {
	uint16_t start, end;
};

/*
 * Where a thread is that has read OLD and isn't in the old function yet, or has read NEW and isn't
 * in the new one yet. A thread at any other place in a gate reads the word again.
 */
extern const struct gate_part gate_old_parts[GATE_N_PARTS], gate_new_parts[GATE_N_PARTS];
/*
 * Where a thread is that has read DRAIN and finds out whether it may pass: it is on its way to the
 * code that the word led to when it read it, whichever that was.
 */
extern const struct gate_part gate_either_parts[GATE_N_EITHER];

/*
 * How many bytes the stack pointer is below where it was at the function's entry, for a thread at
 * that place in a gate; -1: that isn't known, the function's first instruction has been executed.
 */
int gate_depth(size_t offset);

/*
 * Writes the gate. USPL_E_UNSUPPORTED, saying why, if the first instruction can't be moved;
 * USPL_E_OUT_OF_REACH if something is too far for its displacement.
 */
int gate_encode(const struct gate_code *gate, uint8_t code[GATE_LEN],
		struct uspl_err *err) uspl_must_check;

/*
 * The jump that stands at an entry when only its first byte is replaced: its bytes, and where it
 * leads, which the four bytes after the first one decide. False if that is no address, or if the
 * first byte is the jump's already.
 */
bool gate_pun(taddr entry, const uint8_t *old, uint8_t *ret_bytes, taddr *ret_pad);

/*
 * A jump of which only the first `len` bytes are ours to write: what stands behind them, the next
 * function's code, is part of its distance. So it leads to places in [lowest, highest] only.
 */
struct tight_jump {
	uint8_t len;
	uint8_t size; /* with what stands behind, at most TIGHT_MAX */
	uint8_t bytes[4];
	taddr lowest, highest;
};

#define TIGHT_MAX 8
/*
 * The forms that a jump at the entry has, by number from 0 on: code is what stands there (TIGHT_MAX
 * bytes), of which `own` (1 to 4) may be changed. Form 0 changes the first byte alone. False: there
 * are no more forms. A form that leads to no address has lowest above highest.
 */
bool tight_jump_form(taddr entry, const uint8_t code[TIGHT_MAX], size_t own, unsigned int form,
		     struct tight_jump *ret);
/* Makes it lead to `to`, which is one of its places. */
void tight_jump_aim(struct tight_jump *jump, taddr to);

/* How many turns of a gate's waiting take about that long here. */
uint32_t gate_turns(int64_t ns);

/* Writes a jump of any reach and returns its length, at most PAD_MAX. */
size_t pad_encode(taddr at, taddr to, uint8_t code[PAD_MAX]);

/*
 * Moves the instruction at from (len bytes are known of its code) to to, so that it does there what
 * it would do at from; returns its length at from. *ret_len is its length at to, at most
 * INSN_MOVED_MAX. Execution goes on behind it, unless it jumps. Fails like gate_encode.
 */
int insn_move(taddr from, const uint8_t *code, size_t len, taddr to, uint8_t *moved,
	      size_t *ret_len, struct uspl_err *err) uspl_must_check;

#define INSN_MOVED_MAX 32

#endif
