// SPDX-License-Identifier: GPL-3.0-or-later
// blocked_test.c - sleepers are found where they sleep, and never believed when they have moved

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tap.h"
#include "thread/blocked.h"
#include "thread/blocked_place.h"
#include "thread/stop.h"

#define SLEEPERS 3
#define STRESS_NS 1000000000ll
/* No test has more threads. */
#define MANY 16

/* What the targets and the test share. */
struct shared {
	volatile int ready;
	volatile pid_t spinner;
	int n_recently_ran;
	long pause_ns; /* how long those that recently ran sleep */
	int wake[2];   /* a pipe that one sleeper reads */
};

static struct shared *shared;

static void *sleep_in_poll(void *arg)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	poll(NULL, 0, -1);
	return arg;
}

static void *sleep_in_read(void *arg)
{
	char byte;

	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (read(shared->wake[0], &byte, 1) == 1)
		__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void *spin(void *arg)
{
	shared->spinner = (pid_t)syscall(SYS_gettid);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		__asm__ volatile("" : : : "memory");
	return arg;
}

static void *leave_at_once(void *arg)
{
	return arg;
}

static void body_sleepers(void)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		pthread_create(&thread, NULL, leave_at_once, NULL);
		pthread_join(thread, NULL);
	}
	for (int i = 1; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, i == 1 ? sleep_in_read : sleep_in_poll, NULL);
	sleep_in_poll(NULL);
}

static void body_spinner(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin, NULL);
	sleep_in_poll(NULL);
}

static void *wait_for_byte(void *arg)
{
	char byte;

	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (read(shared->wake[0], &byte, 1) != 1)
		;
	return arg;
}

/* A thread that ends when it is told to, and one that takes its place then. */
static void body_successor(void)
{
	pthread_t thread;

	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	pthread_create(&thread, NULL, wait_for_byte, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, sleep_in_poll, NULL);
	pthread_join(thread, NULL);
}

static void body_orphans(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_in_poll, NULL);
	pthread_exit(NULL);
}

/* The child runs on the memory of the parent, until it ends. */
static __attribute__((noinline)) void body_vfork(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		shared->ready = 1;
		poll(NULL, 0, -1);
		_exit(0);
	}
}

#define PATTERN_WORDS 64
#define PATTERN_MARK 0x5ea15ea15ea10000ull

/* Sleeps and works in turn; asleep, all words of its pattern are equal, at work they aren't. */
static __attribute__((noinline)) void *recently_ran(void *arg)
{
	uint64_t pattern[PATTERN_WORDS];
	const struct timespec pause = { 0, shared->pause_ns };

	prctl(PR_SET_TIMERSLACK, 1);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (uint16_t round = 0;; round++) {
		pattern[PATTERN_WORDS / 2] = PATTERN_MARK - 1;
		for (int i = 0; i < 10000; i++)
			__asm__ volatile("" : : "r"(pattern) : "memory");
		for (size_t i = 0; i < PATTERN_WORDS; i++)
			pattern[i] = PATTERN_MARK + round;
		__asm__ volatile("" : : "r"(pattern) : "memory");
		nanosleep(&pause, NULL);
	}
	return arg;
}

static void body_recently_ran(void)
{
	pthread_t thread;

	for (int i = 1; i < shared->n_recently_ran; i++)
		pthread_create(&thread, NULL, recently_ran, NULL);
	recently_ran(NULL);
}

static pid_t start(void (*body)(void), int n_ready)
{
	pid_t pid;

	shared->ready = 0;
	pid = fork();
	if (!pid) {
		alarm(60);
		body();
		_exit(0);
	}
	while (shared->ready < n_ready)
		sched_yield();
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* False if the process can't be looked at; then it is gone. */
static bool get_ready(pid_t pid, struct proc **proc, struct blocked *blocked)
{
	struct uspl_err err = { 0 };

	if (proc_open(pid, proc, &err) == 0 && blocked_open(blocked, *proc, &err) == 0)
		return true;
	ok(false, "%s", err.msg);
	finish(pid);
	return false;
}

/* The first number in /proc/PID/task/TID/syscall: the call that the thread sleeps in. */
static long call_of(pid_t pid, pid_t tid)
{
	auto_fclose FILE *file = NULL;
	char path[64];
	long nr;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	file = fopen(path, "r");
	return file && fscanf(file, "%ld", &nr) == 1 ? nr : -1;
}

/* Until all threads of a target that is to sleep do, in the calls that they are to sleep in. */
static void settle(const struct proc *proc, size_t threads)
{
	size_t blocked;

	do {
		tid_vec tids = { 0 };
		pid_t *tid;

		blocked = 0;
		if (tasks_list(proc, &tids, NULL) != 0)
			break;
		vec_for_each (&tids, tid) {
			long nr = call_of(proc->pid, *tid);

			blocked += nr == SYS_poll || nr == SYS_read || nr == SYS_futex;
		}
		blocked = tids.n == threads ? blocked : 0;
		vec_release(&tids);
	} while (blocked != threads);
}

static size_t count_sleeping_on(const struct blocked *blocked)
{
	const struct blocked_thread *thread;
	size_t n = 0;

	vec_for_each (&blocked->threads, thread)
		n += blocked_stays(blocked, thread);
	return n;
}

static size_t count_class(const struct blocked *blocked, enum blocked_class class)
{
	const struct blocked_thread *thread;
	size_t n = 0;

	vec_for_each (&blocked->threads, thread)
		n += thread->class == class;
	return n;
}

/* What is known of the registers must be what a stop shows. */
static bool same_registers(const struct proc *proc, struct blocked *blocked)
{
	const struct thread *thread;
	struct uspl_err err = { 0 };
	struct stop stop;
	bool same = true;

	if (stop_prepare(&stop, proc, &err) != 0)
		return false;
	same = stop_enter(&stop, clock_now_ns() + 2000000000, &err) == 0;
	vec_for_each (&stop.threads, thread) {
		const struct blocked_thread *seen = blocked_find(blocked, thread->tid);
		struct some_regs regs;

		regs_to_dwarf(&thread->regs, &regs);
		for (int reg = 0; same && seen && reg < DWARF_REGS; reg++)
			same = !some_regs_know(&seen->regs, reg) ||
			       seen->regs.value[reg] == regs.value[reg];
		same &= seen && some_regs_know(&seen->regs, DWARF_SP) &&
			some_regs_know(&seen->regs, DWARF_PC);
	}
	stop_leave(&stop);
	return same;
}

/* One of those that have run, by blocked_find_ran, if it is the only one. */
static struct blocked_thread *ran(struct blocked *blocked)
{
	struct blocked_thread *thread, *found = NULL;
	size_t n = 0;

	vec_for_each (&blocked->threads, thread) {
		found = thread->ran ? thread : found;
		n += thread->ran;
	}
	return n == 1 ? found : NULL;
}

static pid_t reader_of(const struct blocked *blocked)
{
	const struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread)
		if (call_of(blocked->proc->pid, thread->tid) == SYS_read)
			return thread->tid;
	return 0;
}

static size_t count_checked(const struct blocked *blocked)
{
	const struct blocked_thread *thread;
	size_t n = 0;

	vec_for_each (&blocked->threads, thread)
		n += thread->checked;
	return n;
}

/* The one that reads has run. */
static void test_ran(struct blocked *blocked)
{
	struct blocked_thread *reader = blocked_find(blocked, reader_of(blocked)), *thread;
	uint64_t runs;

	ok(reader && !reader->recently_ran && !blocked_find_ran(blocked),
	   "that one of which it was not expected has run isn't overlooked");
	if (!reader)
		return;
	reader->recently_ran = true;
	ok(blocked_find_ran(blocked) && ran(blocked) == reader,
	   "where it was, it is told which one");
	runs = reader->runs;
	vec_for_each (&blocked->threads, thread)
		thread->checked = true;
	blocked_look_at_ran(blocked);
	ok(!reader->checked && count_checked(blocked) == SLEEPERS - 1 &&
		   blocked_find_ran(blocked) && !ran(blocked),
	   "and that one alone is looked at again");
	reader->runs = runs;
}

static void test_sleepers(bool with_sum)
{
	pid_t pid = start(body_sleepers, SLEEPERS);
	const char *how = with_sum ? "by the sum" : "one by one";
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	bool has_sum;

	if (!get_ready(pid, &proc, &blocked))
		return;
	has_sum = blocked.sum.link.fd >= 0;
	if (!with_sum)
		runcount_sum_close(&blocked.sum);
	settle(proc, SLEEPERS);
	ok(blocked_look(&blocked, &err) == 0 && blocked.threads.n == SLEEPERS &&
		   count_class(&blocked, BLOCKED_SLEEPS) == SLEEPERS,
	   "%s: all threads are found asleep %s", how, err.msg);
	if (with_sum && has_sum)
		ok(blocked.dead_known && blocked.dead >= 5,
		   "%s: the runs of threads that have died are known (%llu)", how,
		   (unsigned long long)blocked.dead);
	for (int i = 0; i < 3; i++)
		ok(blocked_unchanged(&blocked), "%s: none of them has run since", how);
	ok(blocked_find_ran(&blocked) == (with_sum && has_sum) && !ran(&blocked),
	   "%s: which is said of each if the sum is known", how);
	blocked.threads.items[0].checked = true;
	ok(blocked_look(&blocked, &err) == 0 && blocked.threads.items[0].checked &&
		   blocked_unchanged(&blocked),
	   "%s: a second look finds the same", how);
	ok(write(shared->wake[1], "x", 1) == 1, "one of them is woken");
	while (shared->ready < SLEEPERS + 1)
		sched_yield();
	ok(!blocked_unchanged(&blocked), "%s: that is noticed", how);
	settle(proc, SLEEPERS);
	ok(!blocked_unchanged(&blocked), "%s: and so when it sleeps at its place again", how);
	if (with_sum && has_sum)
		test_ran(&blocked);
	ok(count_sleeping_on(&blocked) == SLEEPERS - 1, "%s: all but that one sleep on", how);
	ok(blocked_is_complete(&blocked), "%s: and there are no others", how);
	for (size_t i = 0; i < blocked.threads.n; i++)
		blocked.threads.items[i].checked = true;
	ok(blocked_look_again(&blocked, &err) == 0 && blocked_unchanged(&blocked),
	   "%s: after another look all is true again", how);
	if (with_sum && has_sum)
		ok(blocked_find_ran(&blocked) && !ran(&blocked), "and nobody has run since");
	ok(count_checked(&blocked) == SLEEPERS - 1,
	   "%s: only the one that has run is to be checked again", how);
	ok(same_registers(proc, &blocked), "%s: the registers are those that a stop shows", how);
	ok(!blocked_unchanged(&blocked), "%s: a stop is noticed", how);
	blocked_release(&blocked);
	finish(pid);
}

static void test_spinner(void)
{
	pid_t pid = start(body_spinner, 2);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	struct blocked_thread *spinner;

	if (!get_ready(pid, &proc, &blocked))
		return;
	while (call_of(pid, pid) != SYS_poll)
		sched_yield();
	ok(blocked_look(&blocked, &err) == 0 && count_class(&blocked, BLOCKED_RUNS) == 1,
	   "a thread that runs is told from one that sleeps");
	spinner = blocked_find(&blocked, shared->spinner);
	ok(spinner && spinner->class == BLOCKED_RUNS, "and found by its id");
	ok(!blocked_unchanged(&blocked), "as long as one runs nothing is certain");
	kill(pid, SIGSTOP);
	while (blocked_look(&blocked, &err) == 0 && count_class(&blocked, BLOCKED_RUNS))
		sched_yield();
	ok(count_class(&blocked, BLOCKED_SLEEPS) == 2,
	   "threads of a stopped process stand still, too");
	ok(blocked_look(&blocked, &err) == 0 && blocked_unchanged(&blocked), "and don't run");
	kill(pid, SIGCONT);
	blocked_release(&blocked);
	finish(pid);
}

static size_t threads_of(const struct proc *proc)
{
	tid_vec tids = { 0 };
	size_t n = tasks_list(proc, &tids, NULL) == 0 ? tids.n : 0;

	vec_release(&tids);
	return n;
}

/* As many threads as before aren't the same ones. */
static void test_successor(void)
{
	pid_t pid = start(body_successor, 2);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;

	if (!get_ready(pid, &proc, &blocked))
		return;
	settle(proc, 2);
	ok(blocked_look(&blocked, &err) == 0 &&
		   blocked_find_ran(&blocked) == blocked_has_sum(&blocked) &&
		   blocked_is_complete(&blocked),
	   "two threads are known");
	ok(write(shared->wake[1], "x", 1) == 1, "one of them ends, another one begins");
	while (shared->ready < 3 || threads_of(proc) != 2)
		sched_yield();
	settle(proc, 2);
	ok(!blocked_is_complete(&blocked), "that is noticed");
	ok(blocked_look_again(&blocked, &err) == 0 && blocked_is_complete(&blocked),
	   "after another look the new one is known");
	blocked_release(&blocked);
	finish(pid);
}

/* Held by a stop of ours, a running thread is no obstacle; its count may be any. */
static void test_held(void)
{
	pid_t pid = start(body_spinner, 2);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	struct blocked_thread *spinner;
	struct thread thread = { 0 };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (!get_ready(pid, &proc, &blocked))
		return;
	while (call_of(pid, pid) != SYS_poll)
		sched_yield();
	thread.tid = shared->spinner;
	ok(blocked_look(&blocked, &err) == 0 && thread_seize(proc, &thread, &err) == 0, "%s",
	   "seized");
	thread_interrupt(&thread);
	ok(thread_wait(proc, &thread, clock_now_ns() + 2000000000, &err) == 0 &&
		   thread.state == THREAD_STOPPED,
	   "the running thread is stopped");
	spinner = blocked_find(&blocked, thread.tid);
	spinner->accounted = true;
	ok(blocked_unchanged(&blocked), "with all others asleep, and it held, nothing can run");
	ok(blocked_look(&blocked, &err) == 0 &&
		   blocked_find(&blocked, thread.tid)->class == BLOCKED_RUNS &&
		   blocked_unchanged(&blocked),
	   "a look leaves a held thread alone");
	blocked_find(&blocked, thread.tid)->accounted = false;
	thread_release(proc, &thread);
	ok(!blocked_unchanged(&blocked), "let go, it runs");
	blocked_release(&blocked);
	finish(pid);
}

static bool is_zombie(pid_t pid)
{
	auto_fclose FILE *file = NULL;
	char path[64], state;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	file = fopen(path, "r");
	return !file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z';
}

static void test_orphans(void)
{
	pid_t pid = start(body_orphans, 1);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	struct blocked_thread *main_thread;

	while (!is_zombie(pid))
		sched_yield();
	if (!get_ready(pid, &proc, &blocked))
		return;
	while (call_of(pid, proc->tid) != SYS_poll)
		sched_yield();
	ok(blocked_look(&blocked, &err) == 0 && blocked.threads.n == 2,
	   "a main thread that has exited");
	main_thread = blocked_find(&blocked, pid);
	ok(main_thread && main_thread->class == BLOCKED_NO_CODE, "has no code to run");
	ok(blocked_unchanged(&blocked), "and doesn't keep the others from being asleep");
	blocked_release(&blocked);
	finish(pid);
}

static void test_vfork(void)
{
	pid_t pid = start(body_vfork, 1);
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;

	if (!get_ready(pid, &proc, &blocked))
		return;
	while (call_of(pid, pid) < 0)
		sched_yield();
	ok(blocked_look(&blocked, &err) == 0 && count_class(&blocked, BLOCKED_RUNS) == 1 &&
		   !blocked_unchanged(&blocked),
	   "a thread that waits in vfork doesn't count as asleep");
	blocked_release(&blocked);
	finish(pid);
}

/* What the stress test has seen. */
struct tally {
	size_t looks, torn, accepted, wrong, elsewhere, whole, lies, told, missed;
};

/*
 * True if all words of the pattern above that stack pointer are equal; false, too, if none is
 * there. The copy isn't made on our own stack: a target that is forked later would have it on its
 * own.
 */
static bool pattern_is_whole(const struct proc *proc, taddr sp)
{
	static uint64_t words[PATTERN_WORDS * 4];
	size_t n = proc_read_some(proc, sp, words, sizeof(words)) / sizeof(*words), first = 0;

	while (first < n && (words[first] & ~0xffffull) != PATTERN_MARK)
		first++;
	for (size_t i = 1; i < PATTERN_WORDS; i++)
		if (first + i >= n || words[first + i] != words[first])
			return false;
	return true;
}

/*
 * One thread: what is read of a sleeper's stack is consistent if its count says that it slept on.
 * It may sleep outside its pause, too: in a page fault, until the kernel has moved or read that
 * page. Then its pattern is as it was at that instruction, and says nothing.
 */
static void check_sleeper(const struct proc *proc, const struct blocked_thread *thread,
			  struct tally *tally)
{
	bool whole = pattern_is_whole(proc, thread->regs.value[DWARF_SP]);
	struct blocked_place place = { .nr = SYS_clock_nanosleep };
	bool known = blocked_place_read(proc, thread->tid, &place);
	bool still = runcount_read(&thread->count, proc) == thread->runs;

	tally->torn += !still;
	if (still && known && place.nr < 0) {
		tally->elsewhere++;
		return;
	}
	tally->accepted += still;
	tally->wrong += still && !whole;
	if (still && !whole)
		printf("# thread %d, now %s in system call %ld, was at 0x%" PRIx64
		       ", stack 0x%" PRIx64 "\n",
		       thread->tid, known ? "blocked" : "ready", place.nr,
		       thread->regs.value[DWARF_PC], thread->regs.value[DWARF_SP]);
}

/*
 * All threads: counts only grow, so if one has grown before the question, "unchanged" would be a
 * lie.
 */
static void check_process(const struct proc *proc, struct blocked *blocked, struct tally *tally)
{
	const struct blocked_thread *thread;
	bool moved = false, unchanged;

	vec_for_each (&blocked->threads, thread)
		moved |= runcount_read(&thread->count, proc) != thread->runs;
	unchanged = blocked_unchanged(blocked);
	tally->whole += unchanged;
	tally->lies += unchanged && moved;
}

/* Every other one passes for one that doesn't wake: then it is the sum that has to tell. */
static void check_ran(const struct proc *proc, struct blocked *blocked, struct tally *tally)
{
	bool moved[MANY] = { false };
	size_t missed = 0;

	for (size_t i = 0; i < blocked->threads.n && i < MANY; i++) {
		struct blocked_thread *thread = &blocked->threads.items[i];

		thread->recently_ran = i % 2;
		moved[i] = thread->class == BLOCKED_SLEEPS &&
			   runcount_read(&thread->count, proc) != thread->runs;
	}
	if (!blocked_find_ran(blocked))
		return;
	for (size_t i = 0; i < blocked->threads.n && i < MANY; i++)
		missed += moved[i] && !blocked->threads.items[i].ran;
	tally->told++;
	tally->missed += missed;
}

/* On the only processor that is left to them, others are ready to run by the time we look. */
static bool alone(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1;
}

static void test_recently_ran(int threads, long pause_ns)
{
	pid_t pid;
	struct uspl_err err = { 0 };
	auto_proc struct proc *proc = NULL;
	struct blocked blocked;
	struct tally tally = { 0 };
	int64_t end = clock_now_ns() + STRESS_NS;
	int rc = 0;

	shared->n_recently_ran = threads;
	shared->pause_ns = pause_ns;
	pid = start(body_recently_ran, threads);
	if (!get_ready(pid, &proc, &blocked))
		return;
	while (!rc && (clock_now_ns() < end || (!tally.accepted && !alone()))) {
		const struct blocked_thread *thread;

		rc = blocked_look(&blocked, &err);
		vec_for_each (&blocked.threads, thread)
			if (thread->class == BLOCKED_SLEEPS)
				check_sleeper(proc, thread, &tally);
		check_process(proc, &blocked, &tally);
		check_ran(proc, &blocked, &tally);
		tally.looks++;
	}
	ok(rc == 0 && (tally.accepted || alone()),
	   "%d threads that sleep for %ld us are caught asleep (%zu)", threads, pause_ns / 1000,
	   tally.accepted);
	ok(!tally.wrong, "what is accepted is never torn (%zu have moved meanwhile, %zu in faults)",
	   tally.torn, tally.elsewhere);
	ok(!tally.lies, "no process is called unchanged that isn't (%zu of %zu looks were)",
	   tally.whole, tally.looks);
	ok(!tally.missed, "who has run is told where that can be told (%zu times)", tally.told);
	blocked_release(&blocked);
	finish(pid);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(shared->wake) != 0)
		return 3;
	test_sleepers(true);
	test_sleepers(false);
	test_spinner();
	test_held();
	test_successor();
	test_orphans();
	test_vfork();
	test_recently_ran(6, 20000);
	test_recently_ran(2, 500000);
	return tap_done();
}
