// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - names numbers

#include <stdio.h>
#include <stdlib.h>

#include "serve.h"

static KEPT void name(int n, int value, char *reply, size_t size)
{
	switch (n) {
	case 0:
		snprintf(reply, size, "zero (%d)", value);
		break;
	case 1:
		snprintf(reply, size, "one (%d)", value);
		break;
	case 2:
		snprintf(reply, size, "%s (%d)", "two", value);
		break;
	case 3:
		snprintf(reply, size, "three (%d)", value);
		break;
	case 4:
		snprintf(reply, size, "four (%u)", value);
		break;
	case 5:
		snprintf(reply, size, "five (%i)", value);
		break;
	case 6:
		snprintf(reply, size, "six (%d)", value);
		break;
	default:
		snprintf(reply, size, "? (%d)", value);
	}
}

static KEPT int value(int n)
{
	switch (n) {
	case 0:
		return 0;
	case 1:
		return 10;
	case 2:
		return 22;
	case 3:
		return 30;
	case 4:
		return 47;
	case 5:
		return 50;
	case 6:
		return 60;
	case 7:
		return 71;
	default:
		return 0;
	}
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	name(n, value(n), reply, size);
}
