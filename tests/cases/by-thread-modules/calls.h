// SPDX-License-Identifier: GPL-3.0-or-later
// calls.h - what the program and its library have from each other

/* Each calls the other one, so deep; the sum is how many calls ran, times 10 for the new code. */
int outer(int depth);
int inner(int depth);
