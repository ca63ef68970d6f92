/* SPDX-License-Identifier: MIT */
/*
 * mark_abi.h - what is in the target's memory while markers are on
 *
 * The runtime, its tables and its rings are those of the tracer (trace_abi.h); each session of
 * markers has its own. A marker's record is a run of slots of 16 bytes:
 *
 *     first slot   time 64, four bytes of arguments, id 32
 *     the others   twelve bytes of arguments, USPL_MARK_MORE
 *
 * The session's record in the target says where an argument lies in them. A slot that a reader
 * meets in the middle of a record is known by its sign.
 *
 * What is at a marker's site decides whether a probe is on: the site leads to the first probe's
 * code, that one's chain slot to the next one's, and so on to the last one's, which leads to its
 * end. A probe that isn't met on this way is off.
 */
#ifndef USPL_MARK_ABI_H
#define USPL_MARK_ABI_H

#include "uspl/trace_abi.h"

#define USPL_MARK_MORE 0x7ffffffe /* an id that no record has */
#define USPL_MARK_SLOT_ROOM 12    /* bytes of arguments in a slot behind the first one */
#define USPL_MARK_FIRST_ROOM 8    /* where in the first slot its four bytes are */

/*
 * A session that waits for returns has a shadow of its own for them (trace_abi.h): one return
 * address may be hidden by several. Its number, from 1 on, is in the address's bits from
 * USPL_MARK_SHADOW_SHIFT on, in what its thunks push, USPL_MARK_EXIT + number, and in the CFA that
 * unwinders are told (lib/arch/x86_64/thunk.c), where numbers below 7 have room.
 */
#define USPL_MARK_SHADOWS 7
#define USPL_MARK_SHADOW_MASK 7
#define USPL_MARK_SHADOW_SHIFT 42
#define USPL_MARK_EXIT 0x70737550

#ifndef __ASSEMBLER__

#include "uspl/mark.h"

#define USPL_MARK_VERSION 9
#define USPL_MARK_MAGIC 0x31534b52414d504cull /* "LPMARKS1", little endian */
#define USPL_MARK_SESSION_MAX 32
#define USPL_MARK_OLD_MAX 24   /* a site's bytes: five, up to the end of an instruction */
#define USPL_PROBE_ARGS_MAX 12 /* as many as a struct uspl_hit has (probe.h) */

enum uspl_probe_arg_kind {
	USPL_PROBE_SIGNED = 1,
	USPL_PROBE_UNSIGNED,
	USPL_PROBE_FLOAT, /* width 4: a float, 8: a double */
	USPL_PROBE_POINTER,
	USPL_PROBE_TEXT,
};

struct uspl_probe_arg {
	uint16_t slot, slots; /* slots: of a text */
	uint8_t offset, width;
	uint8_t kind; /* enum uspl_probe_arg_kind */
	uint8_t pad;
};

/* A probe at one site. Its id is first_id plus its place in the array. */
struct uspl_probe {
	uint64_t site;  /* where the jump is, 5 bytes */
	uint64_t thunk; /* where that leads: its code, or to the thunk before a function, */
	uint64_t inner; /* and where the chain slot of another one leads */
	uint64_t code;  /* its code, all of it */
	uint64_t code_len;
	uint64_t chain_slot; /* the jump that leads on, 5 bytes */
	uint64_t end;        /* where that leads if no other probe follows */
	uint64_t semaphore;  /* of a USDT probe: two bytes, more than 0 while it is used; 0: none */
	uint32_t name, format; /* offsets of strings; format 0: there is none */
	uint16_t slots;        /* of a record */
	uint8_t n_args, old_len;
	uint8_t guard; /* bytes at the site in which no thread may stand, but at the first */
	uint8_t pad[3];
	uint8_t old_bytes[USPL_MARK_OLD_MAX];
	struct uspl_probe_arg args[USPL_PROBE_ARGS_MAX];
};

/* A marker's NOP in the program's way, and where it leads while a probe is on. */
struct uspl_mark_switch {
	uint64_t site, on;
};

/* Hits at which a user's program was cut short, and those at which it was no longer called then. */
struct uspl_mark_cuts {
	uint64_t runs, passed;
};

/* The record, at the beginning of a mapping that is private, anonymous and r--, as in abi.h. */
struct uspl_mark_region {
	uint64_t magic;
	uint32_t version, pad;
	uint64_t self, map, map_len, info_len;
	char session[USPL_MARK_SESSION_MAX];
	uint64_t module;         /* where it begins */
	uint64_t code;           /* the runtime's copy; its control page follows */
	uint64_t text, text_len; /* the probes' code */
	/*
	 * Of a user's program, which lies at the text's beginning; data_len 0: there is none. First
	 * a struct uspl_mark_cuts.
	 */
	uint64_t data, data_len;
	uint32_t first_id, n_probes, n_switches;
	uint32_t probes, switches, module_name, filter; /* offsets */
	uint32_t frames;                       /* 1: the program's own unwinder knows eh_frame */
	uint64_t thunks, thunks_len, eh_frame; /* of returns that are waited for; 0: none are */
	/* What all regions of a session share: only the fields that tell where it is are used. */
	struct uspl_trace_region shared;
};

_Static_assert(sizeof(struct uspl_probe_arg) == 8, "the layout is a contract");
_Static_assert(sizeof(struct uspl_probe) == 200, "the layout is a contract");
_Static_assert(sizeof(struct uspl_mark_region) == 440, "the layout is a contract");

#endif
#endif
