/* SPDX-License-Identifier: GPL-3.0-or-later */
/* other.h - another file's functions and variable */
#ifndef OTHER_H
#define OTHER_H

extern int total;

/* Adds to the total, and returns it. */
int add_to_total(int n);
/* Used in its own file only, so far. */
int rounded(int n);
/* The total. */
int describe_total(void);

#endif
