// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - exceptions that pass through functions

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <unwind.h>

extern "C" {
#include "serve.h"
}

namespace shop {

struct guard {
	static int alive;
	guard() { alive++; }
	~guard() { alive--; }
};
int guard::alive;
static bool waits;

KEPT int thrower(int depth)
{
	guard held;
	char line[LINE_SIZE];

	if (!depth && waits)
		next_line(line);
	if (!depth)
		throw std::runtime_error("sold out");
	return thrower(depth - 1) + 1;
}

static _Unwind_Reason_Code wait_at_first(struct _Unwind_Context *, void *arg)
{
	int *frames = static_cast<int *>(arg);
	char line[LINE_SIZE];

	if (!(*frames)++)
		next_line(line);
	return _URC_NO_REASON;
}

/* How many frames the unwinder comes to that waits for a line in the middle of it. */
KEPT int unwinding()
{
	int found = 0;

	_Unwind_Backtrace(wait_at_first, &found);
	return found;
}

KEPT int catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::runtime_error &) {
		return -1 - guard::alive;
	}
}

}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int sum = 0;

	if (!strcmp(request, "unwind")) {
		snprintf(reply, size, "%d", shop::unwinding() > 4);
		return;
	}
	shop::waits = !strcmp(request, "wait and throw");
	for (int i = shop::waits ? 9 : 0; i < 10; i++)
		sum += shop::catcher(i);
	snprintf(reply, size, "%d", sum);
}
