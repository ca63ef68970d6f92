// SPDX-License-Identifier: GPL-3.0-or-later
// values_shown.c - arguments and results of calls, as text and in JSON

#include "trace/output/values_shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/log/values.h"
#include "trace/output/trace_log.h"

#define EXACT (1ll << 53) /* JSON numbers lose bits above it */
#define REAL_DIGITS 9

/* Where the values of a call begin; none where nothing is known of them. */
static const char *values_at(const struct trace_log *log, uint32_t offset)
{
	return offset && log->values && log->values->data ? log->values->data + offset : "";
}

void values_add_text(const struct trace_log *log, uint32_t offset, struct buf *out)
{
	const char *at = values_at(log, offset), *between = "";
	struct value value;

	/* A file's texts are input from outside. */
	for (; value_next(&at, &value); between = ", ") {
		const char *quote = value.sort == VALUE_TEXT ? "\"" : "";

		buf_addstr(out, between);
		text_add_printable(out, value.name, strlen(value.name), false);
		buf_addf(out, "%s%s", value.name[0] ? "=" : "", quote);
		text_add_printable(out, value.text, strlen(value.text), false);
		buf_addstr(out, quote);
	}
}

void values_add_json(const struct trace_log *log, uint32_t offset, const char *name,
		     struct json *json)
{
	const char *at = values_at(log, offset);
	struct value value;
	long long whole;
	double real;

	while (value_next(&at, &value)) {
		const char *as = value.name[0] ? value.name : name;

		if (value.sort == VALUE_NUMBER) {
			whole = strtoll(value.text, NULL, 10);
			if (whole < EXACT && whole > -EXACT) {
				json_number(json, as, whole);
				continue;
			}
		} else if (value.sort == VALUE_REAL) {
			real = strtod(value.text, NULL);
			if (isfinite(real) && fabs(real) < (double)EXACT) {
				json_decimal(json, as, real, REAL_DIGITS);
				continue;
			}
		}
		json_string(json, as, value.text);
	}
}
