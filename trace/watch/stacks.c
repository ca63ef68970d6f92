// SPDX-License-Identifier: GPL-3.0-or-later
// stacks.c - the call chains of threads that run on, from what the kernel has copied of them

#include "trace/watch/stacks.h"

#include <inttypes.h>
#include <string.h>

#include "safety/stack.h"

/* How often at most we look for new code when addresses can't be explained. */
#define REFRESH_NS 2000000ll
/* Where the rules for a module's thunks lie: one page (trace/engine/trace_module.c). */
#define THUNK_FRAMES_LEN 4096

/* Everything but the symbols, which stay. */
static void forget(struct stacks *stacks)
{
	unwinder_free(stacks->unwinder);
	stacks->unwinder = NULL;
	trace_session_release(&stacks->session);
}

static int know_all_code(struct stacks *stacks, struct uspl_err *err)
{
	const struct trace_region *region;
	int rc = stack_unwinder_new(stacks->proc, symbols_modules(stacks->symbols),
				    &stacks->unwinder, err);

	if (rc)
		return rc;
	rc = trace_session_read(stacks->proc, &stacks->session, err);
	if (rc)
		return rc;
	vec_for_each (&stacks->session.regions, region) {
		const struct unwind_code code = { region->head.thunks,
						  region->head.thunks + region->head.text_len,
						  region->head.eh_frame, THUNK_FRAMES_LEN };

		rc = unwinder_add_code(stacks->unwinder, &code, err);
		if (rc)
			return rc;
	}
	return 0;
}

int stacks_open(struct stacks *stacks, struct proc *proc, size_t copied, struct uspl_err *err)
{
	int rc;

	*stacks = (struct stacks){ .proc = proc, .copied = copied };
	rc = symbols_new(proc, &stacks->symbols, err);
	if (rc)
		return rc;
	stacks->cut_mark = symbols_mark(stacks->symbols, "[cut]");
	stacks->lost_mark = symbols_mark(stacks->symbols, "[lost]");
	stacks->kernel_mark = symbols_mark(stacks->symbols, "[kernel]");
	if (!stacks->cut_mark || !stacks->lost_mark || !stacks->kernel_mark)
		return uspl_fail_nomem(err);
	rc = know_all_code(stacks, err);
	stacks->refreshed_ns = clock_now_ns();
	return rc;
}

void stacks_close(struct stacks *stacks)
{
	forget(stacks);
	vec_release(&stacks->chain);
	vec_release(&stacks->frames);
	vec_release(&stacks->threads);
	symbols_free(stacks->symbols);
	stacks->symbols = NULL;
}

static void push(struct stacks *stacks, const struct symbol *symbol,
		 const struct unwind_frame *frame)
{
	const struct symbol **place = symbol ? vec_push(&stacks->chain) : NULL;
	struct unwind_frame *frame_place = place ? vec_push(&stacks->frames) : NULL;

	if (!frame_place) {
		stacks->oom = true;
		return;
	}
	*place = symbol;
	*frame_place = *frame;
}

/* In place of the chain's beginning, which isn't known. */
static void push_mark(struct stacks *stacks, bool cut)
{
	stacks->cut += cut;
	stacks->lost += !cut;
	push(stacks, cut ? stacks->cut_mark : stacks->lost_mark,
	     &(struct unwind_frame){ .sp = stacks->end_sp });
}

/* The tracer's own code between a traced function and its caller. */
static bool is_thunk(const struct stacks *stacks, taddr pc)
{
	const struct trace_region *region;

	vec_for_each (&stacks->session.regions, region)
		if (pc >= region->head.code && pc < region->head.thunks + region->head.text_len)
			return true;
	return false;
}

static bool add_frame(void *ctx, const struct unwind_frame *frame)
{
	struct stacks *stacks = ctx;

	if (!is_thunk(stacks, frame->pc))
		push(stacks, symbols_at(stacks->symbols, frame->pc - frame->is_call), frame);
	return !stacks->oom;
}

/*
 * Without an unwinder (the process ended while one was made) only the innermost function is known.
 */
static enum unwind_end follow(struct stacks *stacks, const struct some_regs *regs)
{
	const struct unwind_frame inner = { regs->value[DWARF_PC], regs->value[DWARF_SP], false };

	if (!stacks->unwinder) {
		stacks->end_sp = inner.sp;
		add_frame(stacks, &inner);
		return UNWIND_LOST;
	}
	return unwind(stacks->unwinder, regs, add_frame, stacks, &stacks->end_sp);
}

/* Which code is mapped, as one number; 0 if the process has ended. */
static uint64_t code_sum(const struct proc *proc)
{
	auto_mappings mapping_vec maps = { 0 };
	const struct mapping *map;
	uint64_t sum = 0;

	if (proc_read_maps(proc, &maps, NULL) != 0)
		return 0;
	vec_for_each (&maps, map)
		if (map->exec)
			sum = (sum ^ map->start ^ map->end << 7 ^ map->inode) *
			      0x9e3779b97f4a7c15ull;
	return sum;
}

/*
 * A library may have been loaded since we looked: that is found out by code that we don't know, and
 * then by another look at the mappings, since code made at run time is never known. Where the
 * process has ended we go on with what we knew.
 */
static void refresh_for(struct stacks *stacks, taddr pc)
{
	uint64_t sum;

	if (!symbols_is_strange(stacks->symbols, pc) || is_thunk(stacks, pc) ||
	    clock_now_ns() - stacks->refreshed_ns < REFRESH_NS)
		return;
	sum = code_sum(stacks->proc);
	stacks->refreshed_ns = clock_now_ns();
	if (!sum || sum == stacks->code_sum || symbols_refresh(stacks->symbols, NULL) != 0)
		return;
	stacks->code_sum = sum;
	forget(stacks);
	if (know_all_code(stacks, NULL) != 0)
		forget(stacks);
	stacks->refreshed_ns = clock_now_ns();
}

int stacks_follow(struct stacks *stacks, const struct perf_note *note, struct uspl_err *err)
{
	enum unwind_end end;
	bool cut = false;

	stacks->chain.n = stacks->frames.n = 0;
	stacks->in_kernel = (note->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (stacks->in_kernel)
		push(stacks, stacks->kernel_mark,
		     &(struct unwind_frame){ .sp = note->regs.value[DWARF_SP] });
	if (!note->has_regs)
		return stacks->oom ? uspl_fail_nomem(err) : 0;
	refresh_for(stacks, note->regs.value[DWARF_PC]);
	if (stacks->unwinder)
		unwinder_lend_stack(stacks->unwinder, note->regs.value[DWARF_SP], note->stack,
				    note->stack_len);
	end = follow(stacks, &note->regs);
	if (stacks->unwinder) {
		cut = unwinder_ran_out(stacks->unwinder);
		unwinder_lend_stack(stacks->unwinder, 0, NULL, 0);
	}
	if (end != UNWIND_COMPLETE)
		push_mark(stacks, cut);
	return stacks->oom ? uspl_fail_nomem(err) : 0;
}

int stacks_follow_blocked(struct stacks *stacks, const struct some_regs *regs, struct uspl_err *err)
{
	refresh_for(stacks, regs->value[DWARF_PC]);
	stacks->chain.n = stacks->frames.n = 0;
	stacks->in_kernel = false;
	if (follow(stacks, regs) != UNWIND_COMPLETE)
		push_mark(stacks, false);
	return stacks->oom ? uspl_fail_nomem(err) : 0;
}

static bool is_mark(const struct stacks *stacks, const struct symbol *symbol)
{
	return symbol == stacks->cut_mark || symbol == stacks->lost_mark;
}

/*
 * The place of the caller in the chain; beyond its end if there is none. A static program is one
 * module with its C library: there it is the function that called the innermost one.
 */
static size_t caller_at(const struct stacks *stacks)
{
	size_t inner = stacks->in_kernel, at = inner;

	while (at < stacks->chain.n &&
	       !strcmp(stacks->chain.items[at]->module, stacks->chain.items[inner]->module))
		at++;
	if (at >= stacks->chain.n || is_mark(stacks, stacks->chain.items[at]))
		at = inner + 1;
	return at;
}

const struct symbol *stacks_caller(const struct stacks *stacks)
{
	size_t at = caller_at(stacks);

	if (at >= stacks->chain.n || is_mark(stacks, stacks->chain.items[at]))
		return NULL;
	return stacks->chain.items[at];
}

const struct symbol *stacks_called(const struct stacks *stacks)
{
	size_t at = caller_at(stacks);

	return stacks_caller(stacks) ? stacks->chain.items[at - 1]
				     : stacks->chain.items[stacks->in_kernel];
}

/* A thread keeps the name that it had when it was first seen. */
const struct symbol *stacks_thread(struct stacks *stacks, pid_t tid)
{
	char name[TASK_NAME_LEN], label[2 * TASK_NAME_LEN];
	struct stacks_thread *thread;

	vec_for_each (&stacks->threads, thread)
		if (thread->tid == tid)
			return thread->label;
	thread = vec_push(&stacks->threads);
	if (!thread)
		return NULL;
	task_name(stacks->proc, tid, name);
	/* It has ended already: by default a thread has the name of its maker. */
	if (!strcmp(name, "?"))
		snprintf(name, sizeof(name), "%s", stacks->proc->comm);
	snprintf(label, sizeof(label), "%s-%d", name, tid);
	*thread = (struct stacks_thread){ tid, symbols_mark(stacks->symbols, label) };
	return thread->label;
}

void stacks_ask(struct perf_event_attr *kind, size_t copied)
{
	kind->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	kind->sample_regs_user = regs_perf_all();
	kind->sample_stack_user = (uint32_t)copied;
}

void stacks_add_losses(const struct stacks *stacks, struct buf *out)
{
	if (stacks->cut)
		buf_addf(out,
			 "# %" PRIu64
			 " stacks were deeper than what is copied (%zu KB, --stack): [cut]\n",
			 stacks->cut, stacks->copied >> 10);
	if (stacks->lost)
		buf_addf(out,
			 "# %" PRIu64 " stacks lead through code without call frame information: "
			 "[lost]\n",
			 stacks->lost);
}
