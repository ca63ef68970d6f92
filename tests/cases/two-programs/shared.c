// SPDX-License-Identifier: GPL-3.0-or-later
// shared.c - in both programs

#include "shared.h"

#include "serve.h"

KEPT const char *version(void)
{
	return "old";
}
