// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_stack.c - the deepest stack of each thread, and what is on it
/*
 * Running threads are looked at many times a second, sleeping ones each time that they have come to
 * sleep (where they wait is often the deepest place). A stack that is deeper than the deepest so
 * far is kept with all its frames. A depth between two looks isn't seen, but it leaves something
 * behind: below the deepest that was seen, the lowest word that isn't zero tells how far the stack
 * once went (`touched`), as the kernel finds out the use of its own stacks.
 */

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "proc/pagemap.h"
#include "thread/blocked.h"
#include "trace/output/formats.h"
#include "trace/output/tracer.h"
#include "trace/tracers/tracers.h"
#include "trace/watch/sampling.h"
#include "trace/watch/stack_lines.h"
#include "trace/watch/watch_loop.h"

#define ALARM_MAX 100
/* When no thread was seen. */
#define LAST_LOOKS 200
#define LAST_PAUSE_NS 1000000
/* How far down a stack without a limit is looked at. */
#define UNLIMITED_LOOK (256ull << 20)

struct stack_tracer {
	/* Options. */
	struct sampling sampling;
	int alarm; /* percent of what a stack may have; 0: none */
	/* Work. */
	struct blocked blocked;
	bool has_blocked;
	uint64_t limit; /* of the main thread's stack */
	VEC(struct stack) stacks;
	struct watch *watch;
	struct uspl_err *err;
};

static const struct tracer_option options[] = {
	{ "alarm", "PERCENT", CLI_INT, offsetof(struct stack_tracer, alarm),
	  "say at once when a thread has used so much of what its stack may have" },
	{ "freq", "N", CLI_INT, offsetof(struct stack_tracer, sampling.freq),
	  "look at each running thread so many times a second (default 1000)" },
	{ "stack", "KB", CLI_INT, offsetof(struct stack_tracer, sampling.stack_kb),
	  "copy so much of a running thread's stack (default 16, at most 60)" },
};

/* "Max stack size  8388608  unlimited  bytes": what the main thread's stack may have. */
static uint64_t read_limit(const struct proc *proc)
{
	auto_buf struct buf text = { 0 };
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/limits", proc->pid);
	if (file_read(path, &text, NULL) != 0)
		return 0;
	line = strstr(buf_str(&text), "Max stack size");
	return line ? strtoull(line + strlen("Max stack size"), NULL, 10) : 0;
}

static int open_stacks(struct watch *watch, struct uspl_err *err)
{
	struct stack_tracer *tracer = watch->state;
	int rc;

	tracer->watch = watch;
	if (tracer->alarm > ALARM_MAX)
		return uspl_fail(err, USPL_E_USAGE, "'--alarm=%d' is more than 100 percent",
				 tracer->alarm);
	tracer->limit = read_limit(watch->proc);
	rc = blocked_open(&tracer->blocked, watch->proc, err);
	tracer->has_blocked = !rc;
	if (rc)
		return rc;
	return sampling_open(&tracer->sampling, watch, err);
}

/*
 * Finds the bounds of the stack that sp is in. The main thread's mapping grows as it is used, up to
 * the limit; any other one is there as a whole. False if sp isn't in a mapping that we know.
 */
static bool find_bounds(const struct stack_tracer *tracer, taddr sp, struct stack *stack)
{
	const struct mapping *map = proc_mapping_at(tracer->watch->proc, sp);

	if (!map || !map->write)
		return false;
	stack->top = map->end;
	stack->bottom = map->start;
	if (strcmp(map->path, "[stack]") != 0)
		return true;
	stack->unlimited = !tracer->limit;
	if (tracer->limit > map->end - map->start || stack->unlimited)
		stack->bottom -=
			(tracer->limit ? tracer->limit : UNLIMITED_LOOK) - (map->end - map->start);
	return true;
}

/* The thread's stack, known or new, if sp is in it. NULL if it can't be found, or err says why. */
static struct stack *stack_of(struct stack_tracer *tracer, pid_t tid, taddr sp)
{
	struct stack *stack;

	vec_for_each (&tracer->stacks, stack)
		if (stack->tid == tid)
			return stack;
	stack = vec_push(&tracer->stacks);
	if (!stack)
		return NULL;
	*stack = (struct stack){ .tid = tid };
	stack->thread = stacks_thread(&tracer->sampling.stacks, tid);
	if (!find_bounds(tracer, sp, stack) &&
	    (proc_refresh_maps(tracer->watch->proc, NULL) || !find_bounds(tracer, sp, stack)))
		stack->top = stack->bottom = 0;
	stack->sp = stack->touched = stack->top;
	if (stack->top && stack->thread)
		return stack;
	tracer->stacks.n--;
	return NULL;
}

/* The chain that was just followed is the deepest of the thread. */
static int keep_frames(struct stack_tracer *tracer, struct stack *stack, taddr sp)
{
	const struct stacks *stacks = &tracer->sampling.stacks;

	stack->sp = sp;
	if (sp < stack->touched)
		stack->touched = sp;
	stack->frames.n = 0;
	for (size_t i = stacks->in_kernel; i < stacks->chain.n; i++) {
		const struct unwind_frame *at = &stacks->frames.items[i];
		struct frame *frame = vec_push(&stack->frames);
		taddr start;

		if (!frame)
			return uspl_fail_nomem(tracer->err);
		*frame = (struct frame){ .symbol = stacks->chain.items[i], .sp = at->sp };
		frame->known = symbols_function(stacks->symbols, at->pc - at->is_call, &start,
						&frame->size);
		if (frame->known)
			frame->offset = at->pc - start;
	}
	return 0;
}

/* A stack pointer out of the stack belongs to a coroutine or a signal handler's own stack. */
static bool is_deeper(const struct stack *stack, taddr sp)
{
	return stack && sp >= stack->bottom && sp < stack->sp;
}

static int take_sample(void *ctx, const struct perf_note *note)
{
	struct stack_tracer *tracer = ctx;
	taddr sp = note->regs.value[DWARF_SP];
	struct stack *stack = note->has_regs ? stack_of(tracer, note->tid, sp) : NULL;

	return is_deeper(stack, sp) ? keep_frames(tracer, stack, sp) : 0;
}

/* What was found holds if the thread has not run since it was looked at. */
static int look_at_sleeper(struct stack_tracer *tracer, const struct blocked_thread *thread)
{
	taddr sp = thread->regs.value[DWARF_SP];
	struct stack *stack = stack_of(tracer, thread->tid, sp);
	int rc;

	if (!is_deeper(stack, sp))
		return 0;
	rc = stacks_follow_blocked(&tracer->sampling.stacks, &thread->regs, tracer->err);
	if (rc || runcount_read(&thread->count, tracer->watch->proc) != thread->runs)
		return rc;
	return keep_frames(tracer, stack, sp);
}

/* The first word of the page that isn't zero; 0 if all are, or it can't be read. */
static taddr first_used(const struct proc *proc, taddr page)
{
	uint64_t words[PAGE / sizeof(uint64_t)];

	if (proc_read_some(proc, page, words, sizeof(words)) != sizeof(words))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i])
			return page + i * sizeof(uint64_t);
	return 0;
}

/*
 * The lowest word that was ever written below what is known. A page may be there without having
 * been used: in a huge page, or since a tool has read it from outside, as this one does. Then it is
 * all zeros.
 */
static void find_touched(const struct proc *proc, int pagemap, struct stack *stack)
{
	uint64_t entries[512];
	taddr page = stack->bottom & ~(PAGE - 1), end = stack->touched & ~(PAGE - 1);

	for (size_t n; page < end; page += n * PAGE) {
		size_t got;

		n = (end - page) / PAGE < ARRAY_SIZE(entries) ? (end - page) / PAGE
							      : ARRAY_SIZE(entries);
		got = pagemap_read(pagemap, page, entries, n);
		for (size_t i = 0; i < got; i++) {
			taddr used = entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)
					     ? first_used(proc, page + i * PAGE)
					     : 0;

			if (used) {
				stack->touched = used;
				return;
			}
		}
	}
}

static void find_all_touched(struct stack_tracer *tracer)
{
	struct stack *stack;
	auto_close int pagemap = pagemap_open(tracer->watch->proc);

	if (pagemap < 0)
		return;
	vec_for_each (&tracer->stacks, stack)
		find_touched(tracer->watch->proc, pagemap, stack);
}

static int look(struct stack_tracer *tracer)
{
	const struct blocked_thread *thread;
	int rc = sampling_read(&tracer->sampling, take_sample, tracer, tracer->err);

	if (rc)
		return rc;
	/* The process may end meanwhile: then there is no thread to look at. */
	if (blocked_look(&tracer->blocked, NULL) != 0)
		return 0;
	vec_for_each (&tracer->blocked.threads, thread)
		if (thread->class == BLOCKED_SLEEPS) {
			rc = look_at_sleeper(tracer, thread);
			if (rc)
				return rc;
		}
	return 0;
}

/*
 * If the time was so short that no thread was seen, asleep or running, looks a little longer.
 */
static int look_at_last(struct stack_tracer *tracer)
{
	const struct timespec pause = { 0, LAST_PAUSE_NS };
	int rc = 0;

	for (int i = 0; i < LAST_LOOKS; i++) {
		const struct stack *stack;
		bool seen = false;

		vec_for_each (&tracer->stacks, stack)
			seen |= stack->frames.n > 0;
		if (seen)
			break;
		nanosleep(&pause, NULL);
		rc = look(tracer);
		if (rc)
			return rc;
	}
	find_all_touched(tracer);
	return 0;
}

static int read_stacks(struct watch *watch, struct uspl_err *err)
{
	struct stack_tracer *tracer = watch->state;
	struct stack *stack;
	int rc;

	tracer->err = err;
	rc = look(tracer);
	if (rc)
		return rc;
	find_all_touched(tracer);
	if (!tracer->alarm)
		return 0;
	/* An alarm is for people, whatever the output is: it goes to the messages. */
	vec_for_each (&tracer->stacks, stack) {
		auto_buf struct buf text = { 0 };

		if (stack->alarmed || stack_percent(stack) < tracer->alarm)
			continue;
		stack->alarmed = true;
		buf_addf(&text, "alarm: thread %d (%s) has used %.2f %% of its stack\n", stack->tid,
			 stack->thread->name, stack_percent(stack));
		stack_add_text(&text, stack);
		fputs(buf_str(&text), stderr);
	}
	return 0;
}

static int by_depth(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	uint64_t dx = x->top - x->sp, dy = y->top - y->sp;

	return dx > dy ? -1 : dx < dy;
}

static int end_stacks(struct watch *watch, struct uspl_err *err)
{
	struct stack_tracer *tracer = watch->state;
	auto_buf struct buf losses = { 0 };
	const struct stack *stack;
	int rc;

	tracer->err = err;
	rc = look_at_last(tracer);
	if (rc)
		return rc;
	if (tracer->stacks.n)
		qsort(tracer->stacks.items, tracer->stacks.n, sizeof(*tracer->stacks.items),
		      by_depth);
	if (watch->format == &format_text)
		buf_addf(&watch->out, "# tracer: stack, pid %d (%s)\n", watch->proc->pid,
			 watch->proc->comm);
	vec_for_each (&tracer->stacks, stack) {
		/* A thread that was never at rest and never seen running. */
		if (!stack->frames.n)
			continue;
		if (watch->format == &format_text)
			stack_add_text(&watch->out, stack);
		else
			stack_add_json(&watch->out, stack);
	}
	sampling_add_losses(&tracer->sampling, &losses);
	watch->lost = tracer->sampling.perf.lost;
	watch_print_losses(watch, &losses);
	return 0;
}

static void close_stacks(struct watch *watch)
{
	struct stack_tracer *tracer = watch->state;
	struct stack *stack;

	vec_for_each (&tracer->stacks, stack)
		vec_release(&stack->frames);
	vec_release(&tracer->stacks);
	if (tracer->has_blocked)
		blocked_release(&tracer->blocked);
	sampling_close(&tracer->sampling);
}

static const struct tracer_watch watching = {
	.formats = { &format_text, &format_json },
	.open = open_stacks,
	.read = read_stacks,
	.end = end_stacks,
	.close = close_stacks,
};

const struct tracer tracer_stack = {
	.name = "stack",
	.help = "the deepest stack of each thread, with the size of every frame",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct stack_tracer),
	.watch = &watching,
};
