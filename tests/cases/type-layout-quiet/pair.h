// SPDX-License-Identifier: GPL-3.0-or-later
// pair.h - two numbers
#include <stddef.h>

struct pair {
	long one, other;
};

int pair_is_kept(void);
