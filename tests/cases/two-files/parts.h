/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.h - the two files that change together */
#ifndef PARTS_H
#define PARTS_H

#include <stddef.h>

/* Each writes its name and a number that goes up. */
void part_a(char *text, size_t size);
void part_b(char *text, size_t size);

#endif
