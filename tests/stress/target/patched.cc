// SPDX-License-Identifier: GPL-3.0-or-later
// patched.cc - the functions that the update changes, all together

#include "stress.h"

#include <setjmp.h>

KEPT int low(void);
KEPT int high(void);

int low(void)
{
	return 1;
}

int high(void)
{
	return 10;
}

int both(void)
{
	int sum = low();

	return sum == 0 ? 1 : sum + high();
}

int dwells(long us, int depth, volatile int *code)
{
	int sum = low(), before = *code, within;

	sum += high();
	*code = sum;
	within = depth > 0 ? dwells(us, depth - 1, code) : sum;
	doze_us(us);
	*code = before;
	return within == sum ? sum : -1;
}

void leaves(void *env)
{
	int sum = low();

	siglongjmp(*static_cast<sigjmp_buf *>(env), sum == 0 ? 1 : sum + high());
}

void throws(int depth)
{
	int sum = low();

	if (depth > 0)
		throws(depth - 1);
	throw sum == 0 ? 1 : sum + high();
}
