// SPDX-License-Identifier: GPL-3.0-or-later
// debug_frames_fuzz.c - any bytes as a process's call frame information, written for debuggers

#include <stdlib.h>

#include "view/debug_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf bytes = { 0 }, out = { 0 };

	buf_add(&bytes, data, size);
	debug_frames_add(&bytes, 0x7f0000001000, &out);
	/* Entries of whole words, each at most some words longer than what it is of. */
	if (out.len % 8 || out.len > 16 * size + 64)
		abort();
	return 0;
}
