// SPDX-License-Identifier: GPL-3.0-or-later
// greet.c - the library's other source

#include "greet.h"

static int visits;

int greet_visits(void)
{
	return ++visits;
}
