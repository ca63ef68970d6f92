/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.h - a probe's code while it is made: bytes, and the values of arguments */
#ifndef USPL_ARCH_X86_64_EMIT_H
#define USPL_ARCH_X86_64_EMIT_H

#include "arch/probe_code.h"

enum {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	RED_ZONE = 128,
	JUMP_LEN = 5,
	WORD = 8,
	HIT_ARGS = 24,       /* where in a struct uspl_hit the arguments are */
	CODE_MAX = 16 << 10, /* of a probe: all its arguments and tests are far less */
	TEST_JUMPS = 3,      /* of a test, at most */
};

/* In the order in which they are pushed: what the probe uses; what a program may use, too. */
extern const uint8_t emit_saved[];

enum { N_SAVED = 5, N_SAVED_ALL = 10 };

/* A probe on its way. */
struct emit {
	const struct probe_code *code;
	struct buf out;
	size_t *test_at;   /* where each test begins */
	size_t pass, skip; /* and what follows them */
	size_t *jumps;     /* where distances are that lead to these */
	size_t n_jumps;
	size_t hit;  /* bytes of the struct uspl_hit that is on the stack */
	bool failed; /* something is out of reach */
};

/* Appends bytes. */
void emit_bytes(struct emit *emit, const void *bytes, size_t len);
void emit_32(struct emit *emit, uint32_t value);
void emit_64(struct emit *emit, uint64_t value);

#define PUT(emit, ...)                                                                             \
	emit_bytes(emit, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Appends the distance to an address from behind these four bytes. */
void emit_distance(struct emit *emit, taddr to);
/* Where a part of the runtime is in its copy. */
taddr emit_runtime_part(const struct emit *emit, const uint8_t *symbol);
/* Appends a call of a part of the runtime. */
void emit_call(struct emit *emit, const uint8_t *symbol);
/* How many registers are pushed. */
size_t emit_n_saved(const struct emit *emit);
/* Appends what brings the value at a place into rsi, extended to 8 bytes. Changes rdi. */
void emit_load(struct emit *emit, const struct place *place);

#endif
