// SPDX-License-Identifier: GPL-3.0-or-later
// unwind_test.c - stacks of real processes, followed to their ends; and the check that stands on it

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "safety/safety.h"
#include "tap.h"
#include "thread/stop.h"

/* Room enough for each of the small functions below. */
#define FUNCTION_SPAN 240

static volatile int *ready;

static __attribute__((noinline)) void inner(int how)
{
	*ready = 1;
	if (how == 0)
		poll(NULL, 0, -1);
	else
		for (;;)
			__asm__ volatile("" : : : "memory");
	__asm__ volatile("" : : : "memory");
}

/* Without what the address sanitizer adds it is no longer than FUNCTION_SPAN. */
static __attribute__((noinline, no_sanitize_address)) void middle(int how)
{
	char room[300];

	memset(room, how, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	inner(how);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void in_handler(int sig)
{
	(void)sig;
	middle(0);
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void body_plain(void)
{
	middle(0);
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_spin(void)
{
	middle(1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_signal(void)
{
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	__asm__ volatile("");
}

static __attribute__((noinline, no_sanitize_address)) void body_altstack(void)
{
	stack_t alt = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_context(void)
{
	static char stack[65536];
	ucontext_t context, end;

	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &end;
	makecontext(&context, body_plain, 0);
	swapcontext(&end, &context);
}

static void *thread_main(void *arg)
{
	middle(0);
	return arg;
}

static __attribute__((noinline)) void body_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
}

struct seen {
	bool inner, middle, body;
	taddr body_addr;
	size_t n;
};

static bool within(taddr pc, const void *function)
{
	taddr start = (taddr)(uintptr_t)function;

	return pc >= start && pc < start + FUNCTION_SPAN;
}

static bool note(void *ctx, const struct unwind_frame *frame)
{
	struct seen *seen = ctx;

	seen->inner |= within(frame->pc, inner);
	seen->middle |= within(frame->pc, middle);
	seen->body |= frame->pc >= seen->body_addr && frame->pc < seen->body_addr + FUNCTION_SPAN;
	seen->n++;
	return true;
}

static bool clean(struct safety *safety, const struct stop *stop)
{
	const struct thread *thread;
	struct safety_finding finding;
	bool safe = true;

	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_STOPPED)
			safe &= safety_check(safety, thread, &finding);
	return safe;
}

/* A safety check over one function, which must find it in use, or not. */
static bool finds(struct unwinder *unwinder, const struct stop *stop, const void *function)
{
	struct safety safety = { .proc = stop->proc, .unwinder = unwinder };
	bool found;

	if (safety_add(&safety, "f", (taddr)(uintptr_t)function, FUNCTION_SPAN, false, NULL) != 0)
		return false;
	safety_seal(&safety);
	found = !clean(&safety, stop);
	safety_release(&safety);
	return found;
}

/* Longer than the span that is looked for, so that nothing else lies in it. */
static __attribute__((noinline)) void never_called(void)
{
	__asm__ volatile(".skip 400, 0x90");
}

static void look(const char *what, struct proc *proc, const void *body)
{
	struct seen seen = { .body_addr = (taddr)(uintptr_t)body };
	struct uspl_err err = { 0 };
	module_vec modules = { 0 };
	auto_unwinder struct unwinder *unwinder = NULL;
	const struct thread *thread;
	struct stop stop;
	size_t complete = 0, stopped = 0;
	int rc = modules_read(proc, &modules, &err);

	if (!rc)
		rc = unwinder_new(proc, &modules, &unwinder, &err);
	if (!rc)
		rc = stop_prepare(&stop, proc, &err);
	if (!rc)
		rc = stop_enter(&stop, clock_now_ns() + 2000000000, &err);
	ok(rc == 0, "%s: the threads stop (%s)", what, err.msg);
	vec_for_each (&stop.threads, thread) {
		struct some_regs regs;
		taddr sp;

		if (thread->state != THREAD_STOPPED)
			continue;
		stopped++;
		regs_to_dwarf(&thread->regs, &regs);
		complete += unwind(unwinder, &regs, note, &seen, &sp) == UNWIND_COMPLETE;
	}
	ok(stopped && complete == stopped, "%s: every stack is followed to its end (%zu of %zu)",
	   what, complete, stopped);
	ok(seen.inner && seen.middle && seen.body, "%s: through all its functions (%zu frames)",
	   what, seen.n);
	ok(finds(unwinder, &stop, middle), "%s: a function on the stack is found", what);
	ok(!finds(unwinder, &stop, never_called), "%s: a function that isn't there is not", what);
	stop_leave(&stop);
	modules_release(&modules);
}

/*
 * Waits until the main thread sleeps in pthread_join: before, it may still be in clone3, whose last
 * instructions have no CFI.
 */
static void wait_until_asleep(pid_t pid)
{
	char path[64], state = '?';

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			break;
		fclose(file);
	}
}

static void test(const char *what, void (*body)(void), const void *expect)
{
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	pid_t pid;

	*ready = 0;
	pid = fork();
	if (!pid) {
		alarm(20);
		body();
		_exit(0);
	}
	while (!*ready)
		sched_yield();
	if (expect == thread_main)
		wait_until_asleep(pid);
	if (proc_open(pid, &proc, &err) == 0)
		look(what, proc, expect);
	else
		ok(false, "%s: %s", what, err.msg);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	never_called();
	test("asleep in a call", body_plain, body_plain);
	test("running", body_spin, body_spin);
	test("in a signal handler", body_signal, body_signal);
	test("in a handler with its own stack", body_altstack, body_altstack);
	test("on a stack of makecontext", body_context, body_plain);
	test("in a thread", body_thread, thread_main);
	return tap_done();
}
