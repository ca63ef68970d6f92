// SPDX-License-Identifier: GPL-3.0-or-later
// first.c - in one of the programs only

#include "serve.h"
#include "shared.h"

KEPT const char *name(void)
{
	return "first";
}
