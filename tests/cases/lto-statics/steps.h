/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.h - what one.c and two.c have */

int one(int by);
int two(int by);
