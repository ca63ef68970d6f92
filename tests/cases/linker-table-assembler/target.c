// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a table of places in code

#include <stdio.h>
#include <string.h>

#include "serve.h"

struct site {
	const void *place;
	long id;
};

extern const struct site __start_sites[], __stop_sites[];

/* clang-format off */
#define SITE(id) \
	__asm__ volatile("nop\n" \
			 "1:\n\t" \
			 ".pushsection sites, \"aw\"\n\t" \
			 ".quad 1b, " #id "\n\t" \
			 ".popsection")
/* clang-format on */

KEPT static int work(int x)
{
	SITE(1);
	return x + 1;
}

void answer(const char *request, char *reply, size_t size)
{
	long sum = 0;

	for (const struct site *site = __start_sites; site < __stop_sites; site++)
		sum += site->id;
	snprintf(reply, size, "%d %ld", work((int)strlen(request)), sum);
}
