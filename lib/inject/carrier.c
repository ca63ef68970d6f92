// SPDX-License-Identifier: GPL-3.0-or-later
// carrier.c - a stopped thread of the target gets the agent's frame and registers, or its own back
/*
 * Order matters, since the tool may die between any two steps: first the frame and the code, then
 * the registers (from now on the thread restores itself), then the signal mask (which the frame
 * restores too).
 */

#include "inject/carrier.h"

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
/* What a function that the agent calls has for itself. The agent only needs its frame. */
#define CALL_ROOM 32768

static int read_state(struct carrier *carrier, struct uspl_err *err)
{
	/*
	 * The registers of the floating point unit and of vectors: all that there are, or, on a
	 * processor without XSAVE, what FXSAVE writes. The kernel has no NT_X86_XSTATE there
	 * (arch/x86/kernel/fpu/regset.c: ENODEV).
	 */
	static const int notes[] = { NT_X86_XSTATE, NT_PRFPREG };
	pid_t tid = carrier->thread.tid;

	buf_addzero(&carrier->xstate, XSTATE_MAX);
	if (carrier->xstate.oom)
		return uspl_fail_nomem(err);
	carrier->xstate.len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(notes) && !carrier->xstate.len; i++) {
		struct iovec iov = { carrier->xstate.data, XSTATE_MAX };

		carrier->xstate_note = notes[i];
		if (ptrace(PTRACE_GETREGSET, tid, (void *)(long)notes[i], &iov) == 0)
			carrier->xstate.len = iov.iov_len;
		else if (errno != ENODEV && errno != EINVAL)
			return uspl_fail_errno(err, "cannot read the state of thread %d", tid);
	}
	if (!carrier->xstate.len)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "neither XSAVE nor FXSAVE: the kernel doesn't give the extended "
				 "state of thread %d",
				 tid);
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(carrier->sigmask), &carrier->sigmask) != 0)
		return uspl_fail_errno(err, "cannot read the state of thread %d", tid);
	return 0;
}

bool carrier_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP;
}

bool carrier_requests(const struct carrier *carrier, enum inject_kind kind)
{
	for (size_t i = 0; i < carrier->n; i++)
		if (carrier->reqs[i].kind == kind)
			return true;
	return false;
}

/* The frame needs room, and so does a function that is called. */
static int choose_room(struct carrier *carrier, struct agent_run *run, struct uspl_err *err)
{
	uint64_t len = agent_frame_max(&carrier->xstate, run) +
		       (carrier_requests(carrier, INJECT_CALL) ? CALL_ROOM : 0);

	if (stack_room_find(carrier->agent->proc, &carrier->thread, len, &run->top))
		return 0;
	uspl_fail(err, USPL_E_UNSTOPPABLE,
		  "thread %d of pid %d has no room of its own on the stack that it was made with",
		  carrier->thread.tid, carrier->agent->proc->pid);
	return CARRIER_UNFIT;
}

bool carrier_maps_result_page(const struct carrier *carrier)
{
	return carrier->alone && carrier->maps_result_page;
}

static void encode_one(const struct inject_req *req, struct agent_request *raw)
{
	*raw = (struct agent_request){ .kind = req->kind, .what = req->what };
	memcpy(raw->args, req->args, sizeof(raw->args));
}

/*
 * The requests in the agent's form; returns how many. A traced run ends with a system call,
 * which can't fail; in one that maps its result page, the others follow it there when it is mapped.
 */
static size_t encode(const struct carrier *carrier, struct agent_result_page *result_page)
{
	static const struct inject_req end = { .kind = INJECT_SYSCALL, .what = SYS_getpid };
	const struct inject_req move = { .kind = INJECT_MOVE,
					 .what = carrier->result_page,
					 .args = { carrier->reqs[0].args[0], carrier->token } };
	struct agent_request *raw = result_page->reqs;

	result_page->done = 0;
	for (size_t i = 0; i < carrier->n; i++) {
		encode_one(&carrier->reqs[i], raw++);
		if (!i && carrier_maps_result_page(carrier))
			encode_one(&move, raw++);
	}
	if (!carrier->alone)
		encode_one(&end, raw++);
	return (size_t)(raw - result_page->reqs);
}

/* Whether a thread's system calls reach the kernel, or are sent back to the program by SIGSYS. */
enum dispatched { DISPATCHED_NO, DISPATCHED_YES, DISPATCHED_UNKNOWN };

/*
 * Syscall user dispatch (Linux 5.11, admin-guide/syscall-user-dispatch.rst) sends each call back
 * that isn't made in one range of addresses, as long as a byte of the program's says so. A tracer
 * can ask for it since 6.4. Before, a program without a handler for SIGSYS can't be using it.
 */
static enum dispatched ask_dispatched(const struct carrier *carrier)
{
	enum { GET_CONFIG = 0x4211, ON = 1, ALLOW = 0 };
	struct {
		uint64_t mode, selector, offset, len;
	} config;
	uint8_t selector;

	if (ptrace((enum __ptrace_request)GET_CONFIG, carrier->thread.tid, (void *)sizeof(config),
		   &config) != 0)
		return carrier->agent->proc->catches_sigsys ? DISPATCHED_UNKNOWN : DISPATCHED_NO;
	if (config.mode != ON)
		return DISPATCHED_NO;
	return config.selector &&
			       proc_read_some(carrier->agent->proc, config.selector, &selector,
					      1) &&
			       selector == ALLOW
		       ? DISPATCHED_NO
		       : DISPATCHED_YES;
}

int carrier_fail_dispatched(const struct carrier *carrier, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "thread %d of pid %d has its system calls sent back to itself "
		  "(PR_SET_SYSCALL_USER_DISPATCH), also one made for us",
		  carrier->thread.tid, carrier->agent->proc->pid);
	return CARRIER_UNFIT;
}

static bool can_run_detached(const struct carrier *carrier)
{
	const struct thread *thread = &carrier->thread;

	return carrier->result_page && !carrier->agent->left.n && !carrier->agent->proc->seccomp &&
	       !thread->signal && !thread->group_stopped &&
	       !carrier_requests(carrier, INJECT_CALL) && !regs_will_restart(&thread->regs) &&
	       !carrier->shadowed && !carrier->agent->proc->shadow_stack;
}

/*
 * Decides whether its run is detached, and reads its state. A thread that maps its result page is
 * seen to leave by its signals.
 */
static int choose_way(struct carrier *carrier, struct uspl_err *err)
{
	enum dispatched dispatched = ask_dispatched(carrier);
	const struct proc *proc = carrier->agent->proc;
	long options;
	int rc;

	if (dispatched == DISPATCHED_YES)
		return carrier_fail_dispatched(carrier, err);
	rc = read_state(carrier, err);
	if (rc)
		return rc;
	carrier->shadowed = shstk_read(carrier->thread.tid, &carrier->ssp);
	if (carrier->shadowed || proc->shadow_stack)
		log_info("inject", "thread %d of pid %d is led: it has a shadow stack",
			 carrier->thread.tid, proc->pid);
	carrier->alone = !carrier->held && dispatched == DISPATCHED_NO &&
			 can_run_detached(carrier) &&
			 !(carrier->maps_result_page && agent_hides(carrier->sigmask));
	if (carrier->alone)
		return 0;
	/*
	 * A filter might kill the target for a system call made for the tool; it is suspended
	 * while the tool traces (Linux 4.3, needs CAP_SYS_ADMIN).
	 */
	options = PTRACE_O_TRACESYSGOOD | (proc->seccomp ? PTRACE_O_SUSPEND_SECCOMP : 0);
	if (ptrace(PTRACE_SETOPTIONS, carrier->thread.tid, NULL, (void *)options) == 0)
		return 0;
	if (!proc->seccomp)
		return uspl_fail_errno(err, "cannot trace the system calls of thread %d",
				       carrier->thread.tid);
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

int carrier_load(struct carrier *carrier, struct uspl_err *err)
{
	struct agent_result_page result_page;
	struct agent_run run = { .agent = carrier->agent->addr, .result_page = &result_page };
	const struct proc *proc = carrier->agent->proc;
	int rc = proc_check_current(proc, carrier->thread.tid, err);

	if (rc)
		return rc;
	rc = choose_way(carrier, err);
	if (rc)
		return rc;
	carrier->token = (uint64_t)clock_now_ns();
	run.n = encode(carrier, &result_page);
	run.moves = carrier_maps_result_page(carrier);
	run.result_page_addr = carrier->alone && !run.moves ? carrier->result_page : 0;
	rc = choose_room(carrier, &run, err);
	if (rc)
		return rc;
	rc = agent_frame_build(&carrier->thread.regs, &carrier->xstate, carrier->sigmask, &run,
			       &carrier->frame, err);
	if (rc)
		return rc;
	rc = carrier->shadowed ? agent_note_back(carrier->agent, &carrier->frame.back, err) : 0;
	if (rc)
		return rc;
	if (!carrier->alone) {
		/* Only so that the stack looks as before: nothing of the thread's own is there. */
		buf_addzero(&carrier->stack, carrier->frame.bytes.len);
		if (carrier->stack.oom)
			return uspl_fail_nomem(err);
		rc = proc_read(proc, carrier->frame.addr, carrier->stack.data, carrier->stack.len,
			       err);
		if (rc)
			return rc;
	}
	if (run.result_page_addr) {
		rc = proc_write(proc, run.result_page_addr, run.result_page,
				agent_result_page_len(run.n), err);
		if (rc)
			return rc;
	}
	return proc_write(proc, carrier->frame.addr, carrier->frame.bytes.data,
			  carrier->frame.bytes.len, err);
}

void carrier_release(struct carrier *carrier)
{
	buf_release(&carrier->xstate);
	buf_release(&carrier->stack);
	agent_frame_release(&carrier->frame);
}

int carrier_start(struct carrier *carrier, struct uspl_err *err)
{
	pid_t tid = carrier->thread.tid;
	uint64_t all = ~0ull;

	/*
	 * In a traced run the thread keeps SIGSYS open, and one that calls a function the signals
	 * of faults: if they were blocked the kernel would take their handlers away before the
	 * tracer sees the signal (force_sig_info_to_task in kernel/signal.c).
	 */
	if (!carrier->alone)
		all &= ~(1ull << (SIGSYS - 1));
	if (!carrier->alone && carrier_requests(carrier, INJECT_CALL))
		for (int signal = 1; signal < 32; signal++)
			if (carrier_is_fault(signal))
				all &= ~(1ull << (signal - 1));
	carrier->own = carrier->thread.regs;
	if (ptrace(PTRACE_SETREGS, tid, NULL, &carrier->frame.regs.user) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) != 0)
		return uspl_fail_errno(err, "cannot set the registers of thread %d", tid);
	carrier->thread.regs = carrier->frame.regs;
	return 0;
}

/*
 * The registers come last: until then the thread, left alone, would go back by the frame, which
 * must be there until then.
 */
int carrier_restore(struct carrier *carrier, struct uspl_err *err)
{
	struct iovec iov = { carrier->xstate.data, carrier->xstate.len };
	pid_t tid = carrier->thread.tid;
	uint64_t ssp;
	/* It is elsewhere only in the midst of a function that the thread calls for the tool. */
	int rc = carrier->shadowed && shstk_read(tid, &ssp) && ssp != carrier->ssp
			 ? shstk_write(tid, carrier->ssp, err)
			 : 0;

	if (rc)
		return rc;

	if (ptrace(PTRACE_SETREGSET, tid, (void *)(long)carrier->xstate_note, &iov) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(carrier->sigmask), &carrier->sigmask) != 0 ||
	    ptrace(PTRACE_SETREGS, tid, NULL, &carrier->own.user) != 0)
		return uspl_fail_errno(err, "cannot restore thread %d", tid);
	carrier->thread.regs = carrier->own;
	if (carrier->stack.len && proc_write(carrier->agent->proc, carrier->frame.addr,
					     carrier->stack.data, carrier->stack.len, NULL) != 0)
		log_info("inject", "the stack of thread %d keeps the agent's frame", tid);
	return 0;
}
