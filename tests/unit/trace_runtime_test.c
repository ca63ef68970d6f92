// SPDX-License-Identifier: GPL-3.0-or-later
// trace_runtime_test.c - the tracer's hot path, run in this very process: registers, threads,
// jumps, other stacks

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "trace_run.h"

#define THREADS 8
#define OTHER_STACK (256u << 10)
/*
 * More stacks than there are entries to look in, with as many chunks in between as the table has.
 */
#define EVEN_STACKS 40
#define EVEN_DISTANCE ((size_t)USPL_TRACE_CHUNKS * USPL_TRACE_CHUNK)

/*
 * What the compiler may expect of a call: arguments in registers and on the stack, %al, vectors,
 * structs.
 */
struct big {
	long a[5];
};

TRACED static struct big many(long a, long b, long c, long d, long e, long f, long g, long h,
			      struct big big)
{
	struct big ret = { { a + b, c + d, e + f, g + h, big.a[4] } };

	return ret;
}

TRACED static double vectors(double a, float b, long double c, double d)
{
	return a + (double)b + (double)c + d;
}

TRACED static int variadic(const char *fmt, ...)
{
	char text[64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n;
}

TRACED static __int128 wide(__int128 x)
{
	return x * 3;
}

static void test_values(void)
{
	struct big big = { { 0, 0, 0, 0, 77 } }, got;
	uint64_t from = position();
	uint32_t ids[] = { trace(many, false), trace(vectors, false), trace(variadic, false),
			   trace(wide, false), trace(fib, false) };

	got = many(1, 2, 3, 4, 5, 6, 7, 8, big);
	ok(got.a[0] == 3 && got.a[1] == 7 && got.a[2] == 11 && got.a[3] == 15 && got.a[4] == 77,
	   "arguments on the stack and a struct as result");
	ok(vectors(1, 2, 3, 4) == 10, "floating-point arguments and result");
	ok(variadic("%d %s %.1f", 12, "abc", 1.5) == 10, "a variable number of arguments");
	ok(wide((__int128)1 << 70) == (__int128)3 << 70, "a result in two registers");
	ok(fib(15) == 610, "recursion");
	ok(count(my_ring(), from, ids[0]) == 1 && count(my_ring(), from, ids[4]) == 1973,
	   "a record for every call");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		untrace(ids[i]);
	from = position();
	ok(fib(10) == 55 && position() == from, "taken out again: no record");
}

/* Sets every general register, calls, and says which ones have changed. */
TRACED static void idle(void)
{
	__asm__ volatile("");
}

static void (*const volatile idle_now)(void) = idle;

static uint64_t changed_registers(void)
{
	uint64_t bad;

	/* r15 holds the stack pointer; the red zone is left alone. */
	__asm__ volatile("mov %%rsp, %%r15\n sub $128, %%rsp\n and $-16, %%rsp\n"
			 "mov $0x101, %%eax\n mov $0x102, %%ebx\n mov $0x103, %%ecx\n"
			 "mov $0x104, %%edx\n mov $0x105, %%esi\n mov $0x106, %%edi\n"
			 "mov $0x108, %%r8d\n mov $0x109, %%r9d\n mov $0x10a, %%r10d\n"
			 "mov $0x10b, %%r11d\n mov $0x10c, %%r12d\n mov $0x10d, %%r13d\n"
			 "mov $0x10e, %%r14d\n call *%[f]\n mov %%r15, %%rsp\n"
			 "sub $0x101, %%rax\n sub $0x102, %%rbx\n sub $0x103, %%rcx\n"
			 "sub $0x104, %%rdx\n sub $0x105, %%rsi\n sub $0x106, %%rdi\n"
			 "sub $0x108, %%r8\n sub $0x109, %%r9\n sub $0x10a, %%r10\n"
			 "sub $0x10b, %%r11\n sub $0x10c, %%r12\n sub $0x10d, %%r13\n"
			 "sub $0x10e, %%r14\n or %%rbx, %%rax\n or %%rcx, %%rax\n"
			 "or %%rdx, %%rax\n or %%rsi, %%rax\n or %%rdi, %%rax\n"
			 "or %%r8, %%rax\n or %%r9, %%rax\n or %%r10, %%rax\n"
			 "or %%r11, %%rax\n or %%r12, %%rax\n or %%r13, %%rax\n"
			 "or %%r14, %%rax\n"
			 : "=a"(bad)
			 : [f] "m"(idle_now)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			   "r13", "r14", "r15", "memory", "cc");
	return bad;
}

static void *registers_in_thread(void *arg)
{
	*(uint64_t *)arg = changed_registers() | changed_registers();
	return NULL;
}

static void test_registers(void)
{
	uint64_t bad = 1;
	pthread_t thread;
	uint32_t id = trace(idle, false);

	ok(!changed_registers(), "every register is kept by a traced call");
	pthread_create(&thread, NULL, registers_in_thread, &bad);
	pthread_join(thread, NULL);
	ok(!bad, "by a new thread's first one, too");
	untrace(id);
	id = trace(idle, true);
	ok(!changed_registers(), "and by one whose entry is recorded");
	untrace(id);
}

static void test_entry(void)
{
	uint32_t id = trace(fib, true);
	uint64_t from = position();
	const struct uspl_trace_entry *entry;

	ok(fib(10) == 55 && count(my_ring(), from, id) == 177, "entries only: one for each call");
	entry = (const void *)record_at(my_ring(), from + USPL_TRACE_RECORD);
	ok((uint32_t)((uintptr_t)fib) < entry->caller &&
		   entry->caller < (uint32_t)(uintptr_t)fib + 512,
	   "with the caller");
	untrace(id);
}

/* The processor that the kernel says, on each that this process may use. */
static void test_processor(void)
{
	uint32_t id = trace(idle, true);
	cpu_set_t all, one;
	int wrong = 0, tried = 0;

	tracer.control->cpu_offset = __rseq_offset + 4;
	tracer.control->cpu_mask = USPL_TRACE_CPU_MASK;
	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu <= USPL_TRACE_CPU_MAX && __rseq_size; cpu++) {
		uint64_t at = position();

		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		idle_now();
		tried++;
		wrong += record_at(my_ring(), at)->id !=
			 (id | (uint32_t)(cpu + 1) << USPL_TRACE_CPU_SHIFT);
	}
	sched_setaffinity(0, sizeof(all), &all);
	ok(!wrong, "an entry has its processor, on %d of them", tried);
	tracer.control->cpu_mask = 0;
	untrace(id);
}

TRACED static long inner(long n)
{
	long a = fib(n);

	/* Keeps the compiler from jumping there. */
	__asm__ volatile("" : "+r"(a));
	return a;
}

static void test_depth(void)
{
	uint32_t ids[2];
	uint64_t from;

	tracer.control->depth = 3;
	ids[0] = trace(fib, false);
	ids[1] = trace(inner, false);
	from = position();
	ok(inner(10) == 55 && count(my_ring(), from, ids[1]) == 1 &&
		   count(my_ring(), from, ids[0]) == 3,
	   "three calls in each other are recorded");
	from = position();
	ok(fib(10) == 55 && count(my_ring(), from, ids[0]) == 7, "and no deeper ones");
	for (int i = 0; i < 10; i++)
		fib(1);
	ok(count(my_ring(), from, ids[0]) == 17, "what has returned doesn't count");
	tracer.control->depth = 0;
	untrace(ids[0]);
	untrace(ids[1]);
}

static void *call_idle(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		idle_now();
	return NULL;
}

/* Only the chosen threads get rings; what the others call isn't lost, it wasn't wanted. */
static void test_chosen(void)
{
	uint64_t rings = tracer.counters->next_ring, nowhere = tracer.counters->nowhere;
	uint32_t id;
	pthread_t threads[2];

	tracer.control->n_tids = 2;
	tracer.control->tids[0] = 1;
	tracer.control->tids[1] = (uint32_t)syscall(SYS_gettid);
	for (int kind = 0; kind < 2; kind++) {
		id = trace(idle, kind);
		for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_create(&threads[i], NULL, call_idle, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
		idle_now();
		untrace(id);
		ok(count(my_ring(), position() - USPL_TRACE_RECORD, id) == 1,
		   "a chosen thread is recorded");
	}
	tracer.control->n_tids = 0;
	ok(tracer.counters->next_ring == rings && tracer.counters->nowhere == nowhere,
	   "others aren't, and that is no loss");
	id = trace(idle, false);
	pthread_create(&threads[0], NULL, call_idle, NULL);
	pthread_join(threads[0], NULL);
	ok(tracer.counters->nowhere == nowhere,
	   "a later thread in the same place is, when all are");
	untrace(id);
}

static void *fib_often(void *arg)
{
	for (int i = 0; i < 20; i++)
		fib(12);
	*(uint64_t *)arg = position();
	return NULL;
}

static void test_threads(void)
{
	uint32_t id = trace(fib, false);
	pthread_t threads[THREADS];
	uint64_t taken[THREADS] = { 0 };
	int full = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fib_often, &taken[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/*
	 * A thread whose thread pointer was another's before has that one's ring and a record that
	 * says so.
	 */
	for (int i = 0; i < THREADS; i++)
		full += taken[i] >= 20 * 465 * USPL_TRACE_RECORD;
	ok(full == THREADS, "every new thread finds a ring and loses nothing");
	untrace(id);
}

static jmp_buf out;
static volatile bool leave = true;

TRACED static void jumps(int depth)
{
	if (depth)
		jumps(depth - 1);
	else if (leave)
		longjmp(out, 1);
	__asm__ volatile("");
}

/* How many records from there on are of calls that were left. */
static uint64_t count_left(uint64_t from)
{
	uint64_t n = 0;

	for (; from < my_ring()->pos; from += USPL_TRACE_RECORD)
		n += record_at(my_ring(), from)->id == USPL_TRACE_ID_LONG &&
		     record_at(my_ring(), from)->duration == USPL_TRACE_LEFT;
	return n;
}

static void test_longjmp(void)
{
	uint32_t ids[] = { trace(jumps, false), trace(fib, false) };
	uint64_t from = position();

	for (int i = 0; i < 3; i++)
		if (!setjmp(out))
			jumps(10);
	/* Those of the last round nobody has come upon yet. */
	ok(count(my_ring(), from, ids[0]) == 22 && count_left(from) == 22,
	   "calls that were left are recorded when others take their places");
	ok(fib(10) == 55 && count(my_ring(), from, ids[1]) == 177,
	   "calls work after frames were left by longjmp");
	untrace(ids[0]);
	untrace(ids[1]);
}

/* Two traced functions, the first of which ends with a jump to the second. */
__asm__(".text\n.globl tail_first, tail_second\n"
	".p2align 4\ntail_first: .byte 0x90,0x90,0x90,0x90,0x90\n add $1, %rdi\n jmp tail_second\n"
	".p2align 4\ntail_second: .byte 0x90,0x90,0x90,0x90,0x90\n lea (%rdi,%rdi), %rax\n ret\n");
extern long tail_first(long x), tail_second(long x);

static void test_tail_call(void)
{
	uint32_t ids[] = { trace(tail_first, false), trace(tail_second, false) };
	uint64_t from = position();

	ok(tail_first(20) == 42 && tail_second(4) == 8,
	   "a tail call of a traced function returns right");
	ok(count(my_ring(), from, ids[0]) == 1 && count(my_ring(), from, ids[1]) == 2,
	   "and both have their records");
	untrace(ids[0]);
	untrace(ids[1]);
}

/* A function that calls another with nothing on the stack but its own return address. */
__asm__(".text\n.globl near_outer, near_inner\n"
	".p2align 4\nnear_outer: .byte 0x90,0x90,0x90,0x90,0x90\n call near_inner\n"
	" add $1, %rax\n ret\n"
	".p2align 4\nnear_inner: .byte 0x90,0x90,0x90,0x90,0x90\n lea (%rdi,%rdi), %rax\n ret\n");
extern long near_outer(long x), near_inner(long x);

static void test_unaligned(void)
{
	uint32_t ids[] = { trace(near_outer, false), trace(near_inner, false) };
	uint64_t from = position();

	ok(near_outer(20) == 41, "return addresses 8 bytes apart don't get into each other's way");
	ok(count(my_ring(), from, ids[0]) == 1 && count(my_ring(), from, ids[1]) == 1,
	   "and both calls have their records");
	untrace(ids[0]);
	untrace(ids[1]);
}

static ucontext_t main_context, other_context;
static long sum;

TRACED static void switches(int n)
{
	for (int i = 0; i < n; i++) {
		sum += i;
		swapcontext(&other_context, &main_context);
	}
}

static void coroutine(void)
{
	switches(50);
}

TRACED static void resume(void)
{
	swapcontext(&main_context, &other_context);
}

static void test_coroutines(void)
{
	uint32_t ids[] = { trace(switches, false), trace(resume, false), trace(fib, false) };
	uint64_t from = position();

	getcontext(&other_context);
	/*
	 * Not in data: for a sanitizer's build that shadow, which isn't chosen here, lies in the
	 * sanitizer's own.
	 */
	other_context.uc_stack.ss_sp = pages(OTHER_STACK, MAP_PRIVATE);
	other_context.uc_stack.ss_size = OTHER_STACK;
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
	for (int i = 0; i < 51; i++) {
		resume();
		fib(3);
	}
	ok(sum == 49 * 25, "traced coroutines go on where they were");
	ok(count(my_ring(), from, ids[0]) == 1 && count(my_ring(), from, ids[1]) == 51,
	   "with a record for each call that came back");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		untrace(ids[i]);
}

TRACED static long deep(long n)
{
	char space[4096];

	memset(space, (int)n, sizeof(space));
	__asm__ volatile("" : : "r"(space) : "memory");
	return n ? deep(n - 1) + space[17] * 0 + 1 : 0;
}

static void test_deep(void)
{
	uint32_t id = trace(deep, false);
	uint64_t from = position();

	ok(deep(1000) == 1000 && count(my_ring(), from, id) == 1001,
	   "a stack of 4 MiB, over many chunks");
	untrace(id);
}

static void *fib_on(void *arg)
{
	uint64_t *counted = arg;
	uint32_t id = (uint32_t)*counted;
	uint64_t from = position();

	fib(5);
	*counted = count(my_ring(), from, id);
	return NULL;
}

/* One thread after the other. */
static void test_even_stacks(void)
{
	uint32_t id = trace(fib, false);
	size_t len = (EVEN_STACKS + 1) * EVEN_DISTANCE;
	char *stacks = pages(len, MAP_PRIVATE | MAP_NORESERVE);
	int right = 0;

	for (size_t i = 0; i < EVEN_STACKS; i++) {
		uint64_t counted = id;
		pthread_attr_t attr;
		pthread_t thread;

		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stacks + i * EVEN_DISTANCE, 2 * USPL_TRACE_CHUNK);
		if (pthread_create(&thread, &attr, fib_on, &counted) == 0)
			pthread_join(thread, NULL);
		pthread_attr_destroy(&attr);
		right += counted == 15;
	}
	ok(right == EVEN_STACKS, "stacks at even distances all have their shadows (%d)", right);
	munmap(stacks, len);
	untrace(id);
}

struct chain {
	void *want;
	bool found;
	int n;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	struct chain *chain = arg;

	chain->found |= _Unwind_GetRegionStart(context) == (uintptr_t)chain->want;
	return ++chain->n > 100 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

TRACED static void unwinds(struct chain *chain, int depth)
{
	if (depth)
		unwinds(chain, depth - 1);
	else
		_Unwind_Backtrace(note_frame, chain);
	__asm__ volatile("");
}

static void test_unwinding(void)
{
	struct chain chain = { .want = (void *)test_unwinding };
	uint32_t id = trace(unwinds, false);

	unwinds(&chain, 5);
	ok(chain.found && chain.n >= 13, "an unwinder passes through traced frames (%d)", chain.n);
	untrace(id);
}

static int cleaned;

static void clean(void *arg)
{
	*(int *)arg += 1;
}

TRACED static void waits(int depth)
{
	pthread_cleanup_push(clean, &cleaned);
	if (depth)
		waits(depth - 1);
	else
		pause();
	pthread_cleanup_pop(0);
}

static void *cancelled(void *arg)
{
	waits(3);
	return arg;
}

static void test_cancel(void)
{
	uint32_t id = trace(waits, false);
	void *result = NULL;
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled, NULL);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	ok(result == PTHREAD_CANCELED && cleaned == 4,
	   "pthread_cancel runs the clean-up handlers of traced frames (%d)", cleaned);
	untrace(id);
}

static void test_threshold(void)
{
	uint32_t id = trace(fib, false);
	uint64_t from = position();

	tracer.control->threshold = 1ull << 40;
	ok(fib(10) == 55 && position() == from, "calls shorter than the threshold leave no record");
	tracer.control->threshold = 0;
	untrace(id);
}

/* The child's tables are wiped as MADV_WIPEONFORK does it. */
static void test_fork(void)
{
	uint32_t id = trace(fib, false);
	uint64_t from = position();
	int status;
	pid_t pid = fork();

	if (!pid) {
		tracer.counters->enabled = 0;
		memset((void *)tracer.control->threads, 0,
		       USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread));
		_exit(fib(10) == 55 ? 0 : 1);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "a child of fork goes on");
	ok(position() == from, "and writes into nobody's ring");
	untrace(id);
}

int main(void)
{
	set_up();
	test_values();
	test_registers();
	test_entry();
	test_processor();
	test_depth();
	test_chosen();
	test_threads();
	test_longjmp();
	test_tail_call();
	test_unaligned();
	test_coroutines();
	test_deep();
	test_even_stacks();
	test_unwinding();
	test_cancel();
	test_threshold();
	test_fork();
	return tap_done();
}
