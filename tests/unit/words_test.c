// SPDX-License-Identifier: GPL-3.0-or-later
// words_test.c - which words of a plan can be exchanged while everybody runs

#include "live/words.h"
#include "tap.h"

/* Four words of "code". */
static uint8_t code[32] __attribute__((aligned(8)));

struct sample {
	const char *name;
	struct {
		uint8_t at, guard;
	} sites[2];
	size_t n, stops, words; /* sites, those that need a stop, and words of the others */
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
	struct words words = { .proc = proc };
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
		rc = words_take(&words, &plan, &err);
	ok(!rc && stops == sample->stops && words.items.n == sample->words,
	   "%s: %zu in stops, %zu words (%s)", sample->name, stops, words.items.n, err.msg);
	if (words.items.n)
		ok(!words.items.items[0].from && words.items.items[0].to &&
			   !(words.items.items[0].addr % WORD_LEN),
		   "%s: an aligned word, and what becomes of it", sample->name);
	words_release(&words);
	site_plan_release(&plan);
}

int main(void)
{
	struct uspl_err err = { 0 };
	struct proc *proc = NULL;

	ok(proc_open_readonly(getpid(), &proc, &err) == 0, "this process (%s)", err.msg);
	for (size_t i = 0; proc && i < ARRAY_SIZE(samples); i++)
		test(proc, &samples[i]);
	proc_free(proc);
	return tap_done();
}
