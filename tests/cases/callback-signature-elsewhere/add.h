/* SPDX-License-Identifier: GPL-3.0-or-later */
/* add.h - what both units know of each other */
#ifndef ADD_H
#define ADD_H

int add(int number);

extern void *volatile callback;

#endif
