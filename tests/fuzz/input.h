/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input.h - the fuzzer's bytes, taken one after the other; zeros when there are none left */
#ifndef USPL_TESTS_FUZZ_INPUT_H
#define USPL_TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *at;
	size_t left;
};

static inline void input_take(struct input *in, void *ret, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	memset(ret, 0, len);
	if (n)
		memcpy(ret, in->at, n);
	in->at += n;
	in->left -= n;
}

static inline uint64_t input_number(struct input *in, size_t bytes)
{
	uint64_t value = 0;

	input_take(in, &value, bytes);
	return value;
}

/* Below n. */
static inline size_t input_below(struct input *in, size_t n)
{
	return (size_t)input_number(in, 1) % n;
}

#endif
