// SPDX-License-Identifier: GPL-3.0-or-later
// report_warn.c - what uspl-create tells besides its result

#include "create/unit/report_warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/demangle.h"

void report_warn(struct report *report, const char *fmt, ...)
{
	auto_free char *raw = NULL;
	auto_free char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&raw, fmt, ap);
	va_end(ap);
	if (len < 0) {
		raw = NULL;
		return;
	}
	text = demangle_text(raw);
	if (!text)
		return;
	/* Out of memory costs a warning. */
	if (!strvec_has(&report->warnings, text))
		(void)!strvec_take(&report->warnings, take_ptr(text));
}

void report_release(struct report *report)
{
	struct shadowed_type *type;

	vec_for_each (&report->shadowed, type) {
		free(type->name);
		buf_release(&type->members);
		buf_release(&type->places);
	}
	vec_release(&report->shadowed);
	strvec_release(&report->warnings);
	lines_map_release(&report->map);
	free(report->debug_tree);
	buf_release(&report->explanation);
	buf_release(&report->suggestion);
	patched_lines_free(report->patched);
}
