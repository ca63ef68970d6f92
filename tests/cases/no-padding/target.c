// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a program whose code fills its last page

#include <stdio.h>

#include "serve.h"

/* The last section of code, of which the C library's part that follows has less than 16 bytes. */
__asm__(".section .fini, \"ax\", @progbits\n"
	".balign 4096\n"
	".byte 0xe9\n"
	".long 4075\n"
	".fill 4075, 1, 0xcc\n"
	".text\n");

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	greet(reply, size);
}
