// SPDX-License-Identifier: GPL-3.0-or-later
// user.c - calls a function if it is there

#include "user.h"

int call_hook(void)
{
	return hook ? hook() : 0;
}
