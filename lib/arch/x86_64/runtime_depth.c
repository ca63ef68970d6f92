// SPDX-License-Identifier: GPL-3.0-or-later
// runtime_depth.c - x86-64: where the tracer's runtime keeps its return address, at each
// instruction
/*
 * The runtime (runtime/trace.S) is our own code, of a few kinds of instructions: it moves the stack
 * pointer by push, pop, and `add $N, %rsp` only, and each of its instructions is reached with the
 * stack pointer at one depth. So the depths are found by following all its ways from the places
 * that thunks lead to. tests/unit/runtime_depth_test.c compares them with the processor.
 */

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"
#include "uspl/listen_abi.h"

/* Ways that are known and not followed yet: at most two for each branch. */
#define WAYS_MAX 256

struct walk {
	const uint8_t *code;
	size_t len;
	uint8_t *depths;
	uint16_t ways[WAYS_MAX];
	size_t n_ways;
};

/* The listeners, which the runtime calls and which return: nothing is known of them. */
static bool is_listeners(size_t at)
{
	return at >= USPL_LISTEN_CODE && at < USPL_LISTEN_CODE + USPL_LISTEN_HEAD;
}

/* A way leads to `at` at that depth. False if another one comes there at another depth. */
static bool note(struct walk *walk, size_t at, uint8_t depth)
{
	if (is_listeners(at))
		return true;
	if (at >= walk->len || !(depth & ~TRACE_DEPTH_BACK))
		return false;
	if (walk->depths[at])
		return walk->depths[at] == depth;
	if (walk->n_ways == WAYS_MAX)
		return false;
	walk->depths[at] = depth;
	walk->ways[walk->n_ways++] = (uint16_t)at;
	return true;
}

/* By how many words the instruction moves the stack pointer down. */
static int words_pushed(const struct insn *insn, const uint8_t *bytes)
{
	static const uint8_t add_rsp[] = { 0x48, 0x83, 0xc4 };

	if (insn->op == ZYDIS_MNEMONIC_PUSH)
		return 1;
	if (insn->op == ZYDIS_MNEMONIC_POP)
		return -1;
	if (insn->len == sizeof(add_rsp) + 1 && !memcmp(bytes, add_rsp, sizeof(add_rsp)))
		return -(bytes[sizeof(add_rsp)] / 8);
	return 0;
}

static bool follow(struct walk *walk, size_t at)
{
	uint8_t depth = walk->depths[at];
	struct insn insn;
	size_t next, target;

	/* Where it goes by then is settled, whatever the stack pointer. */
	if (at - (size_t)(uspl_trace_chosen - uspl_trace_begin) <
	    (size_t)(uspl_trace_chosen_end - uspl_trace_chosen))
		return true;
	if (!x86_64_insn_decode(walk->code + at, walk->len - at, &insn))
		return false;
	next = at + insn.len;
	target = next + (size_t)insn.rel;
	switch (insn.flow) {
	case INSN_RETURN:
		return (depth & ~TRACE_DEPTH_BACK) == 1;
	case INSN_JUMP:
		return note(walk, target, depth);
	case INSN_COND_JUMP:
		return note(walk, target, depth) && note(walk, next, depth);
	case INSN_CALL:
		return note(walk, target, 1) && note(walk, next, depth);
	case INSN_PLAIN:
		return note(walk, next, (uint8_t)(depth + words_pushed(&insn, walk->code + at)));
	default:
		return false;
	}
}

bool x86_64_trace_depths(uint8_t *ret)
{
	const struct {
		const uint8_t *at;
		uint8_t depth;
	} begins[] = {
		{ uspl_trace_call, 1 },
		{ uspl_trace_call_limited, 1 },
		{ uspl_trace_entry, 1 },
		{ uspl_count_entry, 1 },
		{ uspl_profile_call, 1 },
		{ uspl_mark_call, 1 },
		{ uspl_trace_return, 1 | TRACE_DEPTH_BACK },
		{ uspl_trace_return_limited, 1 | TRACE_DEPTH_BACK },
		{ uspl_profile_return, 1 | TRACE_DEPTH_BACK },
		{ uspl_mark_return, 1 | TRACE_DEPTH_BACK },
	};
	struct walk walk = { .code = uspl_trace_begin, .depths = ret };
	bool known = true;

	walk.len = (size_t)(uspl_trace_end - uspl_trace_begin);
	memset(ret, 0, walk.len);
	for (size_t i = 0; known && i < sizeof(begins) / sizeof(*begins); i++) {
		known = note(&walk, (size_t)(begins[i].at - uspl_trace_begin), begins[i].depth);
		while (known && walk.n_ways)
			known = follow(&walk, walk.ways[--walk.n_ways]);
	}
	memset(ret + (uspl_trace_chosen - uspl_trace_begin), TRACE_DEPTH_CHOSEN,
	       (size_t)(uspl_trace_chosen_end - uspl_trace_chosen));
	return known;
}
