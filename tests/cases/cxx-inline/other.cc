// SPDX-License-Identifier: GPL-3.0-or-later
// other.cc - the other user of shapes.h

#include "shapes.h"

int other_more(int n)
{
	return more(n);
}

int other_times(int n)
{
	return times<int, 4>(n);
}

int other_next()
{
	return Counter::next();
}
