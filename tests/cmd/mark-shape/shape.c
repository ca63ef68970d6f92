// SPDX-License-Identifier: GPL-3.0-or-later
// shape.c - the same code with markers, and with -DPLAIN without; a program in C and in C++ at once

#ifdef PLAIN
#define USPL_MARK(...)
#else
#include <uspl/mark.h>
#endif

struct item {
	const char *name;
	int value, weight;
	double share;
	struct item *next;
};

int leaf(struct item *item, int x);
long walk(const struct item *item, long limit);

int leaf(struct item *item, int x)
{
	USPL_MARK(app, leaf, "name=%s value=%d", item->name, item->value);
	/* No compiler makes this without a jump: it would have to read through a null pointer. */
	return item ? x + item->weight : x;
}

long walk(const struct item *item, long limit)
{
	long sum = 0;

	for (; item; item = item->next) {
		USPL_MARK(app, step, "%s: %g of %ld", item->name, item->share, limit - sum);
		if (sum > limit)
			return -1;
		sum += item->weight;
	}
	USPL_MARK(app, end, "%ld", sum);
	return sum;
}
