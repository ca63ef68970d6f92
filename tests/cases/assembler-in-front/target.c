// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - puts bytes of its own where a function's section begins

#include <stdio.h>

#include "serve.h"

__asm__(".pushsection .text.answer, \"ax\", @progbits\n"
	".byte 0xcc, 0xcc, 0xcc, 0xcc\n"
	".popsection");

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "old %s", request);
}
