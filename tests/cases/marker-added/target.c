#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uspl/mark.h>

#include "serve.h"

int twice(int x);

KEPT int twice(int x)
{
	USPL_MARK(app, old, "x=%d", x);
	return x + x;
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", twice(atoi(request)));
}
