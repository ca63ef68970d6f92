// SPDX-License-Identifier: GPL-3.0-or-later
// gauge.c - a library with a marker at the very entry of a function

#include <uspl/mark.h>

long gauge(long value)
{
	USPL_MARK(gauge, read, "value=%ld half=%g", value, (double)value / 2);
	return value + 1;
}
