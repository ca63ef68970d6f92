// SPDX-License-Identifier: GPL-3.0-or-later
// second.c - a library that calls another one

#include "calls.h"

int second(int depth)
{
	note_old();
	return depth ? third(depth - 1) : 1;
}
