// SPDX-License-Identifier: GPL-3.0-or-later
// replay.c - runs a fuzz target over files, without libFuzzer: linked instead of it

#include <stdint.h>
#include <stdio.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		auto_buf struct buf buf = { 0 };
		struct uspl_err err = { 0 };

		if (file_read(argv[i], &buf, &err)) {
			uspl_err_print(stderr, argv[0], &err);
			return 3;
		}
		printf("%s\n", argv[i]);
		fflush(stdout);
		LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&buf), buf.len);
	}
	return 0;
}
