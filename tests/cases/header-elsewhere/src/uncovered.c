// SPDX-License-Identifier: GPL-3.0-or-later
// uncovered.c - includes a header that lies before another one

#include "uncovered.h"

int uncovered(void);

int uncovered(void)
{
	return UNCOVERED;
}
