// SPDX-License-Identifier: GPL-3.0-or-later
// calltree_test.c - call chains are summed up, and a function that calls itself is counted once

#include "tap.h"
#include "trace/output/calltree.h"

static char names[][16] = { "one-1", "two-2", "main", "f", "g", "a b;c" };
static char module[] = "m";
static struct symbol symbols[ARRAY_SIZE(names)];

enum { ONE, TWO, MAIN, F, G, ODD };

static struct calltree tree;

/* chain: innermost first, ended by -1. */
static void add(int thread, const int *chain, uint64_t count)
{
	const struct symbol *list[16];
	size_t n = 0;

	while (chain[n] >= 0) {
		list[n] = &symbols[chain[n]];
		n++;
	}
	ok(calltree_add(&tree, &symbols[thread], list, n, count, NULL) == 0, "a chain is added");
}

static void fill(void)
{
	add(ONE, (const int[]){ F, MAIN, -1 }, 3);
	add(ONE, (const int[]){ F, MAIN, -1 }, 2);
	add(ONE, (const int[]){ G, F, F, MAIN, -1 }, 4);
	add(TWO, (const int[]){ F, MAIN, -1 }, 1);
	add(TWO, (const int[]){ ODD, MAIN, -1 }, 90);
}

static void test_folded(void)
{
	auto_buf struct buf out = { 0 };

	calltree_add_folded(&tree, &out);
	ok_str(buf_str(&out),
	       "one-1;main;f 5\none-1;main;f;f;g 4\ntwo-2;main;f 1\ntwo-2;main;a_b:c 90\n",
	       "a line for each chain and thread, with names that part nothing");
}

static void test_json(void)
{
	auto_buf struct buf out = { 0 };

	calltree_add_json(&tree, "samples", &out);
	ok(strstr(buf_str(&out),
		  "{\"thread\":\"one-1\",\"stack\":[\"main\",\"f\",\"f\",\"g\"],\"samples\":4}\n"),
	   "an object for each chain, the outermost function first");
}

static void test_text(void)
{
	auto_buf struct buf out = { 0 }, most = { 0 };

	ok(calltree_add_text(&tree, 0, &out, NULL) == 0, "as text");
	ok(strstr(buf_str(&out), "\n   6.00%   10.00%  f\n"), "f is counted once where it recurs");
	ok(strstr(buf_str(&out), "\n   0.00%  100.00%  main\n"), "main is in all of them");
	ok(strstr(buf_str(&out), "\n  10.00%    6.00%    f\n"), "threads are together in the tree");
	ok(strstr(buf_str(&out), "\n   4.00%    4.00%        g\n"), "what f calls is below it");
	ok(calltree_add_text(&tree, 0.05, &most, NULL) == 0, "without what is below 5 %%");
	ok(strstr(buf_str(&most), "  f\n") && !strstr(buf_str(&most), "  g\n"), "g is left out");
}

static void test_many(void)
{
	struct symbol *many = calloc(5000, sizeof(*many));
	auto_buf struct buf out = { 0 };
	size_t lines = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		const struct symbol *chain[] = { &many[i], &symbols[MAIN] };

		many[i] = (struct symbol){ names[F], module, 100 + i };
		if (calltree_add(&tree, &symbols[ONE], chain, 2, 1, NULL) != 0)
			break;
	}
	calltree_add_folded(&tree, &out);
	for (const char *at = buf_str(&out); *at; at++)
		lines += *at == '\n';
	ok(lines == 4 + 5000, "the table grows: functions of one name are still told apart");
	calltree_release(&tree);
	free(many);
}

int main(void)
{
	auto_buf struct buf out = { 0 };

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		symbols[i] = (struct symbol){ names[i], module, i };
	ok(calltree_add_text(&tree, 0, &out, NULL) == 0, "an empty tree is printed, too");
	fill();
	test_folded();
	test_json();
	test_text();
	test_many();
	return tap_done();
}
