/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sum.h - what the library offers */
#ifndef SUM_H
#define SUM_H

/* The sum of n and how often this was called. */
int sum_of(int n);
/* How often that was. */
int calls(void);

#endif
