/* SPDX-License-Identifier: MIT */
/*
 * trace_abi.h - what the tracer's runtime and the tools share in the target's memory
 *
 * The runtime (runtime/trace.S) knows these offsets; so do tools of other versions. docs/trace.md
 * explains the parts.
 *
 *     control   one page behind each copy of the runtime's code, at USPL_TRACE_CONTROL from its
 *               beginning, written by the tool
 *     threads   a table of struct uspl_trace_thread, found by a hash of the thread pointer;
 *               private, wiped in a child of fork
 *     chunks    which chunks of the address space have a shadow; private, wiped likewise
 *     rings     shared with the tool: a header and the records, one ring for each thread
 */
#ifndef USPL_TRACE_ABI_H
#define USPL_TRACE_ABI_H

/*
 * Bytes of the code's copy; the control page follows. What thunks call first lies on the first
 * page of the code, so that a thunk tells where its session's control page is.
 */
#define USPL_TRACE_CONTROL 8192
#define USPL_TRACE_CODE_ALIGN 4096

/*
 * What belongs to the return address at stack address A (16 bytes) is kept at 2 * A with this bit
 * cleared, but for the bits in which the session's shadow differs (`shadow` below): the tool
 * chooses them so that the stacks' shadows lie where nothing is mapped.
 */
#define USPL_TRACE_SHADOW_BIT 47
#define USPL_TRACE_SHADOW(addr) (2 * (addr) & ~(1ull << USPL_TRACE_SHADOW_BIT))

/*
 * An open call's slot has the time, which isn't 0. And two words, in a mapping of their own, have
 * the address of the call's thunk + 5 with all bits turned, so that it is no address in the thunks,
 * and the time once more. That mapping may outlive the process (struct uspl_trace_kept). Stacks lie
 * in the last terabyte of addresses, so the bit takes the names neither to another stack's shadow
 * nor to where programs and their heaps lie.
 */
#define USPL_TRACE_NAME_BIT 42
#define USPL_TRACE_NAME(slot) ((slot) ^ 1ull << USPL_TRACE_NAME_BIT)
#define USPL_TRACE_NAME_AT 5
#define USPL_TRACE_NAMES (2 * USPL_TRACE_CHUNK) /* bytes of the names of a chunk's slots */
#define USPL_TRACE_KEPT_CHUNKS 1024             /* chunks whose names may outlive the process */

#define USPL_TRACE_THREADS 4096    /* entries in the table of threads */
#define USPL_TRACE_CHUNKS 4096     /* entries in the table of chunks */
#define USPL_TRACE_CHUNK 0x40000   /* bytes of stack that have their shadow in one mapping */
#define USPL_TRACE_PROBES 16       /* how many entries are tried, one behind the other, */
#define USPL_TRACE_CHUNK_PROBES 64 /* and in the table of chunks */
/*
 * Where a chunk is looked for first: its number times this, the upper ones of the 32 bits. Stacks
 * are many chunks in a row, and threads' stacks lie at even distances: by the number itself a stack
 * would fill entries in a row, and all stacks would meet at the same ones.
 */
#define USPL_TRACE_CHUNK_MIX 0x9e3779b1
#define USPL_TRACE_CHUNK_MIX_SHIFT 20 /* leaves as many bits as the table has */

/* Added to a chunk's address in the table. */
#define USPL_TRACE_CHUNK_NONE 1    /* it can't have a shadow: something else lies there */
#define USPL_TRACE_CHUNK_CLAIMED 2 /* a thread is about to map its shadow */

/* A site's code. The body returns to the byte USPL_TRACE_THUNK_RETURN of it. */
#define USPL_TRACE_THUNK 32
#define USPL_TRACE_THUNK_RETURN 15
/* And here it has pushed its id where the return address was, and leads to the runtime. */
#define USPL_TRACE_THUNK_PUSHED 20

/* Ids of records that aren't calls. */
#define USPL_TRACE_ID_LONG                                                                         \
	0x80000000 /* or'ed to the id: a record with the time of the return follows */
/*
 * In that second record, where a first one has the duration: the call hasn't returned. A longjmp,
 * an exception or the end of its thread has left it, before that time.
 */
#define USPL_TRACE_LEFT 1
#define USPL_TRACE_ID_THREAD 0x7fffffff /* from here on the ring is another thread's */

#define USPL_TRACE_FRAMES 4096 /* room for eh_frame */
#define USPL_TRACE_RECORD 16
#define USPL_TRACE_RING_HEADER 64

/* Offsets, for the runtime; checked against the structures below. */
#define TC_THREADS 0
#define TC_CHUNKS 8
#define TC_RINGS 16
#define TC_RING_BYTES 24
#define TC_RING_MASK 32
#define TC_COUNTERS 40
#define TC_N_RINGS 48
#define TC_TID_OFFSET 56
#define TC_THRESHOLD 64
#define TC_NO_SYSCALLS 72
#define TC_CPU_OFFSET 80
#define TC_CPU_MASK 88
#define TC_DEPTH 96
#define TC_N_TIDS 104
#define TC_SHADOW 112
#define TC_EXIT 120
#define TC_ARENAS 128
#define TC_TIDS 1152
#define TC_SUMS 1416
#define TC_SUMS_LEN 1424
#define TC_SUMS_IDS 1432
#define TC_SUMS_SPARE 1440
#define TC_SUMS_NS 1448
#define TC_KEPT 1456

#define TT_THREAD 0
#define TT_KEY 8
#define TT_CHUNK 16
#define TT_RING 24
#define TT_MUTE 32
#define TT_TOP 40
#define TT_SUMS 48
#define TT_KEPT 56
#define TT_SIZE 64

#define TR_POS 0
#define TR_TID 8
#define TR_UNSEEN 16
#define TR_OPEN 24
#define TR_RECORDS 32
#define TR_EARLIER 40
#define TR_THREAD 48

#define TK_CHUNKS 64
#define TK_NAMES 12288

#define USPL_TRACE_ARENAS 64     /* modules that can be traced at once */
#define USPL_TRACE_TIDS 64       /* threads that can be chosen */
#define USPL_TRACE_DEPTH_MAX 500 /* of nested calls, if their depth is limited */

/*
 * The id of an entry's record has the processor in its upper bits: its number + 1, 0 where it isn't
 * known.
 */
#define USPL_TRACE_CPU_SHIFT 22
#define USPL_TRACE_CPU_MASK 0x3ff
#define USPL_TRACE_CPU_MAX 1021
#define USPL_TRACE_ENTRY_IDS 0x3fffff     /* where the id is */
#define USPL_TRACE_ENTRY_IDS_MAX 0x3ffff0 /* ids of entries are below: the others are signs */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* Where thunks lie: a return address in one of these is a thunk's. */
struct uspl_trace_arena {
	uint64_t start, len; /* len 0: unused */
};

/* Wiped in a child of fork, so that it records nothing: its rings are its parent's. */
struct uspl_trace_counters {
	uint64_t next_ring;
	uint64_t nowhere; /* calls and returns that no ring has counted */
	uint32_t enabled;
};

struct uspl_trace_control {
	uint64_t threads, chunks, rings; /* addresses */
	uint64_t ring_bytes;             /* of one ring with its header */
	uint64_t ring_mask;              /* bytes of records - 1 (a power of two) */
	uint64_t counters; /* address of a struct uspl_trace_counters, the same for all copies */
	uint64_t n_rings;
	/*
	 * Where, from the thread pointer, the libc keeps the thread's id (4 bytes): tells a thread
	 * from the next one with the same thread pointer. 0: not known.
	 */
	int64_t tid_offset;
	uint64_t threshold;   /* shorter calls are not recorded; ticks */
	uint64_t no_syscalls; /* not 0: a filter might forbid them */
	/*
	 * Where, from the thread pointer, the kernel keeps the number of the thread's processor (4
	 * bytes, rseq(2)). The mask is 0 where that isn't known.
	 */
	int64_t cpu_offset;
	uint64_t cpu_mask;
	uint64_t depth;  /* how many nested calls are recorded; for thunks with a limit */
	uint64_t n_tids; /* 0: all threads are recorded */
	uint64_t shadow; /* as in struct uspl_trace_region */
	uint32_t exit;   /* what thunks of markers push: include/uspl/mark_abi.h */
	uint32_t pad;
	struct uspl_trace_arena arenas[USPL_TRACE_ARENAS];
	uint32_t tids[USPL_TRACE_TIDS]; /* as the target knows them */
	uint64_t config;                /* where the listeners' is (listen_abi.h); 0: none */
	/*
	 * Of tracers that add up (sums_abi.h): where the first thread's table is, 0 if there is
	 * none; bytes of a table; the highest id; so many tables go to one thread each, then the
	 * table of a thread that has ended is used again; USPL_SUMS_NS.
	 */
	uint64_t sums, sums_len, sums_ids, sums_spare, sums_ns;
	uint64_t kept; /* where the struct uspl_trace_kept is; 0: there is none */
};

/* A thread that the runtime has seen. */
struct uspl_trace_thread {
	uint64_t thread;   /* its thread pointer; 0: free */
	uint32_t key, pad; /* what lies at tid_offset */
	uint64_t chunk;    /* the chunk that its stack is in, 0 if none yet; + 8 (see trace.S) */
	uint64_t ring;     /* address; 0: there is none left, or mute */
	uint64_t mute;     /* 1: this thread isn't to be recorded */
	uint64_t top;      /* of profile: the innermost open call, a word (sums_abi.h) */
	uint64_t sums;     /* the thread's table; 0: it has none */
	/*
	 * A ring that a trigger has taken away (trigger_fire.c). Of profile: the table of a thread
	 * that has ended, whose list of open calls is still there.
	 */
	uint64_t kept;
};

/* At the beginning of a ring. Written by the thread, read by the tool at any time. */
struct uspl_trace_ring {
	uint64_t pos; /* bytes of records ever taken */
	uint64_t tid;
	uint64_t unseen; /* calls that could not be recorded */
	/*
	 * With a limited depth: how many recorded calls are open. The addresses of their return
	 * addresses are behind the ring's records, the outermost first.
	 */
	uint64_t n_open;
	uint64_t records; /* of markers, ever taken */
	uint64_t earlier; /* threads that had this one's place, and have ended */
	uint64_t thread;  /* its thread pointer */
	uint64_t rest;
};

/*
 * Behind all rings: what is known of open calls by memory that the tool can hold when the process
 * has died. Behind its head, at TK_NAMES, are the names of the slots of as many chunks of stacks as
 * have found room (USPL_TRACE_NAMES each): the same memory as at USPL_TRACE_NAME. A name whose time
 * isn't 0 is that of an open call, or of one that was left.
 */
struct uspl_trace_kept {
	uint64_t next; /* chunks that have asked for a place */
	uint64_t rest[7];
	uint64_t chunks[USPL_TRACE_KEPT_CHUNKS]; /* 0: not there yet */
};

struct uspl_trace_name {
	uint64_t thunk, start;
};

/* A call: graph. */
struct uspl_trace_call {
	uint64_t start;    /* time stamp counter at the entry */
	uint32_t duration; /* ticks; 0xffffffff if USPL_TRACE_ID_LONG is set */
	uint32_t id;       /* of the site */
};

/* A call: function. */
struct uspl_trace_entry {
	uint64_t start;
	uint32_t caller; /* the low half of the return address */
	uint32_t id;     /* and the processor, see USPL_TRACE_CPU_SHIFT */
};

/*
 * Memory that no single module's part of a session owns lies in blocks, so that a tool that finds
 * one of which no record speaks any more can unmap it. A block begins with a guard and this mark,
 * r-- and anonymous, in a page of its own; then comes memory that is wiped in children of fork,
 * then memory that they don't get at all, if there is any, and a guard.
 */
#define USPL_TRACE_SHARED_MAP_MAGIC 0x314b4c4254504c53ull /* "SLPTBLK1", little endian */

struct uspl_trace_shared_map {
	uint64_t magic, map, map_len; /* as in struct uspl_partial: all of it, with its guards */
	/*
	 * What children don't get begins at `absent`; 0: there is nothing. They know that they are
	 * children by the word at `alive`, which is 0 in them and 1 otherwise.
	 */
	uint64_t absent, alive;
	uint64_t chunks; /* the table of chunks, 0: there is none here; and its session's shadow */
	uint64_t shadow;
};

#define USPL_TRACE_ABI_VERSION 12
#define USPL_TRACE_MAGIC 0x314543415254504cull /* "LPTRACE1", little endian */
#define USPL_TRACE_SITE_BYTES 5

/*
 * Where a module's part of a session is. A tool that finds SWITCHING knows that another one died
 * meanwhile: some sites hold their jump, others don't, and either is sound.
 */
enum uspl_trace_state {
	USPL_TRACE_LOADED = 1, /* no site holds its jump */
	USPL_TRACE_SWITCHING,
	USPL_TRACE_ON,
	USPL_TRACE_DRAINING, /* as LOADED; threads may still be inside traced calls */
};

/*
 * A traced function; its id is first_id plus its place in the array, and so is its thunk's. The
 * array is sorted by entry.
 */
struct uspl_trace_site {
	uint64_t entry; /* the function, and where the jump is */
	/*
	 * What the thunk runs: a chain slot of USPL_TRACE_SITE_BYTES in one aligned word, a NOP or
	 * the jump of an update of this function; then what the function did at its entry, and a
	 * jump back.
	 */
	uint64_t body;
	/* The program's own, whatever an update has made of them. */
	uint8_t old_bytes[USPL_TRACE_SITE_BYTES];
	/* When the jump is put in, no thread may stand in this many bytes, but at the first. */
	uint8_t guard;
	uint8_t moved;    /* 1: the body has the program's own instructions; 0: there were NOPs */
	uint8_t body_len; /* from the chain slot on */
};

/*
 * The record of a session in one module, at the beginning of a mapping that is private, anonymous
 * and r--, as in abi.h. Behind it the sites, and the module's name.
 */
struct uspl_trace_region {
	uint64_t magic;
	uint32_t version, state; /* enum uspl_trace_state */
	uint64_t self, map, map_len, info_len;
	uint64_t session;                      /* the same for all modules */
	uint64_t module;                       /* where it begins */
	uint64_t code;                         /* the runtime's copy; its control page follows */
	uint64_t thunks, thunks_len, text_len; /* text_len: thunks, and moved instructions behind */
	uint64_t eh_frame;
	uint32_t frames;  /* 1: the program's own unwinder knows eh_frame */
	uint32_t entries; /* 1: entries only */
	uint32_t first_id, n_sites;
	uint32_t sites, module_name; /* offsets */
	/* What all modules share. */
	uint64_t tables, tables_len, counters;
	uint64_t rings, rings_len, ring_bytes, ring_mask, n_rings;
	/* Where the tool lays what a thread of the target is to exchange (struct inject_word). */
	uint64_t poke_table, poke_table_len;
	/* The same moment by both clocks: time stamp counter, and CLOCK_MONOTONIC in ns. */
	uint64_t start_ticks;
	int64_t start_ns;
	/* Bits in which addresses in the session's shadow differ from USPL_TRACE_SHADOW. */
	uint64_t shadow;
	/* What listeners have (listen_abi.h); 0: there are none. */
	uint64_t config, listen_config_len;
	uint32_t job;  /* enum uspl_listen_job */
	uint32_t kept; /* 1: behind the rings, at rings + rings_len, is a struct uspl_trace_kept */
};

_Static_assert(sizeof(struct uspl_trace_site) == 24, "the layout is a contract");
_Static_assert(sizeof(struct uspl_trace_region) == 256, "the layout is a contract");

#define USPL_TRACE_AT(type, member, offset)                                                        \
	_Static_assert(offsetof(struct type, member) == (offset), "trace.S knows this")
USPL_TRACE_AT(uspl_trace_control, threads, TC_THREADS);
USPL_TRACE_AT(uspl_trace_control, chunks, TC_CHUNKS);
USPL_TRACE_AT(uspl_trace_control, rings, TC_RINGS);
USPL_TRACE_AT(uspl_trace_control, ring_bytes, TC_RING_BYTES);
USPL_TRACE_AT(uspl_trace_control, ring_mask, TC_RING_MASK);
USPL_TRACE_AT(uspl_trace_control, counters, TC_COUNTERS);
USPL_TRACE_AT(uspl_trace_control, n_rings, TC_N_RINGS);
USPL_TRACE_AT(uspl_trace_control, tid_offset, TC_TID_OFFSET);
USPL_TRACE_AT(uspl_trace_control, threshold, TC_THRESHOLD);
USPL_TRACE_AT(uspl_trace_control, no_syscalls, TC_NO_SYSCALLS);
USPL_TRACE_AT(uspl_trace_control, cpu_offset, TC_CPU_OFFSET);
USPL_TRACE_AT(uspl_trace_control, cpu_mask, TC_CPU_MASK);
USPL_TRACE_AT(uspl_trace_control, depth, TC_DEPTH);
USPL_TRACE_AT(uspl_trace_control, n_tids, TC_N_TIDS);
USPL_TRACE_AT(uspl_trace_control, shadow, TC_SHADOW);
USPL_TRACE_AT(uspl_trace_control, exit, TC_EXIT);
USPL_TRACE_AT(uspl_trace_control, arenas, TC_ARENAS);
USPL_TRACE_AT(uspl_trace_control, tids, TC_TIDS);
USPL_TRACE_AT(uspl_trace_control, sums, TC_SUMS);
USPL_TRACE_AT(uspl_trace_control, sums_len, TC_SUMS_LEN);
USPL_TRACE_AT(uspl_trace_control, sums_ids, TC_SUMS_IDS);
USPL_TRACE_AT(uspl_trace_control, sums_spare, TC_SUMS_SPARE);
USPL_TRACE_AT(uspl_trace_control, sums_ns, TC_SUMS_NS);
USPL_TRACE_AT(uspl_trace_thread, key, TT_KEY);
USPL_TRACE_AT(uspl_trace_thread, chunk, TT_CHUNK);
USPL_TRACE_AT(uspl_trace_thread, ring, TT_RING);
USPL_TRACE_AT(uspl_trace_thread, mute, TT_MUTE);
USPL_TRACE_AT(uspl_trace_thread, top, TT_TOP);
USPL_TRACE_AT(uspl_trace_thread, sums, TT_SUMS);
USPL_TRACE_AT(uspl_trace_thread, kept, TT_KEPT);
USPL_TRACE_AT(uspl_trace_ring, tid, TR_TID);
USPL_TRACE_AT(uspl_trace_ring, unseen, TR_UNSEEN);
USPL_TRACE_AT(uspl_trace_ring, n_open, TR_OPEN);
USPL_TRACE_AT(uspl_trace_ring, records, TR_RECORDS);
USPL_TRACE_AT(uspl_trace_ring, earlier, TR_EARLIER);
USPL_TRACE_AT(uspl_trace_ring, thread, TR_THREAD);
USPL_TRACE_AT(uspl_trace_control, kept, TC_KEPT);
USPL_TRACE_AT(uspl_trace_kept, chunks, TK_CHUNKS);
_Static_assert(sizeof(struct uspl_trace_kept) <= TK_NAMES, "its names begin on a page");
_Static_assert(sizeof(struct uspl_trace_thread) == TT_SIZE, "trace.S knows this");

#endif
#endif
