// SPDX-License-Identifier: GPL-3.0-or-later
// log.c - what -v and -vv show

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static int shown_level;

void log_set_level(int level)
{
	shown_level = level;
}

bool log_enabled(int level)
{
	return level <= shown_level;
}

static void log_line(int level, const char *domain, const char *fmt, va_list ap)
{
	auto_buf struct buf shown = { 0 };
	char text[2048];

	if (!log_enabled(level))
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	text_add_printable(&shown, text, strlen(text), false);
	fprintf(stderr, "%s: %s\n", domain, buf_str(&shown));
}

void log_info(const char *domain, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(1, domain, fmt, ap);
	va_end(ap);
}

void log_debug(const char *domain, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(2, domain, fmt, ap);
	va_end(ap);
}
