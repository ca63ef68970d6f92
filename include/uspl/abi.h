/* SPDX-License-Identifier: MIT */
/*
 * abi.h - what lies in the target's memory: the contract between the tools, the runtime, and tools
 * of other versions
 *
 * The truth about what is applied lies in the target itself, so that no state file can go stale and
 * fork children inherit a true copy. Each (update, module) pair has one region, mapped privately
 * within reach of the module, if there is room:
 *
 *     guard | info, r-- | text, r-x | read-only data and GOT, r-- | data, rw- | trampolines, r-x |
 *     selector, rw- | guard
 *
 * The guards are PROT_NONE, so that the kernel merges the info mapping with no neighbour: a tool
 * finds all regions by reading the first bytes of every anonymous private r-- mapping. The info
 * part begins with struct uspl_region; offsets in it count from there. The tools write it through
 * /proc/PID/mem; the target itself can't.
 */
#ifndef USPL_ABI_H
#define USPL_ABI_H

#include <stdint.h>

/*
 * Of a record without hooks, of one of an update that has some, of one with struct
 * uspl_region_more, be there hooks or not, and of one with struct uspl_region_by_thread, too.
 */
#define USPL_ABI_VERSION 8
#define USPL_ABI_VERSION_HOOKS 9
#define USPL_ABI_VERSION_MORE 10
#define USPL_ABI_VERSION_BY_THREAD 11
/*
 * The oldest one that tools still read: it lacks what stands behind `names` in struct uspl_region.
 */
#define USPL_ABI_VERSION_READ 7
#define USPL_REGION_MAGIC 0x314e4745524c5053ull /* "SPLREGN1", little endian */

#define USPL_ID_MAX 64         /* an update's id with its NUL */
#define USPL_SITE_BYTES_MAX 16 /* the longest jump that replaces an entry, with room */

/*
 * An update's state in one process. It is written before and after the sites are, so that a tool
 * that finds SWITCHING knows that another one died in between, and which way it was going.
 *
 *     state           entries hold       new code may run      next
 *     LOADED          old bytes          no                    SWITCHING_ON, (unmapped)
 *     SWITCHING_ON    some of each       yes                   APPLIED, LOADED
 *     APPLIED         jumps              yes                   SWITCHING_OFF
 *     SWITCHING_OFF   some of each       yes                   UNDONE, APPLIED
 *     UNDONE          old bytes          through pointers      SWITCHING_ON
 *     PENDING         -                  -                     UNDONE, (unmapped)
 *
 * PENDING is the state of a record without code: it says that the update is also for a library that
 * the process doesn't map. When that has been loaded, the next apply makes a region for it, and
 * unmaps this one. So the record of a library that is unloaded goes, too: one whose `module` is no
 * longer there counts for nothing, whatever its state says (lib/record/region_status.h).
 */
enum uspl_region_state {
	USPL_REGION_LOADED = 1,
	USPL_REGION_SWITCHING_ON,
	USPL_REGION_APPLIED,
	USPL_REGION_SWITCHING_OFF,
	USPL_REGION_UNDONE,
	USPL_REGION_PENDING,
	USPL_REGION_STATE_LAST = USPL_REGION_PENDING,
};

/*
 * The selector that says where the trampolines of an update lead (docs/transition.md). From OLD the
 * tool sets HOLD_OLD, from NEW HOLD_NEW. From a HOLD on, threads of the target swap the selector
 * together with the commit byte beside it: (HOLD_x, no commit byte) for (x, none) when its hold
 * timeout is over, (HOLD_x, a commit byte) for (what that says, none). The tool then writes nothing
 * but the commit byte: once that is written, it is as if the selector said so already, unless the
 * hold timeout was over before, which the tool sees when it reads both.
 */
enum uspl_selector_value {
	USPL_SELECTOR_OLD = 0,
	USPL_SELECTOR_NEW = 1,
	USPL_SELECTOR_HOLD = 2, /* added to what it falls back to */
	USPL_SELECTOR_HOLD_OLD = USPL_SELECTOR_OLD + USPL_SELECTOR_HOLD,
	USPL_SELECTOR_HOLD_NEW = USPL_SELECTOR_NEW + USPL_SELECTOR_HOLD,
	/*
	 * Where an update changes several modules: the region's trampolines do what another
	 * region's selector says, its leader's. A tool writes it, and writes OLD or NEW again,
	 * while that makes no difference.
	 */
	USPL_SELECTOR_FOLLOW = 4,
	/*
	 * Added to a HOLD: trampolines let those threads pass whose stack pointer lies in one of
	 * the selector's struct uspl_inside, to where a lapse would lead them, and hold all others.
	 * So those that are in the functions can leave them, whatever they call on their way.
	 */
	USPL_SELECTOR_DRAIN = 8,
	/*
	 * Added to the value that is to come, in records with struct uspl_region_by_thread: threads
	 * go over one by one. Trampolines lead to that value, but for the threads that have a
	 * struct uspl_slot and are in the call that it tells of: these go on as before. A HOLD
	 * added to all of it falls back to that, and a commit byte may lead to it.
	 */
	USPL_SELECTOR_BY_THREAD = 16,
	/* Added to BY_THREAD: the second set of slots is the one that counts. */
	USPL_SELECTOR_SECOND = 32,
};

/* What the tool writes beside a selector that holds: this and the value that is to come. */
enum uspl_selector_commit {
	USPL_COMMIT_NONE = 0,
	USPL_COMMIT_SAID = 2,
	USPL_COMMIT_OLD = 2 + USPL_SELECTOR_OLD,
	USPL_COMMIT_NEW = 2 + USPL_SELECTOR_NEW,
};

struct uspl_selector {
	uint8_t value;  /* enum uspl_selector_value */
	uint8_t commit; /* enum uspl_selector_commit; means nothing unless the value is a HOLD */
	uint8_t pad[2];
	/* How many turns a thread waits at most; written before a HOLD, as is all_turns. */
	uint32_t turns;
	/*
	 * The address of the selector that decides: this one or another region's. Written before
	 * this selector is made anything else than OLD and NEW, and only while no trampoline can be
	 * reading it.
	 */
	uint64_t leader;
	/* to another line of the cache: trampolines read the selector all the time */
	uint8_t apart[48];
	/*
	 * How many turns all together wait at most; counted down. Threads that share processors are
	 * late with their own turns, the later the more of them wait.
	 */
	int32_t all_turns;
	uint32_t pad2;
};

/*
 * A part of the stack of a thread that is in a function which is to be switched: what it calls from
 * there has a stack pointer in [low, high). An array of them lies USPL_INSIDE_AT bytes behind the
 * selector's beginning, and ends with one whose `high` is 0. The tool writes it, before a DRAIN.
 */
struct uspl_inside {
	uint64_t low, high;
};

#define USPL_INSIDE_AT 128
#define USPL_INSIDE_MAX 32

/* The selector with the rest of its page. */
#define USPL_SELECTOR_LEN 4096ull

/*
 * A thread that has not gone over yet: the word at %fs:0, where its outermost call of the code that
 * is to be left found the stack pointer, and an end up to which nothing else can have it. A thread
 * that comes to a trampoline with its stack pointer in [low, high) has left that call, and clears
 * `thread`; anywhere else it counts as being in it. Where it is at `high` or above, it may have
 * left the call and begin another one there, in which it comes through the range: it makes `low` so
 * large that nothing is in the range any more. Two sets lie USPL_SLOTS_AT bytes behind the
 * selector's beginning, USPL_SLOTS_LEN apart; each ends with a slot whose `high` is 0. The tool
 * writes the set that doesn't count, while it holds, and says by the commit byte that it does.
 */
struct uspl_slot {
	uint64_t thread, low, high;
};

#define USPL_SLOTS_AT 4096
#define USPL_SLOTS_LEN 1024
#define USPL_SLOTS_MAX 32

/* The selector with the slots. */
#define USPL_SELECTOR_LEN_BY_THREAD 8192ull

/* How an entry can be led to its trampoline while the program runs. */
enum uspl_entry {
	USPL_ENTRY_PLAIN, /* it can't, or that has not been tried */
	/* by its first byte: the jump leads to `punned`, and that to the trampoline */
	USPL_ENTRY_PUNNED,
	USPL_ENTRY_STORE, /* by all its bytes, with one store: the jump leads to the trampoline */
	USPL_ENTRY_LAST = USPL_ENTRY_STORE,
};

/* One redirected function. */
struct uspl_site {
	uint64_t addr;     /* where the jump is written */
	uint64_t new_addr; /* where it leads */
	/*
	 * Bytes of the code at addr that must have no thread in them but at the first; 0: there is
	 * a range for it, since the function has a loop that begins there
	 */
	uint64_t old_size;
	uint32_t name; /* offset of the function's name, NUL-terminated */
	/*
	 * How many bytes are written. Fewer than a jump has: what stands behind them belongs to it.
	 */
	uint32_t len;
	uint8_t old_bytes[USPL_SITE_BYTES_MAX]; /* what stood there before */
	uint8_t new_bytes[USPL_SITE_BYTES_MAX]; /* what we wrote */
	uint64_t punned;     /* its punned trampoline, in pages mapped for those or behind code */
	uint32_t punned_len; /* of that, 0 if there is none */
	uint32_t entry;      /* enum uspl_entry */
};

/*
 * A named piece of code: more that belongs to replaced functions (.cold parts), where no thread may
 * be at the switch; or a function of the new code.
 */
struct uspl_range {
	uint64_t addr, size;
	uint32_t name, pad;
};

struct uspl_region {
	uint64_t magic;
	/* USPL_ABI_VERSION...; a tool refuses to touch a region of one that it doesn't read */
	uint32_t version;
	uint32_t state;        /* enum uspl_region_state */
	uint64_t self;         /* the address of this header */
	uint64_t map, map_len; /* the whole region with its guards */
	uint64_t info_len;     /* of the info part, whole pages */
	uint64_t text, text_len;
	uint64_t eh_frame, eh_frame_len; /* call frame information of text, 0 if none */
	uint64_t data, data_len;         /* the writable part, 0 if none */
	/* one trampoline for each site, in their order; 0: none */
	uint64_t trampolines, trampolines_len;
	/*
	 * struct uspl_selector, in a page of its own behind them; the tools use the rest of the
	 * page
	 */
	uint64_t selector;
	uint64_t detours;   /* struct uspl_detours, in the read-only data; 0: text has none */
	uint64_t module;    /* where the changed module begins; 0: it isn't there (any more) */
	int64_t applied_at; /* seconds since the epoch */
	uint64_t order;     /* counts up in a process with every apply: which is newer */
	char id[USPL_ID_MAX];
	uint32_t description;      /* offsets of NUL-terminated strings */
	uint32_t module_name;      /* of its file */
	uint32_t patch, patch_len; /* the source diff */
	uint32_t sites, n_sites;   /* offset of the struct uspl_site array */
	uint32_t ranges, n_ranges; /* offset of the struct uspl_range array of old code */
	uint32_t build_id;         /* offset of a string: the module's, in hex; may be empty */
	uint32_t frames;           /* 1: the program's own unwinder knows eh_frame */
	uint32_t builds_on;        /* offset: ids of older updates whose code or data it uses */
	/*
	 * 1 + the pthread key under which threads keep their new thread-local variables, and
	 * USPL_THREADS_PLAIN; 0: none
	 */
	uint32_t thread_key;
	uint32_t names, n_names; /* offset of a struct uspl_range array: all functions in text */
	/*
	 * Offsets of strings: the SHA-256 of the update's file in hex, and the id of the key that
	 * it was signed with; "" if it was applied from an unpacked folder, or isn't signed.
	 */
	uint32_t digest, signer;
};

/* How long the record's head is in the oldest version that is read. */
#define USPL_REGION_LEN_READ 272
/* A function that runs in the process when its update is applied or undone (uspl/hook.h). */
struct uspl_region_hook {
	uint64_t addr;
	uint32_t name; /* as in struct uspl_site */
	uint32_t kind; /* enum uspl_hook_kind */
};

/*
 * Follows struct uspl_region in every region of an update with hooks. `phase` is the kind whose
 * turn it is, 0 while nothing goes on, and `done` counts how many of this region's hooks of that
 * kind have run. The thread that runs a hook counts it in the same run, which it finishes even if
 * the tool dies: so no hook runs twice, and the next command knows which are due.
 *
 *     phase                 what was done                      after a tool's death
 *     PRE_APPLY             hooks that may refuse              FAIL_APPLY
 *     APPLY                 all that was asked agreed          the rest, the entries, POST_APPLY
 *     POST_APPLY            it is applied                      the rest
 *     FAIL_APPLY            it is not applied                  the rest
 *
 * and the same of undo. Hooks that are asked at a standstill have no phase of their own.
 */
struct uspl_region_hooks {
	/* offset of the struct uspl_region_hook array; 0: the update has no hooks */
	uint32_t hooks, n_hooks;
	uint32_t phase, done; /* an aligned word of 8 bytes */
};

/*
 * A variable of the program that has its old initial value before the switch and the new one after
 * it, and gets the old one back by an undo if it still has the new one.
 */
struct uspl_region_datum {
	uint64_t addr;
	uint32_t name, len;
	uint8_t was[USPL_SITE_BYTES_MAX], is[USPL_SITE_BYTES_MAX];
};

/*
 * Follows struct uspl_region_hooks in the records of an update that takes the place of others, that
 * has states, or changes initial values.
 *
 * The replaced updates' records stay APPLIED until all is switched, and this one's says
 * SWITCHING_ON until theirs say UNDONE. So while it does, the records of those in `replaces` that
 * are APPLIED tell what still has to go.
 */
struct uspl_region_more {
	uint32_t replaces; /* offset of a string: ids, separated by blanks; "" if there are none */
	uint32_t states;   /* the same: "NAME=NUMBER" (uspl/hook.h) */
	uint32_t data, n_data; /* offset of the struct uspl_region_datum array */
};

/*
 * Follows struct uspl_region_more in the records of updates that may be switched thread by thread:
 * their trampolines know BY_THREAD, and the selector has slots behind its page.
 */
struct uspl_region_by_thread {
	uint32_t agreed; /* 1: the update's author says so, 0: whoever applied it did */
	uint32_t pad;
};

/*
 * What the info part holds from its mapping on until the record is written over it. The thread of
 * the target that maps it writes this as well, and does so even if the tool dies meanwhile: so the
 * next tool knows what is of no use, and unmaps it.
 */
#define USPL_PARTIAL_MAGIC 0x314d4f4f524c5053ull /* "SPLROOM1", little endian */

struct uspl_partial {
	uint64_t magic;
	uint64_t map, map_len; /* of the region with its guards */
};

/*
 * What runtime/threads.S needs to find the block of new thread-local variables of the thread that
 * it runs in, and to make it.
 */
struct uspl_threads {
	uint64_t get, set;       /* pthread_getspecific, pthread_setspecific */
	uint64_t key;            /* the address of a region's thread_key */
	uint64_t init, init_len; /* what a new block begins with; the rest is zero */
	uint64_t size;           /* of a block */
	uint64_t
		/*
		 * the address of a descriptor of the module's own block, if code counts from there
		 */
		block;
};

/*
 * A descriptor of thread-local variables of a module without a fixed place (runtime/descriptor.S).
 */
struct uspl_descriptor {
	uint64_t code;       /* uspl_descriptor */
	uint64_t id, offset; /* the module's number, and where in its block */
	uint64_t get;        /* __tls_get_addr */
};

/*
 * An instruction of text that isn't as it was compiled, but a jump to a detour: its operand is out
 * of its reach, or its place must be asked for. A later update is compared with what was compiled.
 */
struct uspl_detour {
	uint64_t addr; /* where the instruction would be */
	uint64_t code; /* the detour */
	/*
	 * What the field stands for: an address, or the offset in a block of thread-local
	 * variables.
	 */
	uint64_t value;
	/*
	 * The function that tells the place of that offset: of this update, or of an older one that
	 * has brought the variable; 0: value is an address.
	 */
	uint64_t helper;
	uint32_t code_len;
	uint8_t insn_len, field, pad[2];
	uint8_t insn[16]; /* as it was compiled; what its field holds means nothing */
};

struct uspl_detours {
	/*
	 * uspl_threads_distance and uspl_threads_from_block; 0: no thread-local variables are new
	 */
	uint64_t distance, from_block;
	uint64_t n; /* so many struct uspl_detour follow */
};

/* In thread_key: pthread_getspecific is known to change no vector register. */
#define USPL_THREADS_PLAIN 0x80000000u
/* The first bytes of a block, the runtime's own. */
#define USPL_THREADS_HEAD 64
/* A thread's data under these keys needs no memory of the C library's: glibc's own limit. */
#define USPL_THREADS_KEYS 32

#ifdef __cplusplus
#define USPL_ABI_ASSERT(name, size)                                                                \
	static_assert(sizeof(name) == (size), "the layout is a contract")
#else
#define USPL_ABI_ASSERT(name, size)                                                                \
	_Static_assert(sizeof(name) == (size), "the layout is a contract")
#endif
USPL_ABI_ASSERT(struct uspl_selector, 72);
USPL_ABI_ASSERT(struct uspl_inside, 16);
USPL_ABI_ASSERT(struct uspl_slot, 24);
USPL_ABI_ASSERT(struct uspl_site, 80);
USPL_ABI_ASSERT(struct uspl_range, 24);
USPL_ABI_ASSERT(struct uspl_region, 280);
USPL_ABI_ASSERT(struct uspl_region_hook, 16);
USPL_ABI_ASSERT(struct uspl_region_hooks, 16);
USPL_ABI_ASSERT(struct uspl_region_datum, 48);
USPL_ABI_ASSERT(struct uspl_region_more, 16);
USPL_ABI_ASSERT(struct uspl_region_by_thread, 8);
USPL_ABI_ASSERT(struct uspl_threads, 56);
USPL_ABI_ASSERT(struct uspl_descriptor, 32);
USPL_ABI_ASSERT(struct uspl_detour, 56);
USPL_ABI_ASSERT(struct uspl_detours, 24);

#endif
