// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has assembler of its own

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

int twice(int n);
int twice_and_one(int n);

__asm__(".text\n"
	".globl twice, twice_and_one\n"
	"twice:\n"
	"	lea (%rdi,%rdi), %eax\n"
	"	ret\n"
	".balign 16\n"
	".type twice_and_one, @function\n"
	"twice_and_one:\n"
	"	call twice\n"
	"	inc %eax\n"
	"	ret\n"
	".size twice_and_one, . - twice_and_one\n");

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "old %d", twice_and_one(atoi(request)));
}
