// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a file full of checks that name their place

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

#define CHECK(condition)                                                                           \
	((condition) ? (void)0                                                                     \
		     : (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition))

static KEPT size_t length_of(const char *text)
{
	CHECK(text);
	return strlen(text);
}

static KEPT int place(const char *request)
{
	assert(request);
	return request[0] == 'p' ? __LINE__ : 0;
}

static KEPT int half(int number)
{
	assert(number >= 0);
	return number / 2;
}

#if 0
static int left_out(void)
{
	return __LINE__;
}
#else
static KEPT int quarter(int number)
{
	CHECK(number >= 0 && // a use of two lines
	      number < LINE_SIZE);
	return half(half(number));
}
#endif

void answer(const char *request, char *reply, size_t size)
{
	int length = (int)length_of(request);

	assert(size);
	CHECK(length < LINE_SIZE);
	snprintf(reply, size, "%d %d %d", length, quarter(length), place(request));
}
