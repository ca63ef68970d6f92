// SPDX-License-Identifier: GPL-3.0-or-later
// plus.cc - the library

#include "errors.h"

int plus(int n);

int plus(int n)
{
	if (n == 12)
		throw error("twelve");
	return n + 1;
}
