/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixed.h - what the two have of each other */

int plain(int n);
int optimised(int n);
