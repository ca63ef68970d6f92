// SPDX-License-Identifier: GPL-3.0-or-later
// asked.c - includes a header where there is one

#if __has_include("asked.h")
#include "asked.h"
#else
#define ASKED 6
#endif

int asked(void);

int asked(void)
{
	return ASKED;
}
