/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count.h - a counter */
#ifndef COUNT_H
#define COUNT_H

inline int counter;

int count(int x);

#endif
