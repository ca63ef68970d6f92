// SPDX-License-Identifier: GPL-3.0-or-later
// covered.c - includes a header that another one comes to lie before

#include "covered.h"

int covered(void);

int covered(void)
{
	return COVERED;
}
