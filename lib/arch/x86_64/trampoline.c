// SPDX-License-Identifier: GPL-3.0-or-later
// trampoline.c - x86-64: trampolines and punned trampolines
/*
 * The template, with the places of its parts. Before a selector is read nothing has been decided.
 * From each `je` on it has, by the flags, until the old or the new function is entered. The address
 * of the selector that decides stands beside the trampoline's own one; it is asked where the own
 * one is neither OLD nor NEW.
 *
 * A thread that waits reads the selector's value and its commit byte in one piece. It ends the
 * hold, by its hold timeout or by the commit byte, with a compare-and-swap of both: what it has
 * read is still so, or it reads again.
 *
 * Behind the moved instruction lies the part for DRAIN. A thread comes there before it begins to
 * wait. Those that are let through have their stack pointer in one of the ranges behind the
 * selector. What the selector leads to can't change meanwhile, since a thread in this part keeps it
 * from being switched.
 *
 * A trampoline that knows BY_THREAD has another part in that place: it reads the value once more,
 * and either goes on waiting, or to the part for DRAIN behind it, or looks for the thread's slot.
 * Whichever set of slots it reads, and whichever side the value's low bit says, can't change
 * meanwhile either, for the same reason. The word at %fs:0 is the thread pointer itself (the ABI
 * for thread-local storage on x86-64); the tool has seen that each thread has one.
 *
 * A thread that waits counts turns, and doesn't ask a clock: rdtsc may be forbidden (PR_SET_TSC),
 * and the tool's counter need not be the waiter's. It counts its own turns, and those of all: where
 * a thousand threads wait on two processors, each would be late by seconds with its own alone. The
 * count of all may lose turns when two threads write it at once; it only says when it is time at
 * the latest. 128 bytes below the stack pointer are left alone: an entry may be a loop's head, too,
 * in a function that keeps something there.
 */

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "arch/trampoline.h"
#include "arch/x86_64/x86_64.h"
#include "uspl/abi.h"

/* The template's parts, and where some of its instructions end. */
enum {
	AT_JE_OLD = 7,
	AT_JE_NEW = 16,
	AT_ASK = 22,
	AT_JE_FOLLOW_OLD = 38,
	AT_JE_FOLLOW_NEW = 43,
	AT_WAIT = 45,
	AT_JNZ_DRAIN = 53,
	AT_PAUSE = 55,
	AT_DONE = 97,
	AT_FOLLOW_NEW = 110,
	AT_FOLLOW_OLD = 124, /* and on into AT_OLD */
	AT_OLD = 133,        /* the moved instruction, and the jump back */
	AT_DRAIN = 176,
	AT_DRAIN_END = 237,
	AT_SAID_MASK = 91,  /* the byte that says which bits of a commit byte are a value's */
	AT_WHICH_MASK = 52, /* and which ones lead to AT_DRAIN */
	AT_WHICH = AT_DRAIN,
	AT_GOES = 275,
	AT_INSIDE = 292,
	AT_DRAIN_BY_THREAD = 309,
	AT_ELSEWHERE = 355,
	AT_WHICH_END = 368,
	/* Of what the trampoline asks, from the selector on. */
	VALUE = offsetof(struct uspl_selector, value),
	TURNS = offsetof(struct uspl_selector, turns),
	ALL_TURNS = offsetof(struct uspl_selector, all_turns),
	/* What makes a selector hold. */
	WAITS = USPL_SELECTOR_HOLD | USPL_SELECTOR_DRAIN,
	BY_THREAD = USPL_SELECTOR_BY_THREAD,
	/* What a selector may say that doesn't hold. */
	SETTLED = USPL_SELECTOR_NEW | BY_THREAD | USPL_SELECTOR_SECOND,
};

/* clang-format off */
static const uint8_t template[] = {
	/*   0 */ 0x80, 0x3d, 0, 0, 0, 0, USPL_SELECTOR_OLD,       /* cmpb $OLD, selector(%rip) */
	/*   7 */ 0x74, AT_OLD - 9,                            /* je old */
	/*   9 */ 0x80, 0x3d, 0, 0, 0, 0, USPL_SELECTOR_NEW,       /* cmpb $NEW, selector(%rip) */
	/*  16 */ 0x0f, 0x84, 0, 0, 0, 0,                      /* je new */
	/*  22 */ 0x48, 0x8d, 0x64, 0x24, 0x80,                /* lea -128(%rsp), %rsp */
	/*  27 */ 0x51,                                        /* push %rcx */
	/*  28 */ 0x48, 0x8b, 0x0d, 0, 0, 0, 0,                /* mov leader(%rip), %rcx */
	/*  35 */ 0x80, 0x39, USPL_SELECTOR_OLD,                   /* cmpb $OLD, (%rcx) */
	/*  38 */ 0x74, AT_FOLLOW_OLD - 40,                    /* je follow_old */
	/*  40 */ 0x80, 0x39, USPL_SELECTOR_NEW,                   /* cmpb $NEW, (%rcx) */
	/*  43 */ 0x74, AT_FOLLOW_NEW - 45,                    /* je follow_new */
	/*  45 */ 0x50, 0x52,                                  /* push %rax; push %rdx */
	/*  47 */ 0x8b, 0x51, TURNS,                           /* mov turns(%rcx), %edx */
	/*  50 */ 0xf6, 0x01, USPL_SELECTOR_DRAIN,                 /* testb $DRAIN, (%rcx) */
	/*  53 */ 0x75, AT_DRAIN - AT_PAUSE,                   /* jnz drain */
	/*  55 */ 0xf3, 0x90,                                  /* pause */
	/*  57 */ 0x0f, 0xb7, 0x01,                            /* movzwl (%rcx), %eax */
	/*  60 */ 0xa8, USPL_SELECTOR_HOLD,                        /* test $HOLD, %al */
	/*  62 */ 0x74, AT_DONE - 64,                               /* jz done */
	/*  64 */ 0x84, 0xe4,                                  /* test %ah, %ah */
	/*  66 */ 0x75, 86 - 68,                               /* jnz said */
	/*  68 */ 0x83, 0x69, ALL_TURNS, 1,                    /* subl $1, all_turns(%rcx) */
	/*  72 */ 0x78, 79 - 74,                               /* js lapse */
	/*  74 */ 0x83, 0xea, 1,                               /* sub $1, %edx */
	/*  77 */ 0x73, (uint8_t)(AT_PAUSE - 79),              /* jae pause */
	/*  79 */ 0x89, 0xc2,                                  /* lapse: mov %eax, %edx */
	/*  81 */ 0x83, 0xe2, (uint8_t)~WAITS,                 /* and $~WAITS, %edx */
	/*  84 */ 0xeb, 92 - 86,                               /* jmp swap */
	/*  86 */ 0x0f, 0xb6, 0xd4,                            /* said: movzbl %ah, %edx */
	/*  89 */ 0x83, 0xe2, USPL_SELECTOR_NEW,                   /* and $NEW, %edx */
	/*  92 */ 0x66, 0xf0, 0x0f, 0xb1, 0x11,                /* swap: lock cmpxchg %dx, (%rcx) */
	/*  97 */ 0x5a, 0x58, 0x59,                            /* done: pop %rdx, %rax, %rcx */
	/* 100 */ 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,       /* lea 128(%rsp), %rsp */
	/* 108 */ 0xeb, (uint8_t)(0 - 110),                    /* jmp trampoline */
	/* 110 */ 0x59,                                        /* follow_new: pop %rcx */
	/* 111 */ 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,       /* lea 128(%rsp), %rsp */
	/* 119 */ 0xe9, 0, 0, 0, 0,                            /* jmp new */
	/* 124 */ 0x59,                                        /* follow_old: pop %rcx */
	/* 125 */ 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,       /* lea 128(%rsp), %rsp */
};

static const uint8_t drain[] = {
	/* 176 */ 0x56,                                        /* push %rsi */
	/* 177 */ 0x48, 0x8d, 0xb4, 0x24, 160, 0, 0, 0,        /* lea 160(%rsp), %rsi */
	/* 185 */ 0x48, 0x8d, 0x81, USPL_INSIDE_AT, 0, 0, 0,   /* lea INSIDE_AT(%rcx), %rax */
	/* 192 */ 0x48, 0x83, 0x78, 8, 0,                      /* next: cmpq $0, high(%rax) */
	/* 197 */ 0x74, 217 - 199,                             /* je outside */
	/* 199 */ 0x48, 0x39, 0x70, 8,                         /* cmp %rsi, high(%rax) */
	/* 203 */ 0x76, 210 - 205,                             /* jbe other */
	/* 205 */ 0x48, 0x39, 0x30,                            /* cmp %rsi, low(%rax) */
	/* 208 */ 0x76, 223 - 210,                             /* jbe inside */
	/* 210 */ 0x48, 0x83, 0xc0, 16, 0x90,                  /* other: add $16, %rax; nop */
	/* 215 */ 0xeb, (uint8_t)(192 - 217),                  /* jmp next */
	/* 217 */ 0x5e,                                        /* outside: pop %rsi */
	/* 218 */ 0xe9, (uint8_t)(AT_PAUSE - 223), 0xff, 0xff, 0xff, /* jmp pause */
	/* 223 */ 0x5e,                                        /* inside: pop %rsi */
	/* 224 */ 0xf6, 0x01, USPL_SELECTOR_NEW,                   /* testb $NEW, (%rcx) */
	/* 227 */ 0x5a, 0x58,                                  /* pop %rdx; pop %rax */
	/* 229 */ 0x75, (uint8_t)(AT_FOLLOW_NEW - 231),        /* jnz follow_new */
	/* 231 */ 0xe9, (uint8_t)(AT_FOLLOW_OLD - 236), 0xff, 0xff, 0xff, /* jmp follow_old */
	/* 236 */ 0xcc,
};

/* In the place of the part for DRAIN, where the trampoline knows BY_THREAD. */
static const uint8_t which[] = {
	/* 176 */ 0x0f, 0xb6, 0x01,                            /* movzbl (%rcx), %eax */
	/* 179 */ 0xa8, USPL_SELECTOR_DRAIN,                       /* test $DRAIN, %al */
	/* 181 */ 0x75, AT_DRAIN_BY_THREAD - 183,              /* jnz drain */
	/* 183 */ 0xa8, USPL_SELECTOR_HOLD,                        /* test $HOLD, %al */
	/* 185 */ 0x0f, 0x85, (uint8_t)(AT_PAUSE - 191), 0xff, 0xff, 0xff, /* jnz pause */
	/* 191 */ 0xa8, BY_THREAD,                             /* test $BY_THREAD, %al */
	/* 193 */ 0x0f, 0x84, (uint8_t)(AT_DONE - 199), 0xff, 0xff, 0xff,  /* jz done */
	/* 199 */ 0x56,                                        /* push %rsi */
	/* 200 */ 0x48, 0x8d, 0xb4, 0x24, 160, 0, 0, 0,        /* lea 160(%rsp), %rsi */
	/* 208 */ 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0,    /* mov %fs:0, %rdx */
	/* 217 */ 0xa8, USPL_SELECTOR_SECOND,                      /* test $SECOND, %al */
	/* 219 */ 0x48, 0x8d, 0x81, 0, USPL_SLOTS_AT >> 8, 0, 0, /* lea SLOTS_AT(%rcx), %rax */
	/* 226 */ 0x74, 234 - 228,                             /* jz next */
	/* 228 */ 0x48, 0x05, 0, USPL_SLOTS_LEN >> 8, 0, 0,    /* add $SLOTS_LEN, %rax */
	/* 234 */ 0x48, 0x83, 0x78, 16, 0,                     /* next: cmpq $0, high(%rax) */
	/* 239 */ 0x74, AT_GOES - 241,                         /* je goes */
	/* 241 */ 0x48, 0x39, 0x10,                            /* cmp %rdx, thread(%rax) */
	/* 244 */ 0x74, 252 - 246,                             /* je mine */
	/* 246 */ 0x48, 0x83, 0xc0, 24,                        /* add $24, %rax */
	/* 250 */ 0xeb, (uint8_t)(234 - 252),                  /* jmp next */
	/* 252 */ 0x48, 0x39, 0x70, 8,                         /* mine: cmp %rsi, low(%rax) */
	/* 256 */ 0x77, AT_INSIDE - 258,                       /* ja inside */
	/* 258 */ 0x48, 0x39, 0x70, 16,                        /* cmp %rsi, high(%rax) */
	/* 262 */ 0x0f, 0x86, AT_ELSEWHERE - 268, 0, 0, 0,     /* jbe elsewhere */
	/* 268 */ 0x48, 0xc7, 0x00, 0, 0, 0, 0,                /* movq $0, thread(%rax) */
	/* 275 */ 0x5e,                                        /* goes: pop %rsi */
	/* 276 */ 0xf6, 0x01, USPL_SELECTOR_NEW,                   /* testb $NEW, (%rcx) */
	/* 279 */ 0x5a, 0x58,                                  /* pop %rdx; pop %rax */
	/* 281 */ 0x0f, 0x85, (uint8_t)(AT_FOLLOW_NEW - 287), 0xff, 0xff, 0xff, /* jnz follow_new */
	/* 287 */ 0xe9, (uint8_t)(AT_FOLLOW_OLD - 292), 0xff, 0xff, 0xff, /* jmp follow_old */
	/* 292 */ 0x5e,                                        /* inside: pop %rsi */
	/* 293 */ 0xf6, 0x01, USPL_SELECTOR_NEW,                   /* testb $NEW, (%rcx) */
	/* 296 */ 0x5a, 0x58,                                  /* pop %rdx; pop %rax */
	/* 298 */ 0x0f, 0x84, (uint8_t)(AT_FOLLOW_NEW - 304), 0xff, 0xff, 0xff, /* jz follow_new */
	/* 304 */ 0xe9, (uint8_t)(AT_FOLLOW_OLD - 309), 0xff, 0xff, 0xff, /* jmp follow_old */
	/* 309 */ 0x56,                                        /* drain: push %rsi */
	/* 310 */ 0x48, 0x8d, 0xb4, 0x24, 160, 0, 0, 0,        /* lea 160(%rsp), %rsi */
	/* 318 */ 0x48, 0x8d, 0x81, USPL_INSIDE_AT, 0, 0, 0,   /* lea INSIDE_AT(%rcx), %rax */
	/* 325 */ 0x48, 0x83, 0x78, 8, 0,                      /* next: cmpq $0, high(%rax) */
	/* 330 */ 0x74, 349 - 332,                             /* je outside */
	/* 332 */ 0x48, 0x39, 0x70, 8,                         /* cmp %rsi, high(%rax) */
	/* 336 */ 0x76, 343 - 338,                             /* jbe other */
	/* 338 */ 0x48, 0x39, 0x30,                            /* cmp %rsi, low(%rax) */
	/* 341 */ 0x76, (uint8_t)(AT_GOES - 343),              /* jbe goes */
	/* 343 */ 0x48, 0x83, 0xc0, 16,                        /* other: add $16, %rax */
	/* 347 */ 0xeb, (uint8_t)(325 - 349),                  /* jmp next */
	/* 349 */ 0x5e,                                        /* outside: pop %rsi */
	/* 350 */ 0xe9, (AT_PAUSE - 355) & 0xff, 0xfe, 0xff, 0xff, /* jmp pause */
	/* 355 */ 0x48, 0xc7, 0x40, 8, 0xff, 0xff, 0xff, 0xff, /* elsewhere: movq $-1, low(%rax) */
	/* 363 */ 0xe9, (uint8_t)(AT_INSIDE - 368), 0xff, 0xff, 0xff, /* jmp inside */
};
/* clang-format on */

/* The template's 32-bit fields: where each is, where its instruction ends, what it refers to. */
static const struct {
	uint8_t field, end;
	enum { TO_SELECTOR, TO_LEADER, TO_NEW } to;
} fields[] = {
	{ 2, 7, TO_SELECTOR }, { 11, 16, TO_SELECTOR }, { 18, 22, TO_NEW },
	{ 31, 35, TO_LEADER }, { 120, 124, TO_NEW },
};

const struct trampoline_part trampoline_old_parts[TRAMPOLINE_N_PARTS] = {
	{ AT_JE_OLD, 9 },
	{ AT_JE_FOLLOW_OLD, 40 },
	{ AT_FOLLOW_OLD, AT_DRAIN },
};
const struct trampoline_part trampoline_new_parts[TRAMPOLINE_N_PARTS] = {
	{ AT_JE_NEW, AT_ASK },
	{ AT_JE_FOLLOW_NEW, AT_WAIT },
	{ AT_FOLLOW_NEW, AT_FOLLOW_OLD },
};
const struct trampoline_part trampoline_either_parts[2][TRAMPOLINE_N_EITHER] = {
	{
		{ AT_JNZ_DRAIN, AT_PAUSE },
		{ AT_DRAIN, AT_DRAIN_END },
	},
	{
		{ AT_JNZ_DRAIN, AT_PAUSE },
		{ AT_WHICH, AT_WHICH_END },
	},
};

/* By how much the stack pointer is below what it was at the entry, from each of these places on. */
struct depth {
	uint16_t from;
	uint8_t depth;
};

static const struct depth depths[] = {
	{ 0, 0 },
	{ 27, 128 },
	{ 28, 136 },
	{ 46, 144 },
	{ 47, 152 },
	{ 98, 144 },
	{ 99, 136 },
	{ 100, 128 },
	{ 108, 0 },
	{ AT_FOLLOW_NEW, 136 },
	{ AT_FOLLOW_NEW + 1, 128 },
	{ 119, 0 },
	{ AT_FOLLOW_OLD, 136 },
	{ AT_FOLLOW_OLD + 1, 128 },
	{ AT_OLD, 0 },
	{ AT_DRAIN, 152 },
	{ AT_DRAIN + 1, 160 },
	{ 218, 152 },
	{ 223, 160 },
	{ 224, 152 },
	{ 228, 144 },
	{ 229, 136 },
};

/* The same from AT_WHICH on, where the trampoline knows BY_THREAD. */
static const struct depth which_depths[] = {
	{ AT_WHICH, 152 },
	{ 200, 160 },
	{ AT_GOES + 1, 152 },
	{ 280, 144 },
	{ 281, 136 },
	{ AT_INSIDE, 160 },
	{ AT_INSIDE + 1, 152 },
	{ 297, 144 },
	{ 298, 136 },
	{ AT_DRAIN_BY_THREAD, 152 },
	{ AT_DRAIN_BY_THREAD + 1, 160 },
	{ 350, 152 },
	{ AT_ELSEWHERE, 160 },
};

static int depth_in(const struct depth *table, size_t n, size_t offset)
{
	size_t i = 0;

	while (i + 1 < n && table[i + 1].from <= offset)
		i++;
	return table[i].depth;
}

int trampoline_depth(size_t offset)
{
	/* Behind that place the moved instruction has done to it whatever it does. */
	if (offset > AT_OLD && offset < AT_DRAIN)
		return -1;
	return depth_in(depths, ARRAY_SIZE(depths), offset);
}

int trampoline_depth_by_thread(size_t offset)
{
	if (offset < AT_WHICH)
		return trampoline_depth(offset);
	return depth_in(which_depths, ARRAY_SIZE(which_depths), offset);
}

static int fail_far(const struct trampoline_code *trampoline, taddr to, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "0x%llx is too far from its trampoline at 0x%llx", (unsigned long long)to,
			 (unsigned long long)trampoline->at);
}

static int fill_fields(const struct trampoline_code *trampoline, uint8_t *code,
		       struct uspl_err *err)
{
	const taddr to[] = { [TO_SELECTOR] = trampoline->selector + VALUE,
			     [TO_LEADER] =
				     trampoline->selector + offsetof(struct uspl_selector, leader),
			     [TO_NEW] = trampoline->new_addr };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int64_t distance = (int64_t)(to[fields[i].to] - (trampoline->at + fields[i].end));
		int32_t rel = (int32_t)distance;

		if (rel != distance)
			return fail_far(trampoline, to[fields[i].to], err);
		memcpy(code + fields[i].field, &rel, sizeof(rel));
	}
	return 0;
}

int trampoline_encode(const struct trampoline_code *trampoline, uint8_t code[TRAMPOLINE_LEN_MAX],
		      struct uspl_err *err)
{
	uint8_t moved[INSN_MOVED_MAX];
	size_t moved_len;
	taddr back;
	int len = insn_move(trampoline->entry, trampoline->old, trampoline->old_len,
			    trampoline->at + AT_OLD, moved, &moved_len, err);

	if (len < 0)
		return len;
	x86_64_fill(code, trampoline_len(trampoline->by_thread));
	memcpy(code, template, sizeof(template));
	memcpy(code + AT_OLD, moved, moved_len);
	if (trampoline->by_thread) {
		memcpy(code + AT_WHICH, which, sizeof(which));
		code[AT_WHICH_MASK] |= BY_THREAD;
		code[AT_SAID_MASK] = SETTLED;
	} else {
		memcpy(code + AT_DRAIN, drain, sizeof(drain));
	}
	back = trampoline->entry + (taddr)len;
	if (!x86_64_jump_encode(trampoline->at + AT_OLD + moved_len, back,
				code + AT_OLD + moved_len))
		return fail_far(trampoline, back, err);
	return fill_fields(trampoline, code, err);
}

_Static_assert(sizeof(template) == AT_OLD, "the parts follow each other");
_Static_assert(VALUE == 0 && offsetof(struct uspl_selector, commit) == 1, "both are read at once");
_Static_assert(ALL_TURNS < 128, "one byte says where they are");
_Static_assert(USPL_SELECTOR_NEW == 1 && USPL_SELECTOR_OLD == 0, "a verdict's low bit says which");
_Static_assert(AT_OLD + INSN_MOVED_MAX + X86_64_JUMP_LEN <= AT_DRAIN, "it has room");
_Static_assert(AT_DRAIN + sizeof(drain) == AT_DRAIN_END && (int)AT_DRAIN_END <= (int)TRAMPOLINE_LEN,
	       "so has this");
_Static_assert(AT_WHICH + sizeof(which) == AT_WHICH_END &&
		       (int)AT_WHICH_END <= (int)TRAMPOLINE_LEN_BY_THREAD,
	       "and this");
_Static_assert(offsetof(struct uspl_slot, thread) == 0 && offsetof(struct uspl_slot, low) == 8 &&
		       offsetof(struct uspl_slot, high) == 16 && sizeof(struct uspl_slot) == 24 &&
		       USPL_SLOTS_AT % 256 == 0 && USPL_SLOTS_AT < 1 << 16 &&
		       USPL_SLOTS_LEN % 256 == 0 && USPL_SLOTS_LEN < 1 << 16,
	       "as the part for BY_THREAD reads them");
_Static_assert((USPL_SLOTS_MAX + 1) * sizeof(struct uspl_slot) <= USPL_SLOTS_LEN &&
		       USPL_SLOTS_AT + 2 * USPL_SLOTS_LEN <= USPL_SELECTOR_LEN_BY_THREAD,
	       "two sets have room");
_Static_assert(offsetof(struct uspl_inside, low) == 0 && offsetof(struct uspl_inside, high) == 8 &&
		       sizeof(struct uspl_inside) == 16,
	       "as the part for DRAIN reads them");

/* Addresses of user space have 47 bits (Documentation/arch/x86/x86_64/mm.rst). */
static const taddr lowest_addr = 0x10000, highest_addr = 0x7fffffffe000;

bool trampoline_pun_jump(taddr entry, const uint8_t *old, uint8_t *ret_bytes, taddr *ret_punned)
{
	uint8_t bytes[X86_64_JUMP_LEN];
	taddr punned;

	if (!x86_64_jump_encode(entry, entry, bytes) || old[0] == bytes[0])
		return false;
	memcpy(bytes + 1, old + 1, sizeof(bytes) - 1);
	punned = x86_64_jump_target(entry, bytes, sizeof(bytes));
	if (punned < lowest_addr || punned > highest_addr)
		return false;
	memcpy(ret_bytes, bytes, sizeof(bytes));
	*ret_punned = punned;
	return true;
}

/*
 * Form 0 is the punned jump. Each other form writes all bytes that it may: prefixes that mean
 * nothing to a jump (of a segment; Intel SDM, volume 2, 2.1.1), one fewer than its number, the
 * opcode, and the low bytes of the distance. The more prefixes, the more of the distance is what
 * stands behind, and the more other bytes decide about its sign.
 */
bool trampoline_short_form(taddr entry, const uint8_t code[SHORT_JUMP_MAX], size_t own,
			   unsigned int form, struct short_jump *ret)
{
	enum { OP_JMP = 0xe9, SEGMENT_CS = 0x2e };
	size_t n_prefixes = form ? form - 1 : 0, len = form ? own : 1, free_bytes;
	struct short_jump jump = { .len = (uint8_t)len };
	uint8_t all[SHORT_JUMP_MAX] = { 0 };

	if (form > own || own > sizeof(jump.bytes))
		return false;
	free_bytes = len - n_prefixes - 1;
	jump.size = (uint8_t)(n_prefixes + X86_64_JUMP_LEN);
	memset(all, SEGMENT_CS, n_prefixes);
	all[n_prefixes] = OP_JMP;
	memcpy(all + len, code + len, jump.size - len);
	memcpy(jump.bytes, all, len);
	jump.lowest = x86_64_jump_target(entry + n_prefixes, all + n_prefixes, X86_64_JUMP_LEN);
	jump.highest = jump.lowest + (1ull << 8 * free_bytes) - 1;
	if (jump.lowest < lowest_addr || jump.highest > highest_addr ||
	    (!form && code[0] == OP_JMP))
		jump.lowest = jump.highest + 1;
	*ret = jump;
	return true;
}

void trampoline_short_aim(struct short_jump *jump, taddr to)
{
	size_t free_bytes = jump->len + X86_64_JUMP_LEN - 1u - jump->size;
	uint64_t distance = to - jump->lowest;

	/* The free bytes are the lowest of the distance, and 0 for the lowest place. */
	memcpy(jump->bytes + jump->len - free_bytes, &distance, free_bytes);
}

uint32_t trampoline_turns(int64_t ns)
{
	enum { SAMPLE = 500 };
	struct timespec from, to;
	int64_t took;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < SAMPLE; i++)
		__builtin_ia32_pause();
	clock_gettime(CLOCK_MONOTONIC, &to);
	took = (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec;
	return (uint32_t)(ns * SAMPLE / (took > SAMPLE ? took : SAMPLE));
}

size_t trampoline_encode_punned(taddr at, taddr to, uint8_t code[PUNNED_MAX])
{
	static const uint8_t jmp_mem_rip[] = { 0xff, 0x25, 0, 0, 0, 0 };

	if (x86_64_jump_encode(at, to, code))
		return X86_64_JUMP_LEN;
	memcpy(code, jmp_mem_rip, sizeof(jmp_mem_rip));
	memcpy(code + sizeof(jmp_mem_rip), &to, sizeof(to));
	return PUNNED_MAX;
}
