/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hooks.h - functions and a variable that two files define */

extern int scale;

int hook(int n);
int alone(int n);
int first(int n);
