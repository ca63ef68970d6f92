// SPDX-License-Identifier: GPL-3.0-or-later
// text_poke_test.c - which words of a plan can be exchanged while everybody runs, and many
// exchanged in a child

#include <signal.h>
#include <sys/wait.h>

#include "tap.h"
#include "text/text_poke.h"

/* Four words of "code". */
static uint8_t code[32] __attribute__((aligned(8)));

struct sample {
	const char *name;
	struct {
		uint8_t at, guard;
	} sites[2];
	size_t n, stops, poke; /* sites, those that need a stop, and words of the others */
};

/* clang-format off */
static const struct sample samples[] = {
	{ "one instruction in one word", { { 0, 0 } }, 1, 0, 1 },
	{ "the same at the word's end", { { 3, 1 } }, 1, 0, 1 },
	{ "several instructions", { { 0, 5 } }, 1, 1, 0 },
	{ "one instruction in two words", { { 4, 0 } }, 1, 1, 0 },
	{ "two words, one of each", { { 0, 0 }, { 8, 5 } }, 2, 1, 1 },
	{ "a word of two sites, one of which needs a stop", { { 0, 0 }, { 5, 0 } }, 2, 1, 1 },
};
/* clang-format on */

static void test(const struct proc *proc, const struct sample *sample)
{
	struct site_plan plan = { .proc = proc };
	struct text_poke poke = { .proc = proc };
	struct uspl_err err = { 0 };
	size_t stops = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < sample->n; i++) {
		struct site site = { .name = sample->name,
				     .addr = (uintptr_t)code + sample->sites[i].at,
				     .len = 5,
				     .guard = sample->sites[i].guard,
				     .to = { 1, 2, 3, 4, 5 } };

		if (site_needs_stop(&site))
			stops++;
		else
			rc = site_plan_add(&plan, &site, &err);
	}
	if (!rc)
		rc = site_plan_check(&plan, &err);
	if (!rc)
		rc = text_poke_take(&poke, &plan, &err);
	ok(!rc && stops == sample->stops && poke.items.n == sample->poke,
	   "%s: %zu in stops, %zu words (%s)", sample->name, stops, poke.items.n, err.msg);
	if (poke.items.n)
		ok(!poke.items.items[0].from && poke.items.items[0].to &&
			   !(poke.items.items[0].addr % WORD_LEN),
		   "%s: an aligned word, and what becomes of it", sample->name);
	text_poke_release(&poke);
	site_plan_release(&plan);
}

/* Two runs of more than one slice each, and not of a whole number of them. */
#define MANY (TEXT_POKE_SLICE * 5)
#define MANY_LEN (MANY * WORD_LEN)
#define TABLE_LEN (MANY * sizeof(struct inject_word))

/* Where a child has its code, and the table. */
struct child {
	pid_t pid;
	uint64_t *code;
	struct inject_word *table;
	struct proc *proc;
	struct text_poke poke;
};

static void *map(size_t len, int prot)
{
	void *place = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		exit(1);
	return place;
}

/* A child that sleeps; all words of its code are 0 and are to be 1, 2, 3, ... */
static bool child_start(struct child *child, struct uspl_err *err)
{
	*child = (struct child){ .code = map(MANY_LEN, PROT_READ | PROT_EXEC),
				 .table = map(TABLE_LEN, PROT_READ) };
	child->pid = fork();
	if (child->pid == 0) {
		alarm(300);
		for (;;)
			pause();
	}
	for (size_t i = 0; i < MANY; i++) {
		struct inject_word *word = vec_push(&child->poke.items);

		if (word)
			*word = (struct inject_word){ (uintptr_t)(child->code + i), 0, i + 1 };
	}
	if (child->pid < 0 || proc_open(child->pid, &child->proc, err) != 0)
		return false;
	child->poke.proc = child->proc;
	child->poke.table = (uintptr_t)child->table;
	return text_poke_write_table(&child->poke, err) == 0;
}

static void child_end(struct child *child)
{
	text_poke_release(&child->poke);
	proc_free(child->proc);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->code, MANY_LEN);
	munmap(child->table, TABLE_LEN);
}

/* How many of the child's words have what they are to have; *ret_locked: and can't be written. */
static size_t count_exchanged(struct child *child, bool *ret_locked)
{
	auto_free uint64_t *have = calloc(MANY, sizeof(*have));
	const struct mapping *map;
	size_t n = 0;

	if (!have || proc_read(child->proc, (uintptr_t)child->code, have, MANY_LEN, NULL) != 0 ||
	    proc_refresh_maps(child->proc, NULL) != 0)
		return 0;
	for (size_t i = 0; i < MANY; i++)
		n += have[i] == i + 1;
	map = proc_mapping_at(child->proc, (uintptr_t)child->code);
	*ret_locked = map && !map->write && map->exec;
	return n;
}

static bool await_sleeper(struct child *child)
{
	int64_t deadline = clock_now_ns() + 60000000000ll;

	do
		child->poke.sleeper = inject_sleeper(child->proc);
	while (child->poke.sleeper != child->pid && clock_now_ns() < deadline);
	return child->poke.sleeper == child->pid;
}

/*
 * The agent's code is put there for each run, or once for two; and who is to do it isn't there, or
 * sleeps.
 */
static void test_many(bool once)
{
	struct child child;
	struct uspl_err err = { 0 };
	bool locked = false;
	size_t n;
	int rc = child_start(&child, &err) ? 0 : -1;

	child.poke.sleeper = getpid();
	if (!rc && once) {
		ok(await_sleeper(&child), "the child is seen to sleep");
		rc = agent_new(child.proc, NULL, &child.poke.agent, &err);
	}
	for (size_t at = 0; !rc && at < MANY; at += MANY / 2)
		rc = text_poke_exchange(&child.poke, at, MANY / 2, &err);
	agent_free(child.poke.agent);
	ok(!rc, "%d words are exchanged in two runs (%s)", (int)MANY, err.msg);
	n = count_exchanged(&child, &locked);
	ok(n == MANY && locked, "%zu of %d are, and the code is protected again", n, (int)MANY);
	child_end(&child);
}

/* Somebody else has written over a word of the second slice. */
static void test_overwritten(void)
{
	const uint64_t alien = 0x1234567;
	struct child child;
	struct uspl_err err = { 0 };
	bool locked = false;
	char where[32];
	int rc = -1;

	if (child_start(&child, &err) &&
	    proc_write(child.proc, (uintptr_t)(child.code + TEXT_POKE_SLICE + 7), &alien,
		       sizeof(alien), &err) == 0)
		rc = text_poke_exchange(&child.poke, 0, MANY, &err);
	snprintf(where, sizeof(where), "0x%llx",
		 (unsigned long long)(uintptr_t)(child.code + TEXT_POKE_SLICE + 7));
	ok(rc == -USPL_E_OVERWRITTEN && strstr(err.msg, where),
	   "a word that was changed meanwhile is named (%s)", err.msg);
	ok(count_exchanged(&child, &locked) < MANY && locked, "the code is protected again");
	child_end(&child);
}

int main(void)
{
	struct uspl_err err = { 0 };
	struct proc *proc = NULL;

	ok(proc_open_readonly(getpid(), &proc, &err) == 0, "this process (%s)", err.msg);
	for (size_t i = 0; proc && i < ARRAY_SIZE(samples); i++)
		test(proc, &samples[i]);
	proc_free(proc);
	test_many(false);
	test_many(true);
	test_overwritten();
	return tap_done();
}
