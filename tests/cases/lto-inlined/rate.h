/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rate.h - what the sources have of each other */

int rate(int n);
int price(int n);
