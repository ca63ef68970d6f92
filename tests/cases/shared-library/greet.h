/* SPDX-License-Identifier: GPL-3.0-or-later */
/* greet.h - what the library offers */
#ifndef GREET_H
#define GREET_H

#include <stddef.h>

extern int exported;

/* Greets, and counts whom. */
void greet(const char *who, char *reply, size_t size);

#endif
