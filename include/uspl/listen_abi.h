/* SPDX-License-Identifier: MIT */
/*
 * listen_abi.h - what listeners and the tools share in the target's memory
 *
 * Listeners (runtime/listen) are called at the entry and the return of chosen traced functions,
 * with the registers. What they are to do, and what they have found out, lies in one mapping that
 * is private, and wiped in children of fork: the listener config. docs/trace.md, "Listeners".
 *
 *     struct uspl_listen_config | by id, 2 bytes each | struct uspl_listen_site | texts | the job's
 *         own
 */
#ifndef USPL_LISTEN_ABI_H
#define USPL_LISTEN_ABI_H

#include "uspl/mark_abi.h"

/* Where the listeners' code lies behind the runtime's, and its entries. */
#define USPL_LISTEN_CODE (USPL_TRACE_CONTROL + 4096)
#define USPL_LISTEN_ENTER 0
#define USPL_LISTEN_LEAVE 16
#define USPL_LISTEN_LEAVE_LIMITED 32
/* And those that profile's runtime calls where there is more to do than to add up (trace.S). */
#define USPL_LISTEN_PROFILE_ENTER 48
#define USPL_LISTEN_PROFILE_LEAVE 64
#define USPL_LISTEN_HEAD 80 /* bytes of all entries */
/* What stands in front of a body that is listened to: call, jmp, the id. */
#define USPL_LISTEN_STUB 14
#define USPL_LISTEN_STUB_ID 5 /* from the return address of the call */

/* Ids of records in a ring that hold values: of arguments at a call, of what it returned. */
#define USPL_TRACE_ID_ARGS 0x7ffffffd
#define USPL_TRACE_ID_RESULT 0x7ffffffc

#define USPL_LISTEN_ARGS_MAX 12
#define USPL_LISTEN_SITES_MAX 4096
#define USPL_LISTEN_VALUES_MAX 480 /* bytes of values in one record */
#define USPL_LISTEN_TEXT_GONE 0xff /* a string's length: it can't be read, its address follows */
#define USPL_LISTEN_TEXT_CUT 0x80  /* or'ed to its length: there is more of it */
#define USPL_LISTEN_TEXT_MAX 120

#ifndef __ASSEMBLER__

/* What a session's listeners do. */
enum uspl_listen_job {
	USPL_LISTEN_NOTHING,
	USPL_LISTEN_ARGS, /* values go into the rings, beside the calls; triggers */
	USPL_LISTEN_ALLOC,
	USPL_LISTEN_LOCK,
	USPL_LISTEN_SIGOFF,
	USPL_LISTEN_POOL,
	/* sums_abi.h; no listener is told of these. */
	USPL_LISTEN_COUNT,
	USPL_LISTEN_PROFILE,
	USPL_LISTEN_COVERAGE,
};

/* Where a value is when the function is entered, or has returned. */
enum uspl_listen_from {
	USPL_LISTEN_REG,   /* index: rdi, rsi, rdx, rcx, r8, r9, rax, rdx */
	USPL_LISTEN_XMM,   /* index: the register's number; its lower half */
	USPL_LISTEN_STACK, /* index: 8-byte words behind the return address */
	USPL_LISTEN_NOWHERE,
};

#define USPL_LISTEN_RAX 6

/* A value of a record: 8 bytes or, of kind USPL_PROBE_TEXT, a length (1 byte) and as many bytes. */
struct uspl_listen_arg {
	uint8_t from;  /* enum uspl_listen_from */
	uint8_t kind;  /* enum uspl_probe_arg_kind */
	uint8_t width; /* bytes that count */
	uint8_t pad;
	uint16_t index;
	uint16_t text_max; /* of a string */
	uint32_t name;     /* offset of a text in the listener config; 0: none */
	uint32_t type;     /* the same: the names of an enumeration's values */
};

#define USPL_LISTEN_NO_ROLE 0xffff /* of a function that only triggers are about */

/* What a trigger does. */
enum uspl_listen_action {
	USPL_LISTEN_START = 1,
	USPL_LISTEN_STOP = 2,
	USPL_LISTEN_SNAPSHOT = 4,
};

/* A function that is listened to. */
struct uspl_listen_site {
	uint64_t
		/* the return address that its thunk leaves; 0: the entry only is listened to */
		back;
	uint64_t slow; /* ticks: a call that takes as long or longer is a slow one */
	uint32_t id;   /* the site's; 0: not one yet */
	uint8_t n_args, has_result;
	uint8_t on_entry, on_slow; /* enum uspl_listen_action */
	uint16_t role;             /* what the job takes the function for */
	uint16_t bare;             /* 1: the thunk notes neither time nor return */
	uint32_t param, pad;       /* the job's */
	struct uspl_listen_arg result;
	struct uspl_listen_arg args[USPL_LISTEN_ARGS_MAX];
};

#define USPL_LISTEN_CONFIG_MAGIC 0x31534b534544504cull /* "LPDESKS1", little endian */

struct uspl_listen_config {
	uint64_t magic;
	uint32_t version, job; /* enum uspl_listen_job */
	uint64_t len;
	uint32_t n_ids, n_sites;
	uint32_t by_id; /* offset; by id: the number of a site + 1, 0 if it isn't listened to */
	uint32_t sites, texts, texts_len; /* offsets */
	uint64_t own, own_len;            /* of the job, an offset */
	uint64_t thread_len; /* of what the job keeps for each thread, behind its ring */
	uint64_t start_ticks;
	uint64_t entries; /* 1: entries only are recorded */
	/* Of triggers: how often each action has been taken, and when it was last. */
	uint64_t started, stopped, snapped;
	uint64_t start_at, stop_at, snap_at; /* ticks; 0: never */
	uint64_t halted;    /* 1: a trigger has stopped the recording, or none has started it yet */
	uint64_t missed;    /* calls that a listener could not follow: no room, no ring */
	uint64_t threshold; /* of the session, as long as it isn't halted */
	uint64_t n_controls, controls[USPL_TRACE_ARENAS]; /* all control pages */
};

#define USPL_LISTEN_CONFIG_VERSION 2

/*
 * alloc. Of each block that is live: a word in a leaf, at 8 bytes a word like the memory it stands
 * for. The leaf of a chunk has the same number as the chunk has in the table.
 */
#define USPL_ALLOC_CHUNK_SHIFT 21
#define USPL_ALLOC_CHUNKS 16384
#define USPL_ALLOC_LEAF (1ull << USPL_ALLOC_CHUNK_SHIFT)
#define USPL_ALLOC_SITES 8192
#define USPL_ALLOC_SIZES 48 /* a histogram by powers of two */
/* A word: size + 1 (36 bits; of a mapping, in pages), age (14), mapping (1), call site (13). */
#define USPL_ALLOC_SIZE_BITS 36
#define USPL_ALLOC_AGE_BITS 14
#define USPL_ALLOC_AGE_SHIFT 30 /* ticks in a unit of age */
#define USPL_ALLOC_MAP_BIT (USPL_ALLOC_SIZE_BITS + USPL_ALLOC_AGE_BITS)
#define USPL_ALLOC_SITE_SHIFT (USPL_ALLOC_MAP_BIT + 1)
#define USPL_ALLOC_PAGE_SHIFT 12
#define USPL_ALLOC_PENDING 4096 /* bytes that a thread keeps to itself */

/* The bytes of the block that a word is of, and when it was allocated, in units of age. */
static inline uint64_t uspl_alloc_size(uint64_t word)
{
	uint64_t size = (word & ((1ull << USPL_ALLOC_SIZE_BITS) - 1)) - 1;

	return word >> USPL_ALLOC_MAP_BIT & 1 ? size << USPL_ALLOC_PAGE_SHIFT : size;
}

static inline uint64_t uspl_alloc_age(uint64_t word)
{
	return word >> USPL_ALLOC_SIZE_BITS & ((1u << USPL_ALLOC_AGE_BITS) - 1);
}

enum uspl_alloc_role {
	USPL_ALLOC_MALLOC,         /* (size) */
	USPL_ALLOC_CALLOC,         /* (n, size) */
	USPL_ALLOC_REALLOC,        /* (block, size) */
	USPL_ALLOC_REALLOCARRAY,   /* (block, n, size) */
	USPL_ALLOC_MEMALIGN,       /* (alignment, size) */
	USPL_ALLOC_POSIX_MEMALIGN, /* (&block, alignment, size) */
	USPL_ALLOC_FREE,           /* (block) */
	USPL_ALLOC_MMAP,           /* (where, len) */
	USPL_ALLOC_MUNMAP,         /* (where, len) */
	USPL_ALLOC_MREMAP,         /* (where, len, new len) */
};

/* What a thread has counted of a call site. */
struct uspl_alloc_cell {
	uint64_t blocks, bytes, freed_blocks, freed_bytes;
};

struct uspl_alloc {
	uint64_t leaves;                          /* address */
	uint64_t live, peak, mapped, mapped_peak; /* bytes */
	uint64_t sites[USPL_ALLOC_SITES];         /* return addresses; 0 free */
	uint64_t chunks[USPL_ALLOC_CHUNKS];       /* addresses >> USPL_ALLOC_CHUNK_SHIFT, + 1 */
};

struct uspl_alloc_thread {
	uint64_t outer; /* where the return address of the outermost call lies; 0: none is open */
	uint64_t began; /* when, as its slot in the shadow says as long as it is open */
	uint64_t arg, size;
	uint64_t old;       /* of realloc: the block's word */
	uint64_t released;  /* the last block that was freed */
	uint64_t strangers; /* blocks freed that were there before */
	uint64_t pending;   /* bytes that are live and not in uspl_alloc.live yet; may be below 0 */
	uint64_t sizes[USPL_ALLOC_SIZES];
	struct uspl_alloc_cell cells[USPL_ALLOC_SITES];
};

/*
 * lock, sigoff: what is held, in a table by address; of sigoff by the caller that blocked signals.
 */
#define USPL_LOCKS 1024
#define USPL_LOCKS_HELD 32
#define USPL_LOCK_STACK 8192

enum uspl_lock_role {
	USPL_LOCK_TAKE,    /* (lock): taken when it returns 0 */
	USPL_LOCK_TRY,     /* the same, and doesn't wait */
	USPL_LOCK_LEAVE,   /* (lock) */
	USPL_LOCK_WAIT,    /* (condition, lock): left, and taken again when it returns */
	USPL_LOCK_SIGNALS, /* (how, set, old): of sigoff */
};

/* What stood on a holder's stack. */
struct uspl_lock_chain {
	uint64_t ticks;   /* the span it is of; 0: there is none */
	uint64_t regs[6]; /* rbx, rbp, r12 to r15 */
	uint64_t sp, pc;
	uint64_t len;
	uint8_t stack[USPL_LOCK_STACK];
};

struct uspl_lock {
	uint64_t addr;                /* 0: free */
	uint64_t kind;                /* param of the site that took it first */
	uint64_t taken, waited, held; /* how often; ticks */
	uint64_t wait_max, hold_max;
	uint64_t wait_site, hold_site, left_site; /* return addresses of the maxima's calls */
	uint64_t wait_tid, hold_tid;
	uint64_t signals; /* of sigoff: which, of the maximum */
	uint64_t busy;    /* 1: a thread writes the chain */
	struct uspl_lock_chain chain;
};

struct uspl_lock_held {
	uint64_t addr, since, site, depth;
};

struct uspl_lock_thread {
	uint64_t open, open_lock, since,
		site; /* the call that waits: where its return address lies */
	uint64_t n_held;
	struct uspl_lock_held held[USPL_LOCKS_HELD];
	/* sigoff */
	uint64_t known, base, blocked, off_since, off_site;
};

/* pool */
#define USPL_POOL_ITEMS 65536

enum uspl_pool_role { USPL_POOL_ENQUEUE, USPL_POOL_RUN };

struct uspl_pool {
	uint64_t queued, begun, done, waiting_max;
	uint64_t unmatched; /* items that were run, and not seen queued */
	/* Times of queueing: in their order, or by item. */
	struct {
		uint64_t item, since;
	} items[USPL_POOL_ITEMS];
};

struct uspl_pool_thread {
	uint64_t open; /* the run that is going on, like uspl_lock_thread.open */
	uint64_t queued, run, ran, ran_max; /* how many; ticks */
	uint64_t timed, late,
		late_max; /* items whose queueing was seen; ticks until they were run */
};

#endif
#endif
