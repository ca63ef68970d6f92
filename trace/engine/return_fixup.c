// SPDX-License-Identifier: GPL-3.0-or-later
// return_fixup.c - calls that are open when tracing has ended return to their callers, not by way
// of the tracer
/*
 * An open call has its thunk's address where its return address was, and that is in the shadow of
 * the stack. As long as it is so the tracer's memory has to stay, and for main(), for a loop that
 * waits for events, or for a child that was forked in one, that would be for good. So, while the
 * thread stands still, the return address is put back.
 *
 * That is done for a thread all of whose frames are known, if none is in the tracer's code but by
 * such a return address. Not for stacks that no thread is on, nor where a probe of the function's
 * return keeps our address in a shadow of its own: the word on the stack isn't ours then.
 *
 * Nor for a thread with a shadow stack (shstk.h), which has the thunk's address there, too: it
 * would die at the return. Its calls end by way of the tracer, whose memory stays as long.
 *
 * Nor may any code have the thunk's address elsewhere, to go there when the thunk is gone.
 * Functions don't look at where they return to, but for those whose returns aren't traced
 * (untraceable.c), and for the unwinder, which keeps return addresses in variables. And a register
 * may have one that was just popped.
 *
 * Each word is right by itself, the thunk would have led to the same place: a tool that dies in
 * between has done no harm.
 */

#include "trace/engine/return_fixup.h"

#include "arch/context.h"
#include "proc/shstk.h"
#include "record/trace_records.h"
#include "safety/drain.h"
#include "safety/safety.h"
#include "thread/stop.h"
#include "unwind/unwind.h"
#include "uspl/trace_abi.h"

struct open_call {
	taddr at; /* of the word on the stack */
	taddr thunk, caller;
};

/* One thread while its frames are gone through. */
struct walk {
	struct safety *text;
	const struct trace_session *session;
	const unwinder_code_vec *unwinders;
	VEC(struct open_call) calls;
	/*
	 * It is in the text by something else, or unwinds its stack, or there is no memory for the
	 * list.
	 */
	bool doubt;
};

static bool is_thunk_return(const struct trace_session *session, taddr pc)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region) {
		const struct uspl_trace_region *head = &region->head;

		if (!head->entries && pc >= head->thunks && pc - head->thunks < head->thunks_len)
			return (pc - head->thunks) % USPL_TRACE_THUNK == USPL_TRACE_THUNK_RETURN;
	}
	return false;
}

static bool visit(void *ctx, const struct unwind_frame *frame)
{
	struct walk *walk = ctx;
	taddr pc = frame->is_call ? frame->pc - 1 : frame->pc;
	struct open_call *call;

	if (!safety_range_at(walk->text, pc)) {
		walk->doubt = unwinders_have(walk->unwinders, pc);
		return !walk->doubt;
	}
	call = frame->is_call && is_thunk_return(walk->session, frame->pc) ? vec_push(&walk->calls)
									   : NULL;
	walk->doubt = !call;
	if (call)
		*call = (struct open_call){ .at = context_return_slot(frame->sp),
					    .thunk = frame->pc };
	return !walk->doubt;
}

/* *ret_ended: the thread isn't in traced calls any more. */
static int end_calls_of(struct walk *walk, const struct thread *thread, bool *ret_ended,
			struct uspl_err *err)
{
	struct some_regs regs;
	struct open_call *call;
	uint64_t ssp;
	taddr sp, word;
	int rc;

	*ret_ended = false;
	if (shstk_read(thread->tid, &ssp) || walk->text->proc->shadow_stack)
		return 0;
	walk->calls.n = 0;
	walk->doubt = false;
	regs_to_dwarf(&thread->regs, &regs);
	for (int i = 0; i < DWARF_REGS; i++)
		if (safety_range_at(walk->text, regs.value[i]))
			return 0;
	if (unwind(walk->text->unwinder, &regs, visit, walk, &sp) != UNWIND_COMPLETE || walk->doubt)
		return 0;
	/* The caller of each, if the stack is what it has to be. */
	vec_for_each (&walk->calls, call) {
		if (proc_read_some(walk->text->proc, call->at, &word, sizeof(word)) !=
			    sizeof(word) ||
		    word != call->thunk)
			return 0;
		call->caller = unwinder_shadowed(walk->text->unwinder, call->at, word);
		if (!call->caller || safety_range_at(walk->text, call->caller - 1))
			return 0;
	}
	vec_for_each (&walk->calls, call) {
		rc = proc_write(walk->text->proc, call->at, &call->caller, sizeof(call->caller),
				err);
		if (rc)
			return rc;
	}
	*ret_ended = true;
	return 0;
}

struct visits {
	struct walk walk;
	struct drain *drain;
	pid_t tid;
	size_t ended;
};

/* Stops the thread by itself: no thread has to stand still for another one's calls. */
static int visit_thread(void *ctx, struct uspl_err *err)
{
	struct visits *visits = ctx;
	tid_vec one = { .items = &visits->tid, .n = 1 };
	const struct thread *thread;
	struct stop stop;
	bool ended = false;
	int rc;

	stop_begin(&stop, visits->drain->text.proc);
	rc = stop_some(&stop, &one, clock_now_ns() + STOP_LIMIT_NS, err);
	if (rc)
		goto leave;
	vec_for_each (&stop.threads, thread) {
		if (thread->state != THREAD_STOPPED || thread->beside)
			continue;
		rc = end_calls_of(&visits->walk, thread, &ended, err);
		if (rc)
			goto leave;
	}
	visits->ended += ended;

leave:
	stop_leave(&stop);
	drain_note_stop(visits->drain, &stop);
	return rc;
}

int return_fixup_run(struct drain *drain, const unwinder_code_vec *unwinders,
		     const struct trace_session *session, size_t *ret_ended, struct uspl_err *err)
{
	struct visits visits = {
		.walk = { .text = &drain->text, .session = session, .unwinders = unwinders },
		.drain = drain,
	};
	const pid_t *tid;
	int rc = 0;

	vec_for_each (drain->inside, tid) {
		visits.tid = *tid;
		rc = stop_again(drain->text.proc, visit_thread, &visits, err);
		if (rc)
			break;
	}
	*ret_ended = visits.ended;
	vec_release(&visits.walk.calls);
	return rc;
}
