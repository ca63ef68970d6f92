// SPDX-License-Identifier: GPL-3.0-or-later
// formats.c - the table of output formats

#include "trace/output/formats.h"

#include <string.h>

#include "base/text.h"
#include "trace/output/mark_lines.h"
#include "trace/output/tracer.h"

static const struct format *const formats[] = {
	&format_text, &format_json, &format_chrome,     &format_folded,
	&format_svg,  &format_html, &format_speedscope,
};

int format_find(const char *name, const struct format **ret, struct uspl_err *err)
{
	auto_buf struct buf all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name)) {
			*ret = formats[i];
			return 0;
		}
		buf_addf(&all, "%s'%s'", i ? ", " : "", formats[i]->name);
	}
	uspl_fail(err, USPL_E_USAGE, "there is no format '%s'", name);
	uspl_hint(err, "there are %s", buf_str(&all));
	return -USPL_E_USAGE;
}

int format_check(const struct format *format, const struct tracer *tracer, struct uspl_err *err)
{
	if (!format->durations || !tracer->hook->entries)
		return 0;
	if (tracer == &tracer_none)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the format '%s' needs durations, which markers don't have",
				 format->name);
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the format '%s' needs durations, which the tracer '%s' doesn't record",
			 format->name, tracer->name);
}

const struct format *format_by_suffix(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->suffix && text_ends_with(path, formats[i]->suffix))
			return formats[i];
	return NULL;
}

int format_choose(const struct tracer *tracer, const struct format *const formats_of[FORMATS_MAX],
		  const char *name, const struct format **ret, struct uspl_err *err)
{
	auto_buf struct buf all = { 0 };
	const struct format *format = formats_of[0];
	int rc = name ? format_find(name, &format, err) : 0;

	if (rc)
		return rc;
	for (size_t i = 0; i < FORMATS_MAX && formats_of[i]; i++) {
		if (formats_of[i] == format) {
			*ret = format;
			return 0;
		}
		buf_addf(&all, "%s'%s'", i ? ", " : "", formats_of[i]->name);
	}
	uspl_fail(err, USPL_E_UNSUPPORTED, "the tracer '%s' has no format '%s'", tracer->name,
		  format->name);
	uspl_hint(err, "it has %s", buf_str(&all));
	return -USPL_E_UNSUPPORTED;
}
