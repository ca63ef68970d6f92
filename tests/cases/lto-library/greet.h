/* SPDX-License-Identifier: GPL-3.0-or-later */
/* greet.h - the library, and what its sources have of each other */
#include <stddef.h>

void greet(const char *name, char *reply, size_t size);

int greet_visits(void);
