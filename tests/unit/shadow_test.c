// SPDX-License-Identifier: GPL-3.0-or-later
// shadow_test.c - shadow variables, as the code of a patch uses them: alone, in many threads, in
// signal handlers, across fork

#include "uspl/shadow.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

enum { MANY = 100000, THREADS = 8, ROUNDS = 20000, OWN = 64, SHARED = 512 };

struct pair {
	const void *object;
	long turns;
};

static atomic_long constructed, destroyed;

static void construct(void *data, const void *object)
{
	struct pair *pair = data;

	pair->object = object;
	constructed++;
}

static void destroy(void *data, const void *object)
{
	struct pair *pair = data;

	if (pair->object == object)
		destroyed++;
	pair->object = NULL;
}

USPL_SHADOW(plain, long, NULL, NULL);
USPL_SHADOW(made, struct pair, construct, destroy);
USPL_SHADOW(busy, struct pair, construct, destroy);
USPL_SHADOW(large, char[3 << 20], NULL, NULL);
USPL_SHADOW(interrupted, long, NULL, NULL);
USPL_SHADOW(forked, long, NULL, NULL);

static char objects[MANY * 16];

static void *object(size_t i)
{
	return objects + i * 16;
}

static void test_one(void)
{
	long *data = uspl_shadow_alloc(&plain, object(1));

	ok(data && *data == 0, "new data is zero");
	ok(((uintptr_t)data & 15) == 0, "and aligned");
	*data = 7;
	ok(uspl_shadow_get(&plain, object(1)) == data && *data == 7, "it is found");
	ok(!uspl_shadow_get(&plain, object(2)), "another object has none");
	ok(!uspl_shadow_get(&made, object(1)), "nor has it another variable");
	ok(!uspl_shadow_alloc(&plain, object(1)), "an object has one only");
	ok(uspl_shadow_get_or_alloc(&plain, object(1)) == data && *data == 7, "or what it has");
	uspl_shadow_free(&plain, object(1));
	ok(!uspl_shadow_get(&plain, object(1)), "it is gone when it was freed");
	uspl_shadow_free(&plain, object(1));
	data = uspl_shadow_get_or_alloc(&plain, object(1));
	ok(data && *data == 0, "memory that is used again is zero");
	ok(!uspl_shadow_alloc(&plain, NULL) && !uspl_shadow_get(&plain, NULL), "NULL has none");
	uspl_shadow_end_plain();
}

/* The table grows several times. */
static void test_many(void)
{
	size_t wrong = 0;

	for (size_t i = 0; i < MANY; i++)
		*(long *)uspl_shadow_alloc(&plain, object(i)) = (long)i;
	for (size_t i = 0; i < MANY; i++) {
		long *data = uspl_shadow_get(&plain, object(i));

		wrong += !data || *data != (long)i;
	}
	ok(!wrong && plain.count == MANY, "many objects: %zu wrong, %lu counted", wrong,
	   plain.count);
	for (size_t i = 0; i < MANY; i += 2)
		uspl_shadow_free(&plain, object(i));
	for (size_t i = 0; i < MANY; i++)
		wrong += !uspl_shadow_get(&plain, object(i)) != (i % 2 == 0);
	ok(!wrong && plain.count == MANY / 2, "every second one freed");
	uspl_shadow_free_all(&plain);
	for (size_t i = 0; i < MANY; i++)
		wrong += uspl_shadow_get(&plain, object(i)) != NULL;
	ok(!wrong && plain.count == 0, "all freed");
	ok(uspl_shadow_alloc(&plain, object(0)) != NULL, "and used again");
	uspl_shadow_end_plain();
	ok(!plain.table && !plain.chunks && !plain.lock && !plain.count, "undone");
	ok(uspl_shadow_alloc(&plain, object(0)) != NULL, "applied again");
	uspl_shadow_end_plain();
}

/* Objects come and go all the time: the memory is that of the most that there were at once. */
static void test_churn(void)
{
	const struct uspl_shadow_chunk *chunks;
	const struct uspl_shadow_table *table;

	for (size_t i = 0; i < 1000; i++)
		if (!uspl_shadow_alloc(&plain, object(i)))
			break;
	chunks = plain.chunks, table = plain.table;
	for (size_t i = 1000; i < MANY; i++) {
		uspl_shadow_free(&plain, object((i - 1000) % MANY));
		if (!uspl_shadow_alloc(&plain, object(i % MANY)))
			break;
	}
	ok(plain.count == 1000 && plain.chunks == chunks && plain.table == table,
	   "a hundred thousand objects come and go in the memory of a thousand");
	uspl_shadow_end_plain();
}

static void test_constructed(void)
{
	struct pair *pair = uspl_shadow_alloc(&made, object(3));

	ok(pair && pair->object == object(3) && constructed == 1, "the constructor has run");
	ok(uspl_shadow_get_or_alloc(&made, object(3)) == pair && constructed == 1, "once");
	uspl_shadow_free(&made, object(3));
	ok(destroyed == 1, "and the destructor");
	for (size_t i = 0; i < 1000; i++)
		if (!uspl_shadow_alloc(&made, object(i)))
			break;
	uspl_shadow_free_all(&made);
	ok(destroyed == 1001 && constructed == 1001, "on each one of all");
	for (size_t i = 0; i < 1000; i++)
		if (!uspl_shadow_alloc(&made, object(i)))
			break;
	uspl_shadow_end_made();
	ok(destroyed == 2001 && constructed == 2001, "and at undo");
}

static void test_large(void)
{
	char *data = uspl_shadow_alloc(&large, object(0)),
	     *other = uspl_shadow_alloc(&large, object(1));

	ok(data && other && data != other, "more than a chunk holds");
	memset(data, 1, 3 << 20);
	ok(other && other[0] == 0 && other[(3 << 20) - 1] == 0, "none lies over another");
	uspl_shadow_end_large();
}

static atomic_long lost, doubled, foreign;
static atomic_bool go;

/* Own objects come and go, shared ones are wanted by all at once. */
static void *work(void *arg)
{
	const size_t own = SHARED + (size_t)(uintptr_t)arg * OWN;

	while (!go)
		;
	for (size_t i = 0; i < ROUNDS; i++) {
		void *mine = object(own + i % OWN), *shared = object(i % SHARED);
		struct pair *pair = uspl_shadow_alloc(&busy, mine);

		doubled += !pair;
		lost += uspl_shadow_get(&busy, mine) != pair;
		pair = uspl_shadow_get_or_alloc(&busy, shared);
		foreign += !pair || pair->object != shared;
		__atomic_fetch_add(&pair->turns, 1, __ATOMIC_RELAXED);
		uspl_shadow_free(&busy, mine);
		lost += uspl_shadow_get(&busy, mine) != NULL;
	}
	return NULL;
}

/* Makes the table grow under those that look. */
static void *fill(void *unused)
{
	(void)unused;
	while (!go)
		;
	for (size_t i = SHARED + THREADS * OWN; i < MANY; i++)
		lost += !uspl_shadow_alloc(&busy, object(i));
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS + 1];
	long turns = 0;

	constructed = destroyed = 0;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	pthread_create(&threads[THREADS], NULL, fill, NULL);
	go = true;
	for (size_t i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < SHARED; i++)
		turns += ((struct pair *)uspl_shadow_get(&busy, object(i)))->turns;
	ok(!lost && !doubled && !foreign, "threads: %ld lost, %ld doubled, %ld foreign", (long)lost,
	   (long)doubled, (long)foreign);
	ok(turns == THREADS * ROUNDS, "all use the same data of a shared object: %ld", turns);
	ok(busy.count == MANY - THREADS * OWN, "counted: %lu", busy.count);
	uspl_shadow_end_busy();
	ok(constructed == destroyed, "constructed %ld, destroyed %ld", (long)constructed,
	   (long)destroyed);
}

static volatile sig_atomic_t ticks, tick_failures;

static void on_tick(int signal)
{
	void *own = object((size_t)(MANY - 1 - ticks % 100));

	(void)signal;
	ticks++;
	if (!uspl_shadow_alloc(&interrupted, own) || !uspl_shadow_get(&interrupted, own))
		tick_failures++;
	uspl_shadow_free(&interrupted, own);
}

static void test_signals(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	size_t i, failures = 0;

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; ticks < 2000; i = (i + 1) % 1000) {
		failures += !uspl_shadow_alloc(&interrupted, object(i));
		uspl_shadow_free(&interrupted, object(i));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ok(!failures && !tick_failures, "handlers interrupt alloc and free, and do the same");
	ok(interrupted.count == 0, "nothing is left: %lu", interrupted.count);
	uspl_shadow_end_interrupted();
}

static atomic_bool quit;

static void *churn(void *unused)
{
	(void)unused;
	for (size_t i = 0; !quit; i = (i + 1) % 100) {
		if (!uspl_shadow_alloc(&forked, object(1000 + i)))
			break;
		uspl_shadow_free(&forked, object(1000 + i));
	}
	return NULL;
}

/* In a child that was forked while another thread had the lock. */
static int look_in_child(void)
{
	long *data = uspl_shadow_get(&forked, object(1));

	if (!data || *data != 5)
		return 1;
	*data = 6;
	if (!uspl_shadow_alloc(&forked, object(2)))
		return 2;
	uspl_shadow_free(&forked, object(2));
	for (size_t i = 3; i < 900; i++)
		if (!uspl_shadow_alloc(&forked, object(i)))
			return 3;
	uspl_shadow_free_all(&forked);
	uspl_shadow_end_forked();
	return 0;
}

/* Its status; one that hangs, with all signals blocked, is ended. */
static int wait_for(pid_t child)
{
	const time_t deadline = time(NULL) + 20;
	int status = -1;

	while (time(NULL) < deadline) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return status;
}

static void test_fork(void)
{
	long *data = uspl_shadow_alloc(&forked, object(1));
	int worst = 0, held = 0;
	pthread_t thread;

	*data = 5;
	pthread_create(&thread, NULL, churn, NULL);
	for (int i = 0; i < 400 && !worst; i++) {
		pid_t child;

		held += __atomic_load_n(forked.lock, __ATOMIC_RELAXED) != 0;
		child = fork();
		if (!child)
			_exit(look_in_child());
		worst = wait_for(child);
	}
	quit = true;
	pthread_join(thread, NULL);
	ok(!worst, "children forked at any moment, %d with the lock held: status %d", held, worst);
	ok(*data == 5, "a child has a copy");
	uspl_shadow_end_forked();
}

/* No memory: nothing is made, nothing is broken. */
static void test_no_memory(void)
{
	struct rlimit was, none;
	bool refused;

	getrlimit(RLIMIT_AS, &was);
	none = was;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_AS, &none);
	refused = !uspl_shadow_alloc(&plain, object(0)) &&
		  !uspl_shadow_get_or_alloc(&made, object(0)) &&
		  !uspl_shadow_get(&plain, object(0));
	uspl_shadow_free(&plain, object(0));
	uspl_shadow_free_all(&plain);
	setrlimit(RLIMIT_AS, &was);
	ok(refused, "no memory: NULL");
	ok(uspl_shadow_alloc(&plain, object(0)) && uspl_shadow_alloc(&made, object(0)),
	   "later there is some");
	uspl_shadow_end_plain();
	uspl_shadow_end_made();
}

int main(void)
{
	test_one();
	test_many();
	test_churn();
	test_constructed();
	test_large();
	test_threads();
	test_signals();
	test_fork();
	test_no_memory();
	return tap_done();
}
