/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target.h - coroutines made of a switch, after Simon Tatham and Adam Dunkels */
#ifndef TARGET_H
#define TARGET_H

struct pt {
	int state;
};

/* clang-format off */
#define PT_BEGIN(pt) switch ((pt)->state) { case 0:
#define PT_AT(pt, cond, n) do { (pt)->state = n; case n: if (!(cond)) return 0; } while (0)
#define PT_WAIT(pt, cond) PT_AT(pt, cond, __LINE__)
#define PT_END(pt) } (pt)->state = 0; return 1
/* clang-format on */

#endif
