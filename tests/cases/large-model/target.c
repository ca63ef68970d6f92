// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - the table of a switch, data, strings, calls, and a function that gives its own address

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

typedef void (*step)(void);

static int counted;
static step next;

static KEPT int count(const char *text)
{
	counted = atoi(text);
	return counted;
}

static KEPT const char *name(int n)
{
	switch (n) {
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	case 4:
		counted = count("4");
		return "four";
	case 5:
		return "five";
	case 6:
		return "six";
	default:
		return "none";
	}
}

static KEPT void again(void)
{
	next = again;
	counted = 0;
}

void answer(const char *request, char *reply, size_t size)
{
	if (strcmp(request, "again")) {
		snprintf(reply, size, "%s %d", name(atoi(request)), count(request));
		return;
	}
	if (!next)
		next = again;
	next();
	snprintf(reply, size, "%s%s", next == again ? "itself" : "another", counted ? "!" : "");
}
