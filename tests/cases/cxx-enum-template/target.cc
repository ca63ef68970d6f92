// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - uses a template

#include <cstdio>

extern "C" {
#include "serve.h"
}

template <class T> struct small_text {
	enum { LOCAL_CAPACITY = 15 / sizeof(T) };
	T local[LOCAL_CAPACITY + 1];
};

static small_text<char> text;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	text.local[0] = request[0];
	snprintf(reply, size, "%d", (int)text.LOCAL_CAPACITY);
}
