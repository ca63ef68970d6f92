// SPDX-License-Identifier: GPL-3.0-or-later
// greet.c - the library; it has more thread-local data than fits where the program's lie

#include <stdio.h>

void greet(const char *who, char *reply, size_t size);

__thread int exported = 10;
static __thread int greeted;
static __thread volatile char filler[9999];

void greet(const char *who, char *reply, size_t size)
{
	greeted++;
	exported++;
	filler[size % sizeof(filler)] = who[0];
	snprintf(reply, size, "%s %d %d", who, greeted, exported);
}
