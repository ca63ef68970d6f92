// SPDX-License-Identifier: GPL-3.0-or-later
// blocked_check_test.c - a sleeper's stack, checked without waking it, is never cleaner than
// checked in a stop
//
// For each thread of some small targets and of real servers, all code of the process is cut into
// pieces, and each piece is asked for: is the thread in it? The answer with the few registers that
// a sleeper shows has to be "yes" wherever a stop, which shows them all, says "yes". How often it
// says "yes" alone is printed.

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "safety/safety.h"
#include "tap.h"
#include "thread/stop.h"

#define PIECE 1024
#define TIME_NS 20000000000ll

extern char **environ;

static volatile int *ready;

static __attribute__((noinline)) void sleep_for_ever(void)
{
	*ready = 1;
	poll(NULL, 0, -1);
	__asm__ volatile("" : : : "memory");
}

/* Its frame is found by a register that a sleeper doesn't show. */
static __attribute__((noinline)) void with_frame_pointer(int n)
{
	volatile char *room = __builtin_alloca((size_t)n);

	room[0] = 1;
	sleep_for_ever();
	room[n - 1] = room[0];
}

static __attribute__((noinline)) void body_plain(void)
{
	sleep_for_ever();
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_frame_pointer(void)
{
	with_frame_pointer(*ready + 100);
	__asm__ volatile("");
}

static void in_handler(int sig)
{
	with_frame_pointer(sig + 100);
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_signal(void)
{
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void body_other_stack(void)
{
	stack_t other = { .ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			  .ss_size = 1 << 16 };
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	__asm__ volatile("");
}

static void *thread_main(void *arg)
{
	body_frame_pointer();
	return arg;
}

static __attribute__((noinline)) void body_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
}

/* A process, and what is needed to check its stacks. */
struct subject {
	struct proc *proc;
	module_vec modules;
	struct unwinder *unwinder;
	struct blocked blocked;
};

/* What came of the questions. */
struct tally {
	size_t threads, pieces, busy, falsely_busy, missed;
};

/* The answers for one thread, one for each piece. */
typedef VEC(bool) answer_vec;

/*
 * Asks for each piece of the process's code. The thread is known by whichever of the two is given.
 */
static bool ask_all(const struct subject *subject, const struct blocked_thread *sleeper,
		    const struct thread *stopped, answer_vec *ret)
{
	struct safety safety = { .proc = subject->proc, .unwinder = subject->unwinder };
	const struct mapping *map;
	struct safety_finding finding;

	if (safety_add(&safety, "piece", 0, PIECE, false, NULL) != 0)
		return false;
	vec_for_each (&subject->proc->maps, map)
		for (taddr at = map->start; map->exec && at < map->end; at += PIECE) {
			bool *answer = vec_push(ret);

			safety.ranges.items[0].start = at;
			safety.ranges.items[0].end = at + PIECE;
			if (answer)
				*answer = sleeper ? safety_check_blocked(&safety, sleeper, &finding)
						  : safety_check(&safety, stopped, &finding);
		}
	safety_release(&safety);
	return true;
}

static void compare(const answer_vec *blocked, const answer_vec *stopped, struct tally *tally)
{
	tally->threads++;
	for (size_t i = 0; i < blocked->n && i < stopped->n; i++) {
		bool is_busy = !stopped->items[i], seems_busy = !blocked->items[i];

		tally->pieces++;
		tally->busy += is_busy;
		tally->falsely_busy += seems_busy && !is_busy;
		tally->missed += is_busy && !seems_busy;
	}
}

/*
 * Checks all sleepers, then stops them. Those whose stop was the first thing that they ran since
 * are compared.
 */
static void look_twice(struct subject *subject, struct tally *tally)
{
	size_t n = subject->blocked.threads.n;
	answer_vec *blocked = calloc(n, sizeof(*blocked)), stopped = { 0 };
	struct stop stop;

	for (size_t i = 0; i < n; i++)
		if (subject->blocked.threads.items[i].class == BLOCKED_SLEEPS &&
		    !ask_all(subject, &subject->blocked.threads.items[i], NULL, &blocked[i]))
			exit(3);
	if (stop_prepare(&stop, subject->proc, NULL) != 0)
		exit(3);
	if (stop_enter(&stop, clock_now_ns() + 2000000000, NULL) == 0)
		for (size_t i = 0; i < stop.threads.n; i++) {
			const struct thread *thread = &stop.threads.items[i];
			const struct blocked_thread *sleeper =
				blocked_find(&subject->blocked, thread->tid);

			if (thread->state != THREAD_STOPPED || !sleeper ||
			    sleeper->class != BLOCKED_SLEEPS ||
			    runcount_read(&sleeper->count, subject->proc) != sleeper->runs + 1)
				continue;
			if (!ask_all(subject, NULL, thread, &stopped))
				exit(3);
			compare(&blocked[sleeper - subject->blocked.threads.items], &stopped,
				tally);
			vec_release(&stopped);
		}
	stop_leave(&stop);
	for (size_t i = 0; i < n; i++)
		vec_release(&blocked[i]);
	free(blocked);
}

static int open_subject(pid_t pid, struct subject *subject, struct uspl_err *err)
{
	int rc = proc_open(pid, &subject->proc, err);

	if (!rc)
		rc = modules_read(subject->proc, &subject->modules, err);
	if (!rc)
		rc = unwinder_new(subject->proc, &subject->modules, &subject->unwinder, err);
	if (!rc)
		rc = blocked_open(&subject->blocked, subject->proc, err);
	return rc;
}

static void release_subject(struct subject *subject)
{
	if (subject->blocked.proc)
		blocked_release(&subject->blocked);
	unwinder_free(subject->unwinder);
	modules_release(&subject->modules);
	proc_free(subject->proc);
}

/* One attempt: a process that has just started, or works now and then, may need more. */
static int examine_once(pid_t pid, struct tally *tally, struct uspl_err *err)
{
	struct subject subject = { 0 };
	int rc = open_subject(pid, &subject, err);

	*tally = (struct tally){ 0 };
	if (!rc)
		rc = blocked_look(&subject.blocked, err);
	if (!rc && blocked_unchanged(&subject.blocked))
		look_twice(&subject, tally);
	release_subject(&subject);
	return rc;
}

static void examine(const char *what, pid_t pid, size_t threads)
{
	int64_t deadline = clock_now_ns() + TIME_NS;
	struct uspl_err err = { 0 };
	struct tally tally;
	int rc;

	do {
		rc = examine_once(pid, &tally, &err);
	} while (!rc && tally.threads < threads && clock_now_ns() < deadline);
	ok(!rc && tally.threads >= threads, "%s: %zu threads are looked at asleep and in a stop %s",
	   what, tally.threads, err.msg);
	ok(tally.busy && !tally.missed,
	   "%s: what a stop finds in use, a look without waking finds, too (%zu of %zu pieces)",
	   what, tally.busy, tally.pieces);
	printf("# %s: %zu pieces seem to be in use and aren't\n", what, tally.falsely_busy);
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_body(const char *what, void (*body)(void), size_t threads)
{
	pid_t pid;

	*ready = 0;
	pid = fork();
	if (!pid) {
		alarm(60);
		body();
		_exit(0);
	}
	while (!*ready)
		sched_yield();
	examine(what, pid, threads);
	finish(pid);
}

/* Starts a server, which answers by making its socket; without one that is installed, skips. */
static void test_server(const char *program, const char *const argv[], const char *socket,
			size_t threads)
{
	int64_t deadline = clock_now_ns() + TIME_NS;
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (access(program, X_OK) != 0) {
		ok(true, "%s # SKIP it is not installed", program);
		return;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, program, &actions, NULL, (char *const *)argv, environ) != 0) {
		ok(false, "%s can be started", program);
		return;
	}
	while (access(socket, F_OK) != 0 && clock_now_ns() < deadline)
		sched_yield();
	examine(argv[0], pid, threads);
	finish(pid);
	posix_spawn_file_actions_destroy(&actions);
	unlink(socket);
}

static void test_servers(char *dir)
{
	char socket[64], conf[64], listen[96];
	FILE *file;

	snprintf(socket, sizeof(socket), "%s/socket", dir);
	snprintf(conf, sizeof(conf), "%s/nginx.conf", dir);
	snprintf(listen, sizeof(listen), "listen unix:%s;", socket);
	test_server("/usr/bin/redis-server",
		    (const char *[]){ "redis-server", "--port", "0", "--unixsocket", socket,
				      "--save", "", NULL },
		    socket, 4);
	test_server("/usr/bin/memcached",
		    (const char *[]){ "memcached", "-u", "root", "-s", socket, NULL }, socket, 4);
	file = fopen(conf, "w");
	if (!file)
		exit(3);
	fprintf(file,
		"daemon off; master_process off; pid %s/pid; error_log /dev/null;\n"
		"events { } http { access_log off; server { %s } }\n",
		dir, listen);
	fclose(file);
	test_server("/usr/sbin/nginx", (const char *[]){ "nginx", "-c", conf, NULL }, socket, 1);
	unlink(conf);
	snprintf(conf, sizeof(conf), "%s/pid", dir);
	unlink(conf);
}

int main(void)
{
	char dir[] = "/tmp/uspl-asleep.XXXXXX";

	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ready == MAP_FAILED || !mkdtemp(dir))
		return 3;
	test_body("plain calls", body_plain, 1);
	test_body("a frame pointer", body_frame_pointer, 1);
	test_body("a signal handler", body_signal, 1);
	test_body("a signal handler with its own stack", body_other_stack, 1);
	test_body("threads", body_threads, 9);
	test_servers(dir);
	rmdir(dir);
	return tap_done();
}
