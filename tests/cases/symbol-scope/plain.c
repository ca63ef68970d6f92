// SPDX-License-Identifier: GPL-3.0-or-later
// plain.c - a library that is patched

#include <stdio.h>

#include "names.h"

int number = 1;

const char *whose(void)
{
	return "plain";
}

__attribute__((visibility("protected"))) int own_plain(void)
{
	return 7;
}

void tell_plain(char *reply, size_t size)
{
	snprintf(reply, size, "0");
}
