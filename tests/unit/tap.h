/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tap.h - unit tests in the Test Anything Protocol
 *
 * A test program is a list of ok(condition, "what must hold"); it ends with `return tap_done();`,
 * which is 0 if all held, 1 if not. 77 means that the machine can't run it (tap_skip_all).
 */
#ifndef USPL_TESTS_TAP_H
#define USPL_TESTS_TAP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

#define ok(cond, ...)                                                                              \
	do {                                                                                       \
		int held_ = !!(cond);                                                              \
		printf("%sok %d - ", held_ ? "" : "not ", ++tap_count);                            \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
		if (!held_) {                                                                      \
			tap_failed++;                                                              \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);                        \
		}                                                                                  \
		fflush(stdout);                                                                    \
	} while (0)

#define ok_str(have, want, what)                                                                   \
	do {                                                                                       \
		const char *have_ = (have), *want_ = (want);                                       \
		ok(have_ && !strcmp(have_, want_), "%s", what);                                    \
		if (!have_ || strcmp(have_, want_))                                                \
			printf("# have '%s', want '%s'\n", have_ ? have_ : "(null)", want_);       \
	} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

static inline void tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(77);
}

#endif
