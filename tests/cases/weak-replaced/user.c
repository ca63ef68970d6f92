// SPDX-License-Identifier: GPL-3.0-or-later
// user.c - a function that others may have, too

#include "serve.h"
#include "user.h"

__attribute__((weak)) KEPT int limit(void)
{
	return 10;
}

int call_limit(void)
{
	return limit();
}
