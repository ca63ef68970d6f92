// SPDX-License-Identifier: GPL-3.0-or-later
// known_test.c - what a watch makes of what is said of processes: done, refused, tried again

#include "machine/daemon/known.h"
#include "tap.h"

#define SECOND INT64_C(1000000000)

static struct outcome outcome(pid_t pid, enum uspl_code code)
{
	return (struct outcome){
		.pid = pid,
		.id = "id",
		.error = code ? uspl_code_name((int)code) : NULL,
		.message = code ? "why" : NULL,
	};
}

/* The process in a batch of its own, of which that is said; its state then. */
static struct known_process *after(known_vec *known, const struct census_process *process,
				   const enum uspl_code *codes, size_t n)
{
	static size_t batch;
	struct known_process *it = known_add(known, process);

	it->batch = ++batch;
	for (size_t i = 0; i < n; i++) {
		struct outcome said = outcome(process->pid, codes[i]);

		known_take(known, batch, &said);
	}
	known_end_batch(known, batch, 0);
	return known_find(known, process);
}

static void test_states(void)
{
	const struct {
		enum uspl_code codes[2];
		size_t n;
		enum known_state state;
		const char *what;
	} cases[] = {
		{ { USPL_OK }, 1, KNOWN_DONE, "in effect: done" },
		{ { USPL_E_BUSY }, 1, KNOWN_RETRY, "busy: tried again" },
		{ { USPL_E_TRACED }, 1, KNOWN_RETRY, "traced: tried again" },
		{ { USPL_E_NO_MATCH }, 1, KNOWN_REFUSED, "other code: refused" },
		{ { USPL_E_FILE }, 1, KNOWN_REFUSED, "a damaged update: refused" },
		{ { USPL_OK, USPL_E_BUSY }, 2, KNOWN_RETRY, "one of two busy: tried again" },
		{ { USPL_E_BUSY, USPL_OK }, 2, KNOWN_RETRY, "the other one: tried again" },
		{ { USPL_E_NO_MATCH, USPL_E_BUSY }, 2, KNOWN_RETRY, "refused and busy: again" },
		{ { USPL_E_BUSY, USPL_E_NO_MATCH }, 2, KNOWN_RETRY, "busy and refused: again" },
		{ { USPL_E_NO_MATCH, USPL_OK }, 2, KNOWN_REFUSED, "one refused, one done" },
		{ { USPL_OK }, 0, KNOWN_RETRY, "nothing said: looked at again" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		known_vec known = { 0 };
		const struct census_process process = { .pid = 7, .starttime = 1 };

		ok(after(&known, &process, cases[i].codes, cases[i].n)->state == cases[i].state,
		   "%s", cases[i].what);
		known_release(&known);
	}
}

static void test_delays(void)
{
	const struct census_process process = { .pid = 7, .starttime = 1 };
	static const enum uspl_code busy = USPL_E_BUSY, done = USPL_OK;
	known_vec known = { 0 };
	int64_t want = SECOND;
	bool doubles = true;

	for (int i = 0; i < 12; i++) {
		doubles &= after(&known, &process, &busy, 1)->due == want;
		want = want < 256 * SECOND ? 2 * want : want;
	}
	ok(doubles, "the delay doubles, to 256 seconds");
	ok(known_next_due(&known) == 256 * SECOND, "that is when something is due next");
	ok_str(known.items[0].error, "busy", "why is kept");
	ok(after(&known, &process, &done, 1)->error == NULL, "until it is done");
	ok(known_next_due(&known) == 0, "then nothing is due");
	known_release(&known);
	for (int i = 0; i < 2; i++)
		after(&known, &process, NULL, 0);
	ok(known.items[0].state == KNOWN_RETRY &&
		   after(&known, &process, NULL, 0)->state == KNOWN_DONE,
	   "of what nothing is said for three times nothing is expected any more");
	known_release(&known);
}

static void test_programs(void)
{
	const struct census_process process = { .pid = 7, .starttime = 1 };
	const struct census_process later = { .pid = 7, .starttime = 2 };
	static const enum uspl_code other = USPL_E_NO_MATCH, mixed[] = { USPL_E_NO_MATCH, USPL_OK },
				    limit = USPL_E_UNSUPPORTED;
	known_vec known = { 0 };

	ok(known_is_other_program(after(&known, &process, &other, 1)),
	   "other code for all updates: another program");
	ok(!known_is_other_program(after(&known, &process, mixed, 2)), "not if one is in effect");
	ok(!known_is_other_program(after(&known, &process, &limit, 1)),
	   "nor if it is refused for another reason");
	ok(!known_find(&known, &later), "another process with its pid isn't known");
	ok(known_add(&known, &later) && !known_find(&known, &process) && known.n == 1,
	   "and takes its place");
	known.items[0].seen = false;
	known_drop_unseen(&known);
	ok(known.n == 0, "what a sweep doesn't see is forgotten");
	known_release(&known);
}

/* A process that has executed another program while a batch was at it is worked on anew. */
static void test_late_batch(void)
{
	const struct census_process process = { .pid = 7, .starttime = 1 };
	struct outcome said = outcome(7, USPL_E_NO_MATCH);
	known_vec known = { 0 };

	known_add(&known, &process)->batch = 1000;
	known_forget(&known, 7);
	known_add(&known, &process);
	known_take(&known, 1000, &said);
	known_end_batch(&known, 1000, 0);
	ok(known_find(&known, &process)->state == KNOWN_WORKING,
	   "what an earlier batch says of it doesn't count");
	known_release(&known);
}

int main(void)
{
	test_states();
	test_delays();
	test_programs();
	test_late_batch();
	return tap_done();
}
