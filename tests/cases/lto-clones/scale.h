/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scale.h - what scale.c has */

int scale(int n, int factor, int plus);
