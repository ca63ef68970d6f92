// SPDX-License-Identifier: GPL-3.0-or-later
// host.c - a stopped thread of the target gets the agent's frame and registers, or its own back
/*
 * Order matters, since the tool may die between any two steps: first the frame and the code, then
 * the registers (from now on the thread restores itself), then the signal mask (which the frame
 * restores too).
 */

#include "inject/host.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/log.h"
#include "inject/agent.h"
#include "inject/stack_room.h"
#include "proc/shstk.h"

#define XSTATE_MAX 16384
/* What a function that the agent calls has for itself. The agent needs nothing but its frame. */
#define CALL_ROOM 32768

/*
 * The registers of the floating point unit and of vectors: all that there are, or, of a processor
 * without XSAVE, what FXSAVE writes. The kernel has no NT_X86_XSTATE there
 * (arch/x86/kernel/fpu/regset.c: ENODEV).
 */
static int read_extended(struct host *host, struct uspl_err *err)
{
	static const int notes[] = { NT_X86_XSTATE, NT_PRFPREG };
	pid_t tid = host->thread.tid;

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		struct iovec iov = { host->xstate.data, XSTATE_MAX };

		host->xstate_note = notes[i];
		host->xstate.len = 0;
		if (ptrace(PTRACE_GETREGSET, tid, (void *)(long)notes[i], &iov) == 0) {
			host->xstate.len = iov.iov_len;
			return 0;
		}
		if (errno != ENODEV && errno != EINVAL)
			return uspl_fail_errno(err, "cannot read the state of thread %d", tid);
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "neither XSAVE nor FXSAVE: the kernel doesn't give the extended state of "
			 "thread %d",
			 tid);
}

static int read_state(struct host *host, struct uspl_err *err)
{
	int rc;

	buf_addzero(&host->xstate, XSTATE_MAX);
	if (host->xstate.oom)
		return uspl_fail_nomem(err);
	rc = read_extended(host, err);
	if (rc)
		return rc;
	if (ptrace(PTRACE_GETSIGMASK, host->thread.tid, sizeof(host->sigmask), &host->sigmask) != 0)
		return uspl_fail_errno(err, "cannot read the state of thread %d", host->thread.tid);
	return 0;
}

bool host_requests(const struct host *host, enum inject_kind kind)
{
	for (size_t i = 0; i < host->n; i++)
		if (host->reqs[i].kind == kind)
			return true;
	return false;
}

static int fail_no_room(const struct host *host, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSTOPPABLE,
		  "thread %d of pid %d has no room of its own on the stack that it was made with",
		  host->thread.tid, host->agent->proc->pid);
	return HOST_UNFIT;
}

/* The frame needs room, and so does a function that is called. */
static int choose_room(struct host *host, struct agent_run *run, struct uspl_err *err)
{
	uint64_t len = agent_frame_max(&host->xstate, run) +
		       (host_requests(host, INJECT_CALL) ? CALL_ROOM : 0);

	return stack_room_find(host->agent->proc, &host->thread, len, &run->top)
		       ? 0
		       : fail_no_room(host, err);
}

bool host_maps_slate(const struct host *host)
{
	return host->alone && host->maps_slate;
}

static void encode_one(const struct inject_req *req, struct agent_request *raw)
{
	*raw = (struct agent_request){ .kind = req->kind, .what = req->what };
	memcpy(raw->args, req->args, sizeof(raw->args));
}

/*
 * The requests in the agent's form; returns how many. A run that is led ends with a system call,
 * which can't fail; in one that maps its slate, the others follow it there when it is mapped.
 */
static size_t encode(const struct host *host, struct agent_slate *slate)
{
	static const struct inject_req end = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	const struct inject_req move = { .kind = INJECT_MOVE,
					 .what = host->slate,
					 .args = { host->reqs[0].args[0], host->token } };
	struct agent_request *raw = slate->reqs;

	slate->done = 0;
	for (size_t i = 0; i < host->n; i++) {
		encode_one(&host->reqs[i], raw++);
		if (!i && host_maps_slate(host))
			encode_one(&move, raw++);
	}
	if (!host->alone)
		encode_one(&end, raw++);
	return (size_t)(raw - slate->reqs);
}

/* Whether a thread's system calls reach the kernel, or are sent back to the program by SIGSYS. */
enum dispatched { DISPATCHED_NO, DISPATCHED_YES, DISPATCHED_UNKNOWN };

/*
 * Syscall user dispatch (Linux 5.11, admin-guide/syscall-user-dispatch.rst) sends each call back
 * that isn't made in one range of addresses, as long as a byte of the program's says so. A tracer
 * can ask for it since 6.4. Before, a program without a handler for SIGSYS can't be using it.
 */
static enum dispatched ask_dispatched(const struct host *host)
{
	enum { GET_CONFIG = 0x4211, ON = 1, ALLOW = 0 };
	struct {
		uint64_t mode, selector, offset, len;
	} config;
	uint8_t selector;

	if (ptrace((enum __ptrace_request)GET_CONFIG, host->thread.tid, (void *)sizeof(config),
		   &config) != 0)
		return host->agent->proc->catches_sigsys ? DISPATCHED_UNKNOWN : DISPATCHED_NO;
	if (config.mode != ON)
		return DISPATCHED_NO;
	return config.selector &&
			       proc_read_some(host->agent->proc, config.selector, &selector, 1) &&
			       selector == ALLOW
		       ? DISPATCHED_NO
		       : DISPATCHED_YES;
}

int host_fail_dispatched(const struct host *host, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "thread %d of pid %d has its system calls sent back to itself "
		  "(PR_SET_SYSCALL_USER_DISPATCH), also one made for us",
		  host->thread.tid, host->agent->proc->pid);
	return HOST_UNFIT;
}

static bool can_be_sent(const struct host *host)
{
	const struct thread *thread = &host->thread;

	return host->slate && !host->agent->left.n && !host->agent->proc->seccomp &&
	       !thread->signal && !thread->group_stopped && !host_requests(host, INJECT_CALL) &&
	       !regs_will_restart(&thread->regs) && !host->shadowed &&
	       !host->agent->proc->shadow_stack;
}

/*
 * A filter might kill the target for a system call made for us; it is suspended while we trace
 * (Linux 4.3, needs CAP_SYS_ADMIN).
 */
static int set_options(const struct proc *proc, pid_t tid, struct uspl_err *err)
{
	long options = PTRACE_O_TRACESYSGOOD | (proc->seccomp ? PTRACE_O_SUSPEND_SECCOMP : 0);

	if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options) == 0)
		return 0;
	if (!proc->seccomp)
		return uspl_fail_errno(err, "cannot trace the system calls of thread %d", tid);
	uspl_fail(err, USPL_E_SECCOMP,
		  "pid %d runs under seccomp, which may kill it for a system call made for us",
		  proc->pid);
	/* The kernel lets no confined process suspend another one's filter. */
	if (prctl(PR_GET_SECCOMP) != 0)
		uspl_hint(err, "this program runs under seccomp itself: run it outside of the "
			       "container");
	else
		uspl_hint(err, "run as root: then the filter is suspended for the moment");
	return -USPL_E_SECCOMP;
}

/*
 * Whether it is sent, with its state read. One that maps its slate is seen to leave by its signals.
 */
static int choose_way(struct host *host, struct uspl_err *err)
{
	enum dispatched dispatched = ask_dispatched(host);
	int rc;

	if (dispatched == DISPATCHED_YES)
		return host_fail_dispatched(host, err);
	rc = read_state(host, err);
	if (rc)
		return rc;
	host->shadowed = shstk_read(host->thread.tid, &host->ssp);
	if (host->shadowed || host->agent->proc->shadow_stack)
		log_info("inject", "thread %d of pid %d is led: it has a shadow stack",
			 host->thread.tid, host->agent->proc->pid);
	host->alone = !host->held && dispatched == DISPATCHED_NO && can_be_sent(host) &&
		      !(host->maps_slate && agent_hides(host->sigmask));
	return host->alone ? 0 : set_options(host->agent->proc, host->thread.tid, err);
}

/* Only for the look of it: nothing of the thread's own is there. */
static int save_stack(struct host *host, struct uspl_err *err)
{
	buf_addzero(&host->stack, host->frame.bytes.len);
	if (host->stack.oom)
		return uspl_fail_nomem(err);
	return proc_read(host->agent->proc, host->frame.addr, host->stack.data, host->stack.len,
			 err);
}

static int write_frame(const struct host *host, const struct agent_run *run, struct uspl_err *err)
{
	const struct proc *proc = host->agent->proc;
	int rc = run->slate_addr ? proc_write(proc, run->slate_addr, run->slate,
					      agent_slate_len(run->n), err)
				 : 0;

	return rc ? rc
		  : proc_write(proc, host->frame.addr, host->frame.bytes.data,
			       host->frame.bytes.len, err);
}

int host_load(struct host *host, struct uspl_err *err)
{
	struct agent_slate slate;
	struct agent_run run = { .agent = host->agent->addr, .slate = &slate };
	int rc = proc_check_current(host->agent->proc, host->thread.tid, err);

	if (!rc)
		rc = choose_way(host, err);
	if (rc)
		return rc;
	host->token = (uint64_t)clock_now_ns();
	run.n = encode(host, &slate);
	run.moves = host_maps_slate(host);
	run.slate_addr = host->alone && !run.moves ? host->slate : 0;
	rc = choose_room(host, &run, err);
	if (rc)
		return rc;
	rc = agent_frame_build(&host->thread.regs, &host->xstate, host->sigmask, &run, &host->frame,
			       err);
	if (rc)
		return rc;
	rc = host->shadowed ? agent_note_back(host->agent, &host->frame.back, err) : 0;
	if (rc)
		return rc;
	rc = host->alone ? 0 : save_stack(host, err);
	return rc ? rc : write_frame(host, &run, err);
}

void host_release(struct host *host)
{
	buf_release(&host->xstate);
	buf_release(&host->stack);
	agent_frame_release(&host->frame);
}

/*
 * One that is led keeps SIGSYS open: the kernel takes the handler of one that is blocked away
 * before the tracer sees the signal (force_sig_info_to_task in kernel/signal.c).
 */
int host_start(struct host *host, struct uspl_err *err)
{
	const uint64_t all = host->alone ? ~0ull : ~(1ull << (SIGSYS - 1));
	pid_t tid = host->thread.tid;

	host->own = host->thread.regs;
	if (ptrace(PTRACE_SETREGS, tid, NULL, &host->frame.regs.user) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) != 0)
		return uspl_fail_errno(err, "cannot set the registers of thread %d", tid);
	host->thread.regs = host->frame.regs;
	return 0;
}

/*
 * The registers come last: until then the thread, left alone, would go back by the frame, which
 * must be there as long.
 */
int host_restore(struct host *host, struct uspl_err *err)
{
	struct iovec iov = { host->xstate.data, host->xstate.len };
	pid_t tid = host->thread.tid;
	uint64_t ssp;
	/* Only in the midst of a function that it calls for us is it elsewhere. */
	int rc = host->shadowed && shstk_read(tid, &ssp) && ssp != host->ssp
			 ? shstk_write(tid, host->ssp, err)
			 : 0;

	if (rc)
		return rc;

	if (ptrace(PTRACE_SETREGSET, tid, (void *)(long)host->xstate_note, &iov) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(host->sigmask), &host->sigmask) != 0 ||
	    ptrace(PTRACE_SETREGS, tid, NULL, &host->own.user) != 0)
		return uspl_fail_errno(err, "cannot restore thread %d", tid);
	host->thread.regs = host->own;
	if (host->stack.len && proc_write(host->agent->proc, host->frame.addr, host->stack.data,
					  host->stack.len, NULL) != 0)
		log_info("inject", "the stack of thread %d keeps the agent's frame", tid);
	return 0;
}
