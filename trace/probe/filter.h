/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.h - which hits of a marker a probe records: a condition on the arguments
 *
 *     fd > 5 && (peer == "alpha" || !(arg3 & 0x10))
 *
 * Comparisons (== != < <= > >=) of an argument with a number, of a string with a string (== and
 * !=), and tests of bits (&). `arg` alone means arg != 0. Operators and conversions of numbers are
 * as in C: a float is compared with 0.1 as a double, and with 0.1f as a float. The target evaluates
 * it at each hit: it becomes a list of tests, each of which says which one is next.
 */
#ifndef USPL_TRACE_PROBE_FILTER_H
#define USPL_TRACE_PROBE_FILTER_H

#include "arch/probe_code.h"
#include "base/strvec.h"
#include "trace/probe/marker.h"

struct filter {
	VEC(struct probe_test) tests; /* none: everything passes */
	strvec texts;                 /* that the tests refer to */
};

/*
 * Reads a condition for this marker. USPL_E_USAGE where it isn't understood, or names an argument
 * that the marker doesn't have.
 */
int filter_parse(const char *text, const struct marker *marker, struct filter *ret,
		 struct uspl_err *err) uspl_must_check;
void filter_release(struct filter *filter);
DEFINE_AUTO_RELEASE(filter, struct filter, filter_release)
#define auto_filter __attribute__((cleanup(cleanup_filter_)))

#endif
