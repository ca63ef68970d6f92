// SPDX-License-Identifier: GPL-3.0-or-later
// watch.c - threads that watch over what a stop could disturb

#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How many signals may be on their way. */
#define IN_FLIGHT 50
#define QUEUED SIGRTMIN
#define TICK (SIGRTMIN + 1)

_Atomic(const char *) amiss;
atomic_long signal_rounds, blocked_rounds, tick_rounds, register_rounds, birth_rounds;

static atomic_int received;
static atomic_long ticks;

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void on_queued(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_value.sival_int != received)
		amiss = "a signal was lost, doubled, or out of its order";
	received++;
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	ticks += 1 + info->si_overrun;
}

/* The only thread that takes the signals. */
static void *receive(void *arg)
{
	struct sigaction queued = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO },
			 tick = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO };
	sigset_t open;

	sigaction(QUEUED, &queued, NULL);
	sigaction(TICK, &tick, NULL);
	sigemptyset(&open);
	sigaddset(&open, QUEUED);
	sigaddset(&open, TICK);
	pthread_sigmask(SIG_UNBLOCK, &open, NULL);
	for (;;)
		usleep(100);
	return arg;
}

static void *queue_signals(void *arg)
{
	pthread_t *receiver = arg;

	block_all();
	for (int next = 0;; next++) {
		while (next - received >= IN_FLIGHT)
			usleep(100);
		if (pthread_sigqueue(*receiver, QUEUED, (union sigval){ .sival_int = next }) != 0)
			next--;
		signal_rounds++;
	}
	return NULL;
}

/* Signals that are blocked stay pending, with their values, until the thread asks for them. */
static void *keep_signals(void *arg)
{
	const struct timespec none = { 0, 0 };
	siginfo_t info;
	sigset_t ours;

	block_all();
	sigemptyset(&ours);
	sigaddset(&ours, QUEUED);
	for (;; blocked_rounds++) {
		for (int i = 0; i < IN_FLIGHT; i++)
			pthread_sigqueue(pthread_self(), QUEUED, (union sigval){ .sival_int = i });
		usleep(2000);
		for (int i = 0; i < IN_FLIGHT; i++)
			if (sigtimedwait(&ours, &info, &none) != QUEUED ||
			    info.si_value.sival_int != i)
				amiss = "a blocked signal was lost, doubled, or out of its order";
		if (sigtimedwait(&ours, &info, &none) != -1)
			amiss = "there is a signal that nobody has sent";
	}
	return arg;
}

/* A timer of a millisecond ticks as often as the clock says, but for what is on its way. */
static void *watch_timer(void *arg)
{
	struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK };
	struct timespec from, now;
	timer_t timer;

	block_all();
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	clock_gettime(CLOCK_MONOTONIC, &from);
	timer_settime(timer, 0, &every, NULL);
	for (;; tick_rounds++) {
		long due;

		usleep(10000);
		clock_gettime(CLOCK_MONOTONIC, &now);
		due = (now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000;
		if (ticks > due + 1)
			amiss = "a timer has ticked too often";
		if (due - ticks > 5000)
			amiss = "a timer has stopped";
	}
	return arg;
}

/* Fills the red zone and vector registers, waits a moment in user mode, and compares. */
static bool registers_hold(void)
{
	unsigned long bad = 0;

	__asm__ volatile("movq $0x5a5a5a5a5a5a5a5a, %%rax\n\t"
			 "movq %%rax, %%xmm7\n\t"
			 "movq %%rax, %%xmm15\n\t"
			 "movq %%rax, -8(%%rsp)\n\t"
			 "movq %%rax, -64(%%rsp)\n\t"
			 "movq %%rax, -128(%%rsp)\n\t"
			 "movl $20000, %%ecx\n"
			 "1:	pause\n\t"
			 "decl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "movq %%xmm7, %%rcx\n\t"
			 "xorq %%rax, %%rcx\n\t"
			 "orq %%rcx, %0\n\t"
			 "movq %%xmm15, %%rcx\n\t"
			 "xorq %%rax, %%rcx\n\t"
			 "orq %%rcx, %0\n\t"
			 "movq -8(%%rsp), %%rcx\n\t"
			 "xorq %%rax, %%rcx\n\t"
			 "orq %%rcx, %0\n\t"
			 "movq -64(%%rsp), %%rcx\n\t"
			 "xorq %%rax, %%rcx\n\t"
			 "orq %%rcx, %0\n\t"
			 "movq -128(%%rsp), %%rcx\n\t"
			 "xorq %%rax, %%rcx\n\t"
			 "orq %%rcx, %0\n\t"
			 : "+r"(bad)
			 :
			 : "rax", "rcx", "xmm7", "xmm15", "cc", "memory");
	return !bad;
}

static void *watch_registers(void *arg)
{
	block_all();
	for (;; register_rounds++) {
		errno = ENOTTY;
		if (!registers_hold())
			amiss = "a register or the red zone has changed";
		if (errno != ENOTTY)
			amiss = "errno has changed";
		/* glibc reads the processor's number from the rseq area, where it is registered. */
		if (sched_getcpu() < 0)
			amiss = "the rseq area is lost";
		usleep(500);
	}
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

static void *breed(void *arg)
{
	pthread_t thread;

	block_all();
	for (;; birth_rounds++) {
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
		usleep(500);
	}
	return arg;
}

void watch_start(void)
{
	static pthread_t receiver;
	pthread_t thread;
	sigset_t ours, before;

	/* Nobody but the receiver takes them, not even the main thread. */
	sigemptyset(&ours);
	sigaddset(&ours, QUEUED);
	sigaddset(&ours, TICK);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	pthread_create(&receiver, NULL, receive, NULL);
	pthread_create(&thread, NULL, queue_signals, &receiver);
	pthread_create(&thread, NULL, keep_signals, NULL);
	pthread_create(&thread, NULL, watch_timer, NULL);
	pthread_create(&thread, NULL, watch_registers, NULL);
	pthread_create(&thread, NULL, breed, NULL);
	vectors_start();
}
