// SPDX-License-Identifier: GPL-3.0-or-later
// third.c - a library that calls its program

#include "calls.h"

int third(int depth)
{
	note_old();
	return depth ? first(depth - 1) : 1;
}
