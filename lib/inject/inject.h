/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject.h - system calls and function calls that the target makes for the tool
 *
 * One thread is held for some 50 microseconds; the others run on. The code that it executes
 * (runtime/agent.S) ends in rt_sigreturn of a frame that holds all its registers: if the tool is
 * killed at any instant, the thread finishes the requests and goes on where it was. carrier.h has
 * the two ways for it.
 */
#ifndef USPL_INJECT_INJECT_H
#define USPL_INJECT_INJECT_H

#include "proc/module.h"
#include <sys/mman.h>
#include <sys/syscall.h>

#include "proc/proc.h"
#include "thread/thread.h"

enum inject_kind {
	INJECT_SYSCALL = 0, /* number and up to 6 arguments */
	INJECT_CALL = 1,    /* a function's address and up to 6 integer arguments (System V ABI) */
	INJECT_STORE = 2,   /* args[0] into the 8 aligned bytes at an address, in one piece */
	/*
	 * args[0] entries of a table (struct inject_word) at an address: each word that has `from`
	 * gets `to`, in one piece for every thread that reads it. The result is how many there were
	 * before the first one that has something else.
	 */
	INJECT_TABLE = 3,
	/*
	 * From here on the result page is at an address, with this request and those behind it on
	 * it, if the result of the one before it is args[0]; else the run ends. The tool knows it
	 * there by args[1]. Not for callers: see struct inject_choice.
	 */
	INJECT_MOVE = 4,
};

struct inject_req {
	enum inject_kind kind;
	uint64_t what;
	uint64_t args[6];
	int64_t result; /* out: the return value; a system call's is -errno if it failed */
};

/* An aligned word of 8 bytes, and what becomes of it. */
struct inject_word {
	uint64_t addr, from, to;
};

/*
 * How a function is watched that a thread calls for the tool. A call that takes too long, or gets a
 * signal for what it does itself (SIGSEGV, say), is ended: the thread is put back to where it was,
 * and the program's handlers don't see the signal. Whatever the function has done until then stays.
 */
struct inject_watch {
	/*
	 * For all requests of the run together, but not for the time in which the thread waits for
	 * a processor.
	 */
	int64_t limit_ns;
	bool late;  /* out: it was not done by then */
	int signal; /* out: the signal that it got; 0: none */
};

#define INJECT_MAX (AGENT_REQUESTS_MAX - 1) /* requests in one run */

/* A system call with up to three arguments. */
static inline struct inject_req inject_syscall(long nr, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct inject_req){ .kind = INJECT_SYSCALL,
				    .what = (uint64_t)nr,
				    .args = { a, b, c } };
}

/* mmap of anonymous memory; flags: MAP_PRIVATE or MAP_SHARED, and what else is wanted. */
static inline struct inject_req inject_mmap(taddr addr, uint64_t len, int prot, int flags)
{
	struct inject_req req = inject_syscall(SYS_mmap, addr, len, (uint64_t)prot);

	req.args[3] = (uint64_t)(flags | MAP_ANONYMOUS);
	req.args[4] = (uint64_t)-1;
	return req;
}

/*
 * Runs the requests in order in one thread of the target. Stops after the first system call that
 * fails: *ret_done counts those that were made, the failed one included. Returns 0 even then, the
 * caller looks at the results; fails when the requests could not be run at all (*ret_done is 0).
 * The target must not be stopped by the tool, and this thread must be the one that traces it.
 */
int inject_run(const struct proc *proc, struct inject_req *reqs, size_t n, size_t *ret_done,
	       struct uspl_err *err) uspl_must_check;

/*
 * The same with a result page in what the first request maps (struct inject_choice); 0: there is no
 * room for one.
 */
int inject_run_mapping(const struct proc *proc, taddr result_page, struct inject_req *reqs,
		       size_t n, size_t *ret_done, struct uspl_err *err) uspl_must_check;

/*
 * Unmaps whole pages of the target, all at once: where they begin with a record of the tool's
 * nothing can be left without it. USPL_E_BUSY, and nothing is done, as long as a thread is in the
 * agent of a tool that has died, since it may still write there. What private pages hold is given
 * back before, except for the first megabyte, from behind and in at most some 30 pieces, so that no
 * thread is held for long. Also fails when a system call itself fails; then the pages stay, maybe
 * empty.
 */
#define INJECT_UNMAP_FIRST (1ull << 20) /* which keeps what it holds until all is unmapped */
int inject_unmap(const struct proc *proc, taddr addr, uint64_t len,
		 struct uspl_err *err) uspl_must_check;

/*
 * USPL_E_BUSY as long as a thread is in the agent of a tool that has died, and may go on with what
 * it was sent to do; otherwise such agents are removed. modules: as in struct inject_choice.
 */
int inject_require_alone(const struct proc *proc, const module_vec *modules,
			 struct uspl_err *err) uspl_must_check;

/* The agent's code in its place in the target, for runs that must be quick. */
struct inject_agent;

/* Which threads may make the requests, and how. */
struct inject_choice {
	/* Asked with the thread stopped and its registers read. NULL: all of them. */
	bool (*fit)(void *ctx, const struct thread *thread);
	void *ctx;
	/*
	 * INJECT_RESULT_PAGE_LEN bytes that the target may write, and that stay where they are
	 * whatever thread ends: then a thread that runs stands still only once, for a short time.
	 * 0: it stands still until all requests are made.
	 */
	taddr result_page;
	/*
	 * The result page lies in what the first request maps, an mmap at an address where nothing
	 * may be mapped yet (MAP_FIXED_NOREPLACE): it comes into being with the run.
	 */
	bool maps_result_page;
	/*
	 * An agent that is in its place already, for several runs in a row; NULL: one for each run.
	 */
	struct inject_agent *agent;
	/*
	 * The process's modules, where the caller knows them; NULL: they are read for the agent's
	 * place.
	 */
	const module_vec *modules;
	/*
	 * A thread that is asked before all others, without a look at them, if it sleeps as
	 * inject_sleeper says; 0: none.
	 */
	pid_t sleeper;
	struct inject_watch *watch; /* NULL: a run may take ten seconds */
};

#define INJECT_RESULT_PAGE_LEN sizeof(struct agent_result_page)

/*
 * The same in a thread that is fit. A function that takes locks must not be called in a thread that
 * holds them already: here the caller says which threads can't hold them. USPL_E_BUSY if no thread
 * is fit at the moment; then nothing was called.
 */
int inject_run_in(const struct proc *proc, const struct inject_choice *choice,
		  struct inject_req *reqs, size_t n, size_t *ret_done,
		  struct uspl_err *err) uspl_must_check;

/*
 * Bytes behind a module's code, up to the end of its last page, that nothing uses, not even the
 * agent: [*ret_start, *ret_end). False if there are none.
 */
bool agent_spare(const struct proc *proc, const struct module *module, taddr *ret_start,
		 taddr *ret_end);

/*
 * Puts the code in its place, in 0.1 to 0.2 ms. modules: as in struct inject_choice. proc must
 * outlive it.
 */
int agent_new(const struct proc *proc, const module_vec *modules, struct inject_agent **ret,
	      struct uspl_err *err) uspl_must_check;
/*
 * Puts back what was there: nothing, or the agent that another tool has left behind. Where a thread
 * could not be brought out of the code in time, the code stays: it is needed.
 */
void agent_free(struct inject_agent *agent);

/*
 * An agent that a tool left behind when it died. A thread may still be in it, and do what it was
 * sent to do at any later time: a caller that depends on that not happening treats it as code that
 * must be empty.
 */
struct inject_left {
	taddr addr;
	uint64_t len;
};

typedef VEC(struct inject_left) inject_left_vec;

/* Appends those that there are; to be called while no agent of this tool is in its place. */
int agent_left_find(const struct proc *proc, const module_vec *modules, inject_left_vec *ret,
		    struct uspl_err *err) uspl_must_check;
/* Removes them. No thread may be in them. */
void agent_left_clear(const struct proc *proc, const inject_left_vec *left);

/*
 * Makes the requests in a thread that stands still already, with its registers read, while all that
 * stand still go on doing so; afterwards it stands where it was. Fails if the requests weren't
 * made, as far as that is known. watch: as in struct inject_choice.
 */
int inject_run_stopped(struct inject_agent *agent, struct thread *thread, struct inject_req *reqs,
		       size_t n, struct inject_watch *watch, struct uspl_err *err) uspl_must_check;

/*
 * A thread that sleeps in a system call that restarts as if nothing had happened, as far as can be
 * seen without stopping it: the best one to make requests, as it misses nothing. 0: there is none.
 */
pid_t inject_sleeper(const struct proc *proc);

#endif
