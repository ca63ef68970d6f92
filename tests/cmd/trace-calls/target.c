// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls in odd places, which the program counts itself: small stacks, other stacks, ends
// of threads, signals without end

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define WORKERS 3

void pulse(void), on_blast(int sig), on_alt(int sig), quitter(int depth), sleeper(void);
void tick(void), tock(void), swing(void);
long tiny(long depth), early(long x);

static volatile long sink, early_sum;

KEPT long early(long x)
{
	return x + 1;
}

/* Runs before main, until it is let go: a process may be traced while it is being made. */
__attribute__((constructor)) static void construct(void)
{
	char line[LINE_SIZE];

	if (!getenv("EARLY"))
		return;
	next_line(line);
	for (long i = 0; i < 10; i++)
		early_sum = early(early_sum);
}

KEPT long tiny(long depth)
{
	long below = depth ? tiny(depth - 1) + 1 : 0;

	/* Keeps the compiler from making a loop of it. */
	sink++;
	return below;
}

KEPT void quitter(int depth)
{
	if (!depth)
		pthread_exit(NULL);
	quitter(depth - 1);
	sink++;
}

KEPT void sleeper(void)
{
	for (;;)
		pause();
}

static void *run_tiny(void *arg)
{
	*(long *)arg = tiny(20);
	return NULL;
}

static void *run_quitter(void *arg)
{
	quitter(10);
	return arg;
}

static void *run_sleeper(void *arg)
{
	sleeper();
	return arg;
}

/* n threads, one after the other, on stacks as small as can be. */
static long in_threads(long n, void *(*run)(void *), bool cancel)
{
	pthread_attr_t attr;
	pthread_t thread;
	long sum = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	for (long i = 0; i < n; i++) {
		long value = 1;

		pthread_create(&thread, &attr, run, &value);
		if (cancel)
			pthread_cancel(thread);
		pthread_join(thread, NULL);
		sum += value;
	}
	return sum;
}

KEPT void on_alt(int sig)
{
	sink += sig;
	sink += tiny(3);
}

/* n signals, whose handler has a stack of its own. */
static long on_other_stack(long n)
{
	static char room[64 << 10];
	const stack_t other = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction act = { .sa_handler = on_alt, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &act, NULL);
	for (long i = 0; i < n; i++)
		raise(SIGUSR2);
	return n;
}

static atomic_long handled, pulses;
static atomic_bool enough;
static pid_t victim;

KEPT void pulse(void)
{
	sink++;
}

KEPT void on_blast(int sig)
{
	(void)sig;
	pulse();
	atomic_fetch_add(&handled, 1);
}

static void *blast(void *arg)
{
	while (!enough)
		syscall(SYS_tgkill, getpid(), victim, SIGUSR1);
	return arg;
}

/*
 * Makes a clock that sends this thread signals, too: on a busy machine the one who sends them has
 * to wait for its turn.
 */
static timer_t start_clock(void)
{
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t clock;

	event._sigev_un._tid = victim;
	timer_create(CLOCK_MONOTONIC, &event, &clock);
	timer_settime(clock, 0, &every, NULL);
	return clock;
}

/*
 * Signals as fast as they can be sent, until n were handled, in a thread that does nothing but
 * traced calls.
 */
static void storm(long n, char *reply, size_t size)
{
	struct sigaction act = { .sa_handler = on_blast };
	pthread_t sender;
	timer_t clock;
	long made = 0;

	handled = 0;
	enough = false;
	victim = (pid_t)syscall(SYS_gettid);
	sigaction(SIGUSR1, &act, NULL);
	pthread_create(&sender, NULL, blast, NULL);
	clock = start_clock();
	for (; handled < n; made++)
		pulse();
	timer_delete(clock);
	enough = true;
	pthread_join(sender, NULL);
	snprintf(reply, size, "%ld", made + 2 * handled);
}

KEPT void tick(void)
{
	sink++;
}

KEPT void tock(void)
{
	sink--;
}

KEPT void swing(void)
{
	tick();
	tock();
	atomic_fetch_add(&pulses, 1);
}

static void *swing_on(void *arg)
{
	while (!enough)
		swing();
	return arg;
}

static pthread_t workers[WORKERS];

static long start_swinging(void)
{
	enough = false;
	pulses = 0;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, swing_on, NULL);
	return WORKERS;
}

static long stop_swinging(void)
{
	enough = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return pulses;
}

#define KILL_FOR(nr)                                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),                                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* From here on new memory is the end. */
static long confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_FOR(SYS_mmap),
		KILL_FOR(SYS_gettid),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static sem_t go;

static void *wait_and_work(void *arg)
{
	sem_wait(&go);
	for (int i = 0; i < 10; i++)
		tiny(20);
	return arg;
}

static long park(void)
{
	sem_init(&go, 0, 0);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, wait_and_work, NULL);
	return WORKERS;
}

static long unpark(void)
{
	for (int i = 0; i < WORKERS; i++)
		sem_post(&go);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return tiny(0);
}

static long use_heap(long n)
{
	for (long i = 0; i < n; i++) {
		void *volatile p = malloc((size_t)i % 200 + 1);

		free(p);
	}
	return n;
}

static long reserve(uintptr_t from, uintptr_t to)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;

	return mmap((void *)from, to - from, PROT_NONE, flags, -1, 0) == (void *)from;
}

/*
 * Takes most of the addresses below the libraries, but for where programs lie, and where a shadow
 * of this stack would lie by itself.
 */
static long take_addresses(void)
{
	uintptr_t at = 2 * (uintptr_t)__builtin_frame_address(0) & 0x7fffff000000;

	/* If there is something else already, all the better. */
	(void)reserve(at - 0x1000000, at + 0x1000000);
	return reserve(0x100000000000, 0x550000000000) + reserve(0x570000000000, 0x7b0000000000);
}

void answer(const char *request, char *reply, size_t size)
{
	char verb[32] = "";
	long n = 0;

	sscanf(request, "%31s %ld", verb, &n);
	if (!strcmp(verb, "storm")) {
		storm(n, reply, size);
		return;
	}
	if (!strcmp(verb, "tiny"))
		n = in_threads(n, run_tiny, false);
	else if (!strcmp(verb, "quit"))
		n = in_threads(n, run_quitter, false);
	else if (!strcmp(verb, "cancel"))
		n = in_threads(n, run_sleeper, true);
	else if (!strcmp(verb, "alt"))
		n = on_other_stack(n);
	else if (!strcmp(verb, "swing"))
		n = start_swinging();
	else if (!strcmp(verb, "halt"))
		n = stop_swinging();
	else if (!strcmp(verb, "park"))
		n = park();
	else if (!strcmp(verb, "unpark"))
		n = unpark();
	else if (!strcmp(verb, "confine"))
		n = confine();
	else if (!strcmp(verb, "heap"))
		n = use_heap(n);
	else if (!strcmp(verb, "early"))
		n = early_sum;
	else if (!strcmp(verb, "take"))
		n = take_addresses();
	else if (!strcmp(verb, "exec"))
		execl("./target", "./target", (char *)NULL);
	snprintf(reply, size, "%ld", n);
}
