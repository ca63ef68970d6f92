// SPDX-License-Identifier: GPL-3.0-or-later
// origin_test.c - which options two compilations don't share

#include <string.h>

#include "base/buf.h"
#include "match/origin.h"
#include "tests/unit/tap.h"

static void check(const char *one, const char *other, const char *only_one, const char *only_other)
{
	auto_buf struct buf a = { 0 }, b = { 0 };

	origin_options(one, other, &a, &b);
	ok(!strcmp(buf_str(&a), only_one) && !strcmp(buf_str(&b), only_other), "'%s' and '%s'",
	   buf_str(&a), buf_str(&b));
}

int main(void)
{
	check("GNU C17 12.2.0 -O2 -fPIE", "GNU C17 12.2.0 -O2 -fPIE", "", "");
	check("GNU C17 12.2.0 -mtune=generic -O3 -fPIE", "GNU C17 12.2.0 -O2 -mtune=generic -fPIE",
	      "-O3", "-O2");
	check("GNU C17 -O2", "GNU C17 -O2 -fcf-protection=full -fPIE", "",
	      "-fcf-protection=full -fPIE");
	/* A word that another one begins with is another word. */
	check("GNU C17 -O", "GNU C17 -O2", "-O", "-O2");
	check("GNU C17 -fno-plt", "GNU C17 -fno-plt-x -x-fno-plt", "-fno-plt",
	      "-fno-plt-x -x-fno-plt");
	/* What doesn't show in the code, or uspl-create adds. */
	check("GNU C17 -O2 -g3 -ggdb", "GNU C17 -O2 -ffunction-sections -fdata-sections", "", "");
	check("", "-O2", "", "-O2");
	return tap_done();
}
