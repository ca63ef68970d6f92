// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - asks the source that isn't optimised at the link

#include <stdio.h>
#include <stdlib.h>

#include "mixed.h"
#include "serve.h"

KEPT void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "%d", plain(atoi(request)));
}
