// SPDX-License-Identifier: GPL-3.0-or-later
// wait.c - the library: a function that takes its time

#include "wait.h"

#include <unistd.h>

int wait_for(atomic_bool *go)
{
	while (!*go)
		usleep(1000);
	return 1;
}
