// SPDX-License-Identifier: GPL-3.0-or-later
// replay.c - runs a fuzz target over files, without libFuzzer: replay NAME_fuzz FILE...

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define X(name) int name(const uint8_t *data, size_t size);
REPLAY_DRIVERS
#undef X

static const struct {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} drivers[] = {
#define X(name) { #name, name },
	REPLAY_DRIVERS
#undef X
};

int main(int argc, char **argv)
{
	size_t driver = 0;

	while (argc > 1 && driver < ARRAY_SIZE(drivers) && strcmp(drivers[driver].name, argv[1]))
		driver++;
	if (argc < 3 || driver == ARRAY_SIZE(drivers)) {
		fprintf(stderr, "usage: replay NAME_fuzz FILE...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		auto_buf struct buf buf = { 0 };
		struct uspl_err err = { 0 };

		if (file_read(argv[i], &buf, &err)) {
			uspl_err_print(stderr, argv[0], &err);
			return 3;
		}
		/* What a driver stops at is the last one that is named. */
		printf("%s\n", argv[i]);
		fflush(stdout);
		drivers[driver].run((const uint8_t *)buf_str(&buf), buf.len);
	}
	return 0;
}
