// SPDX-License-Identifier: GPL-3.0-or-later
// holder.c - keeps the function's address where no type says what it is

#include "add.h"

void *volatile callback = (void *)add;
