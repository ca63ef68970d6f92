/* SPDX-License-Identifier: GPL-3.0-or-later */
/* greet.h - what the library offers, and what it asks of the program */
#ifndef GREET_H
#define GREET_H

#include <stddef.h>

extern __thread int exported;
extern __thread int of_program;

/* Greets, and counts for each thread. */
void greet(const char *who, char *reply, size_t size);

#endif
