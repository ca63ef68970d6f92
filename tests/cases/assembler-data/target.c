// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - reads a table and counts in a variable, both written in assembler

#include <stdio.h>

#include "serve.h"

__asm__(".pushsection .rodata\n"
	"limits: .byte 1, 2, 3\n"
	".popsection\n"
	".pushsection .data\n"
	"count: .long 5\n"
	".popsection");

extern const unsigned char limits[] __asm__("limits");
extern int count __asm__("count");

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	snprintf(reply, size, "%d, %d", limits[1], count++);
}
