// SPDX-License-Identifier: GPL-3.0-or-later
// symbolic.c - a library that is patched

#include <stdio.h>

#include "names.h"

int number = 1;

const char *whose(void)
{
	return "symbolic";
}

int own_symbolic(void)
{
	return 9;
}

void tell_symbolic(char *reply, size_t size)
{
	snprintf(reply, size, "0");
}
