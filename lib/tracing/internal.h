/* SPDX-License-Identifier: GPL-3.0-or-later */
/* internal.h - what the files of lib/trace share among themselves */
#ifndef USPL_TRACING_INTERNAL_H
#define USPL_TRACING_INTERNAL_H

#include "live/clear.h"
#include "live/region.h"
#include "live/safety.h"
#include "live/site.h"
#include "live/unwinders.h"
#include "live/words.h"
#include "tracing/refs.h"
#include "tracing/session.h"
#include "tracing/spot.h"

/* Of the table of threads; the table of chunks follows it. */
#define TRACE_THREADS_LEN (USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread))

/* A whole number of pages. */
static inline uint64_t trace_pages(uint64_t len)
{
	return (len + PAGE - 1) & ~(PAGE - 1);
}

/*
 * The functions of a module that are wanted, and can be traced as wanted. updates: those that are
 * in the process, which isn't traced yet. Names are the image's and not to be used.
 */
int choose_spots(const struct proc *proc, const struct module *module, const region_vec *updates,
		 const struct trace_request *request, spot_vec *ret,
		 struct uspl_err *err) uspl_must_check;

/*
 * Bytes that the session may come to fill beside its parts: tables, and rings and shadows of the
 * threads.
 */
uint64_t share_may_fill(const struct proc *proc, const struct trace_request *request);
/*
 * Maps the tables and rings that all modules share, and notes them in head. The tables are wiped in
 * children of fork, the rings aren't there at all. USPL_E_MEMORY_LIMIT if a memory control group of
 * the process has less room than may be filled.
 */
int share_map(struct proc *proc, const struct trace_request *request,
	      struct uspl_trace_region *head, struct uspl_err *err) uspl_must_check;
/* What a copy of the runtime is told about them; all else in *ret is 0. */
void share_control(const struct proc *proc, const struct uspl_trace_region *head,
		   struct uspl_trace_control *ret);
/*
 * Unmaps them, and the shadows of stacks; what is left on failure is found by blocks_sweep
 * (block.h).
 */
int share_unmap(struct proc *proc, const struct uspl_trace_region *head,
		struct uspl_err *err) uspl_must_check;
/*
 * Notes the session's shadow (head->shadow), before a thread needs one. In a process that may not
 * map memory itself the stacks get theirs now.
 */
int share_note_shadow(struct proc *proc, const struct uspl_trace_region *head,
		      struct uspl_err *err) uspl_must_check;
/*
 * Of n choices of bits in which a session's shadow may differ (struct uspl_trace_region), the one
 * with which the shadows of the fewest stacks would lie where something is mapped; the first of
 * several.
 */
uint64_t stacks_choose_shadow(const struct proc *proc, const uint64_t *choices, size_t n);
/*
 * Gives the stacks that are known by now their shadows, for a process that may not map memory
 * itself; head has the tables. As far as there is room: what is left out is counted when it is
 * used.
 */
int stacks_map_shadows(struct proc *proc, const struct uspl_trace_region *head,
		       struct uspl_err *err) uspl_must_check;
/*
 * Fills in where the runtime finds a thread's id and its processor, as far as that can be told, and
 * which threads it records: those, or all if there are none. USPL_E_NO_PROCESS: one isn't there.
 * USPL_E_UNSUPPORTED: they are too many, or can't be told apart.
 */
int places_find(struct proc *proc, const tid_vec *tids, struct uspl_trace_control *control,
		struct uspl_err *err) uspl_must_check;

/*
 * Maps the desk of a session whose parts are loaded, and lays on it what the request's plan says;
 * notes it in the parts' records. On failure it may be mapped: desk_close.
 */
int desk_open(struct proc *proc, const struct trace_request *request, struct trace_session *session,
	      struct uspl_err *err) uspl_must_check;
/* Unmaps it, if there is one; what is left on failure is found by blocks_sweep (block.h). */
int desk_close(struct proc *proc, const struct uspl_trace_region *head,
	       struct uspl_err *err) uspl_must_check;

/*
 * Loads thunks for the spots of one module: maps, links, writes, the record last. `shared` has what
 * share_map noted. The region is LOADED then.
 */
int part_load(struct proc *proc, const struct module *module, const spot_vec *spots,
	      const struct trace_request *request, const struct uspl_trace_region *shared,
	      struct trace_region *ret, struct uspl_err *err) uspl_must_check;
/*
 * Unmaps what has got no record; of a failure the log says that `what` stays mapped. blocks_sweep
 * finds it then.
 */
void part_give_back(const struct proc *proc, taddr map, uint64_t len, const char *what);
/* Writes the state into the target. */
int part_write_state(const struct proc *proc, struct trace_region *region,
		     enum uspl_trace_state state, struct uspl_err *err) uspl_must_check;
/* The jump of a site. */
void part_site_jump(const struct trace_region *region, size_t i, uint8_t *ret_bytes);

/* Slots [first, end), in slots ever taken, of a ring whose records take mask + 1 bytes. */
struct ring_part {
	taddr ring;
	uint64_t mask, first, end;
};

/* Copies them out of the ring, which may wrap around: USPL_TRACE_RECORD bytes each. */
int ring_copy(const struct proc *proc, const struct ring_part *part, void *ret,
	      struct uspl_err *err) uspl_must_check;

/*
 * Of the threads that clear_look has found in the text (clear->inside), those that are there by
 * traced calls alone, and whose stacks can be followed: from now on these calls return to their
 * callers. Stops them for it, one by one; not one that stands in an unwinder. *ret_ended counts
 * them.
 */
int open_calls_end(struct clear *clear, const unwinder_code_vec *unwinders,
		   const struct trace_session *session, size_t *ret_ended,
		   struct uspl_err *err) uspl_must_check;

struct switch_way {
	bool on;
	struct clear_way clear; /* off: what is done about stacks that no thread is on */
};

/*
 * Switches all sites of the session, on or off. On failure some may have been switched: off again
 * takes them back. ret->inside is known only of a switch off.
 */
int switch_sites(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 const struct switch_way *way, struct trace_switch *ret,
		 struct uspl_err *err) uspl_must_check;

/* What all batches of a switch have in common. */
struct batch_input {
	const struct proc *proc;
	bool on;
	bool still; /* all sites are exchanged in stops: the module isn't lasting (proc/module.h) */
	struct unwinder *unwinder;
	const region_vec *updates;
	const addr_vec *updated; /* entries of functions that have updates or probes, sorted */
};

struct batch_result {
	size_t sites;     /* that were exchanged */
	double stop_us;   /* the longest standstill of those that run */
	bool rehearsed;   /* the stacks of those that run have been followed once */
	double switch_us; /* from before the first page is made ready to behind the last site */
};

/* Sites that can't be exchanged while somebody runs. */
struct still {
	const struct batch_input *in;
	const site_vec *sites; /* sorted by address */
	struct safety bytes;   /* in which no thread may stand then */
};

/* The input and the sites must outlive it. The target isn't looked at. */
int still_init(struct still *still, const struct batch_input *in, const site_vec *sites,
	       struct uspl_err *err) uspl_must_check;
void still_release(struct still *still);
/*
 * Follows the stacks of those that run, without stopping them, unless that has been done in this
 * switch: else it would be done for the first time in the first stop, which would be twice as long
 * for it. Some milliseconds.
 */
void still_rehearse(struct still *still, struct batch_result *result);
/*
 * Exchanges them in as many stops as nobody has to wait long in. Adds to result->stop_us.
 * USPL_E_BUSY: a thread stays between two of a site's instructions.
 */
int still_exchange(struct still *still, struct batch_result *result,
		   struct uspl_err *err) uspl_must_check;
/* All three. */
int still_exchange_once(const struct batch_input *in, const site_vec *sites,
			struct batch_result *result, struct uspl_err *err) uspl_must_check;

/* An entry whose NOPs are to be one, and its bytes then. */
struct nops_entry {
	taddr addr;
	uint8_t joined[USPL_TRACE_SITE_BYTES];
};

/*
 * Entries of several NOPs (nops.c), which become one instruction before a jump takes their place:
 * then nobody has to be stopped for that.
 */
struct nops {
	VEC(struct nops_entry) entries;
	struct words words; /* in which they become one */
	struct clear
		clear; /* the jumps' bytes but the first, in which nobody may stand any more then */
};

/*
 * How many words may have to be exchanged to switch the spots of a module on: those of several NOPs
 * twice.
 */
size_t nops_count_words(const spot_vec *spots);
/* None yet; the input must outlive it. */
void nops_init(struct nops *nops, const struct batch_input *in);
/* Frees the entries, and what is known of threads. */
void nops_release(struct nops *nops);
/* Takes an entry in; they come by address. */
int nops_add(struct nops *nops, taddr entry, const uint8_t *joined,
	     struct uspl_err *err) uspl_must_check;
/*
 * Of the words in which jumps take the entries' place, which are to begin with the NOPs as they
 * are: from here on they begin with joined ones. Writes the table of those in which they are
 * joined, behind the one of these words; slate, agent and sleeper are those of these words. What is
 * found out of the threads now makes nops_await_clear quick.
 */
int nops_take(struct nops *nops, struct words *words, struct uspl_err *err) uspl_must_check;
/*
 * When the NOPs are joined: waits until no thread stands at one of the bytes. USPL_E_BUSY: it took
 * too long.
 */
int nops_await_clear(struct nops *nops, struct uspl_err *err) uspl_must_check;

/*
 * Exchanges the sites of a region whose module is there; adds to the result. Sites that are off
 * already are passed over when they are to be off.
 */
int batch_exchange(const struct batch_input *in, const struct trace_region *region,
		   struct batch_result *result, struct uspl_err *err) uspl_must_check;

/*
 * Turns the calls of a profiler in one module into NOPs, for good; adds to the result. Threads
 * stand still for it if there are any.
 */
int quieten(struct proc *proc, const struct module *module, struct batch_result *result,
	    struct uspl_err *err) uspl_must_check;

#endif
