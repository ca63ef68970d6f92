// SPDX-License-Identifier: GPL-3.0-or-later
// safe_call.c - calls of the program's own functions, in a thread that holds none of their locks
/*
 * A function that takes locks of the allocator or of the dynamic linker (it allocates, or may be
 * bound on its first call) has to be called by the program, in one of its threads, at a moment that
 * the program doesn't know of. Other threads run on, so that a lock which one of them holds will be
 * free again. But the thread itself must not hold one. There are two places at which it is certain
 * that it doesn't:
 *
 *   asleep    in a system call that waits for time, input or other processes (epoll_wait, read):
 *             allocators and dynamic linkers make none of these. Or in futex, if the function that
 *             waits is one that programs call for an event: pthread_cond_wait, sem_wait, ...
 *   running   code of the program, or of a library that isn't libc and defines no allocator; of
 *             updates, while not all signals are blocked: a thread that has the lock of a shadow
 *             variable has blocked them (uspl/shadow.h).
 *
 * In both cases its stack must be unwound to the end, must have no signal frame (a handler may have
 * interrupted malloc), and no frame of the dynamic linker, of libgcc, or of a library that brings
 * its own allocator: a constructor or a callback may be called with their locks held. All other
 * threads are passed over. If none is fit, the tool looks again a little later: others will come to
 * such places.
 *
 * A process that is stopped (SIGSTOP) frees no lock. So all of its threads have to be at such
 * places, and then any of them will do. Waiting doesn't help there: what isn't so at once is
 * refused at once. A thread that has stopped its process itself (raise) holds no lock either.
 *
 * Before its first constructor (struct proc, `begins`) a program has one thread, and the dynamic
 * linker calls no code with its locks held. But an allocator of the program's own would set itself
 * up now, and read its environment, which the C library doesn't have yet.
 */

#include "safety/safe_call.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "arch/regs.h"
#include "base/cancel.h"
#include "base/log.h"
#include "proc/dynsym.h"
#include "proc/task.h"
#include "safety/stack.h"

#define WAIT_NS 5000000000ll
#define PAUSE_NS 2000000
/* Between the system call and the function that programs call lie a few functions of libc's own. */
#define INNER_FRAMES 4

enum role {
	ROLE_PROGRAM,   /* nothing is known against it */
	ROLE_LIBC,      /* holds locks inside, but calls no other code with them */
	ROLE_SENSITIVE, /* may call others while it holds a lock that the call needs */
};

/* The functions in which a thread waits for an event, holding none of its libc's locks. */
static const char *const wait_functions[] = {
	"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
	"sem_wait",          "sem_timedwait",          "sem_clockwait",
	"pthread_join",      "pthread_timedjoin_np",   "pthread_barrier_wait",
};

struct code {
	taddr start, end;
};

struct safe_call {
	const struct proc *proc;
	const module_vec *modules;
	enum role *roles; /* by the module's place in modules */
	VEC(struct code) waits;
	struct unwinder *unwinder;
	bool begins, own_allocator;
	/* From one look at all threads: which are stopped, and whether one may hold a lock. */
	tid_vec stopped;
	bool doubtful;
	bool all_safe; /* all are stopped, and none holds a lock */
};

/* What is seen of one stack. */
struct view {
	const struct safe_call *safe_call;
	size_t n;
	taddr pc;        /* of the innermost frame */
	bool in_wait;    /* one of the innermost frames is in a wait function */
	bool in_program; /* the innermost one is the program's own code */
	bool doubtful;
};

static bool starts(const char *str, const char *prefix)
{
	return str && !strncmp(str, prefix, strlen(prefix));
}

static bool defines(struct dynsyms *dyn, const char *name, taddr *ret)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, NULL);

	if (!sym || sym->st_shndx == SHN_UNDEF)
		return false;
	*ret = dynsyms_address(dyn, sym->st_value);
	return true;
}

static enum role role_of(struct dynsyms *dyn)
{
	const struct module *module = dyn->module;
	taddr addr;

	if (starts(module->name, "ld-linux") || starts(module->soname, "ld-linux"))
		return ROLE_SENSITIVE;
	if (defines(dyn, "__register_frame", &addr) && !module->is_main)
		return ROLE_SENSITIVE;
	if (!defines(dyn, "malloc", &addr))
		return ROLE_PROGRAM;
	return module->is_main || defines(dyn, "pthread_create", &addr) ? ROLE_LIBC
									: ROLE_SENSITIVE;
}

static bool has_own_allocator(struct dynsyms *dyn)
{
	taddr addr;

	return !starts(dyn->module->name, "ld-linux") && defines(dyn, "malloc", &addr) &&
	       !defines(dyn, "gnu_get_libc_version", &addr);
}

static int note_waits(struct safe_call *safe_call, struct dynsyms *dyn, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(wait_functions); i++) {
		const Elf64_Sym *sym = dynsyms_find(dyn, wait_functions[i], NULL);
		struct code *code;

		if (!sym || sym->st_shndx == SHN_UNDEF || !sym->st_size)
			continue;
		code = vec_push(&safe_call->waits);
		if (!code)
			return uspl_fail_nomem(err);
		code->start = dynsyms_address(dyn, sym->st_value);
		code->end = code->start + sym->st_size;
	}
	return 0;
}

static int look_at_modules(const struct proc *proc, struct safe_call *safe_call,
			   struct uspl_err *err)
{
	for (size_t i = 0; i < safe_call->modules->n; i++) {
		auto_dynsyms struct dynsyms *dyn = NULL;
		int rc = dynsyms_open(proc, &safe_call->modules->items[i], &dyn, err);

		if (rc)
			return rc;
		safe_call->roles[i] = role_of(dyn);
		safe_call->own_allocator |= has_own_allocator(dyn);
		/* A program without a dynamic linker has its libc inside. */
		if (dyn->module->is_main && !dyn->debug)
			safe_call->roles[i] = ROLE_LIBC;
		rc = note_waits(safe_call, dyn, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void safe_call_release(struct safe_call *safe_call)
{
	free(safe_call->roles);
	vec_release(&safe_call->waits);
	vec_release(&safe_call->stopped);
	unwinder_free(safe_call->unwinder);
}

DEFINE_AUTO_RELEASE(safe_call, struct safe_call, safe_call_release)
#define auto_safe_call __attribute__((cleanup(cleanup_safe_call_)))

static int safe_call_init(struct safe_call *safe_call, struct proc *proc, const module_vec *modules,
			  struct uspl_err *err)
{
	int rc;

	safe_call->proc = proc;
	safe_call->modules = modules;
	safe_call->begins = proc->begins;
	safe_call->roles = calloc(modules->n + 1, sizeof(*safe_call->roles));
	if (!safe_call->roles)
		return uspl_fail_nomem(err);
	rc = look_at_modules(proc, safe_call, err);
	if (rc)
		return rc;
	return stack_unwinder_new(proc, modules, &safe_call->unwinder, err);
}

static enum role role_at(const struct safe_call *safe_call, taddr addr)
{
	const struct module *module = module_at(safe_call->modules, addr);

	return module ? safe_call->roles[module - safe_call->modules->items] : ROLE_PROGRAM;
}

static bool is_wait(const struct safe_call *safe_call, taddr addr)
{
	const struct code *code;

	vec_for_each (&safe_call->waits, code)
		if (addr >= code->start && addr < code->end)
			return true;
	return false;
}

static bool visit_frame(void *ctx, const struct unwind_frame *frame)
{
	struct view *view = ctx;
	taddr pc = frame->is_call ? frame->pc - 1 : frame->pc;
	enum role role = role_at(view->safe_call, pc);

	if (!view->n) {
		view->pc = pc;
		view->in_program = role == ROLE_PROGRAM;
	}
	if (view->n < INNER_FRAMES)
		view->in_wait |= is_wait(view->safe_call, pc);
	/* Only a signal makes a frame behind the first one that no call has left. */
	view->doubtful |= role == ROLE_SENSITIVE || (view->n && !frame->is_call);
	view->n++;
	return !view->doubtful;
}

/* See the head of this file. */
static bool holds_no_lock(const struct safe_call *safe_call, const struct thread *thread)
{
	const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);
	struct view view = { .safe_call = safe_call };
	long call = regs_syscall(&thread->regs);
	struct some_regs regs;
	taddr sp;

	regs_to_dwarf(&thread->regs, &regs);
	if (unwind(safe_call->unwinder, &regs, visit_frame, &view, &sp) != UNWIND_COMPLETE ||
	    view.doubtful)
		return false;
	/*
	 * In code of no module, which updates have, a thread that no signal can interrupt may hold
	 * the lock of shadow variables.
	 */
	if (call < 0)
		return view.in_program &&
		       (module_at(safe_call->modules, view.pc) ||
			(task_blocked_signals(safe_call->proc, thread->tid) | never) != ~0ull);
	if (thread->group_stopped && syscall_sends_signal(call))
		return true;
	return syscall_waits_for_events(call) || (syscall_waits_for_lock(call) && view.in_wait);
}

/* inject_choice.fit */
static bool is_fit(void *ctx, const struct thread *thread)
{
	struct safe_call *safe_call = ctx;
	const pid_t *known;
	pid_t *place;
	bool safe;

	if (safe_call->begins)
		return !safe_call->own_allocator;
	safe = holds_no_lock(safe_call, thread);
	if (!thread->group_stopped)
		return safe;
	safe_call->doubtful |= !safe;
	/* A thread may be asked more than once. */
	vec_for_each (&safe_call->stopped, known)
		if (*known == thread->tid)
			return safe && safe_call->all_safe;
	place = vec_push(&safe_call->stopped);
	if (place)
		*place = thread->tid;
	return safe && safe_call->all_safe;
}

static int fail_busy(const struct proc *proc, const struct safe_call *safe_call,
		     struct uspl_err *err)
{
	if (safe_call->begins)
		return uspl_fail(err, USPL_E_BUSY,
				 "pid %d has an allocator of its own, which can't be called before "
				 "the program begins",
				 proc->pid);
	if (safe_call->stopped.n)
		uspl_fail(err, USPL_E_BUSY,
			  "pid %d is stopped (SIGSTOP), and a thread of it may hold a lock of its "
			  "libraries",
			  proc->pid);
	else
		return uspl_fail(err, USPL_E_BUSY,
				 "no thread of pid %d is at a place where functions of its "
				 "libraries can be called",
				 proc->pid);
	uspl_hint(err, "'kill -CONT %d' lets it go on", proc->pid);
	return -USPL_E_BUSY;
}

static int run(struct proc *proc, const module_vec *modules, struct inject_req *reqs, size_t n,
	       struct inject_watch *watch, struct uspl_err *err)
{
	auto_safe_call struct safe_call safe_call = { 0 };
	const struct inject_choice choice = { .fit = is_fit, .ctx = &safe_call, .watch = watch };
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = proc_deadline(proc, WAIT_NS);
	struct uspl_err last = { 0 };
	int rc = safe_call_init(&safe_call, proc, modules, err);

	if (rc)
		return rc;
	for (;;) {
		bool all_stopped;
		size_t done;

		safe_call.stopped.n = 0;
		safe_call.doubtful = false;
		rc = inject_run_in(proc, &choice, reqs, n, &done, &last);
		if (rc != -USPL_E_BUSY || clock_now_ns() >= deadline ||
		    (!watch && cancel_requested()))
			break;
		all_stopped = safe_call.stopped.n && safe_call.stopped.n == tasks_count(proc);
		if (safe_call.begins || (all_stopped && safe_call.doubtful))
			break;
		safe_call.all_safe = all_stopped;
		if (!all_stopped)
			nanosleep(&pause, NULL);
	}
	if (rc == -USPL_E_BUSY)
		return fail_busy(proc, &safe_call, err);
	if (rc && err)
		*err = last;
	return rc;
}

int safe_call_run(struct proc *proc, const module_vec *modules, struct inject_req *reqs, size_t n,
		  struct uspl_err *err)
{
	return run(proc, modules, reqs, n, NULL, err);
}

int safe_call_note_requests(const struct proc *proc, const struct inject_req *call,
			    const struct safe_call_note *note, struct inject_req *ret,
			    struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(proc, note->at);
	taddr word_at = note->at & ~7ull;
	uint64_t word;
	int rc;

	if (!map)
		return uspl_fail(err, USPL_E_BUG, "a note is where nothing is mapped");
	rc = proc_read(proc, word_at, &word, sizeof(word), err);
	if (rc)
		return rc;
	memcpy((uint8_t *)&word + (note->at - word_at), &note->value, sizeof(note->value));
	/* All of the mapping: nothing is split, so that it can't fail for want of memory. */
	ret[0] = inject_syscall(SYS_mprotect, map->start, map->end - map->start,
				PROT_READ | PROT_WRITE);
	ret[1] = *call;
	ret[2] = (struct inject_req){ .kind = INJECT_STORE, .what = word_at, .args = { word } };
	ret[3] = inject_syscall(SYS_mprotect, map->start, map->end - map->start, PROT_READ);
	return 0;
}

int safe_call_run_noted(struct proc *proc, const module_vec *modules, struct inject_req *call,
			const struct safe_call_note *note, struct inject_watch *watch,
			struct uspl_err *err)
{
	struct inject_req reqs[SAFE_CALL_REQUESTS];
	size_t done;
	int rc = safe_call_note_requests(proc, call, note, reqs, err);

	if (rc)
		return rc;
	rc = run(proc, modules, reqs, ARRAY_SIZE(reqs), watch, err);
	/* The last request, where the call before it has failed. */
	if (watch && (watch->late || watch->signal) &&
	    inject_run(proc, &reqs[3], 1, &done, NULL) != 0)
		log_info("inject", "a record of pid %d stays writable for it", proc->pid);
	if (rc)
		return rc;
	if (reqs[0].result < 0)
		return uspl_fail(err, USPL_E_SYSTEM,
				 "pid %d can't make a note in the record at 0x%" PRIx64, proc->pid,
				 note->at);
	call->result = reqs[1].result;
	return 0;
}
