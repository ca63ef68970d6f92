/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plus.h - what the library offers */
#ifndef PLUS_H
#define PLUS_H

/* The number after n. */
int plus(int n);

#endif
