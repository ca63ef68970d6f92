// SPDX-License-Identifier: GPL-3.0-or-later
// text.c - text from strangers: UTF-8, and what a terminal may be shown of it

#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * By the number of bytes: the bits of the first one that are the character's, and the smallest
 * character.
 */
static const struct {
	unsigned char lead, mask;
	uint32_t least;
} forms[] = {
	[1] = { 0x00, 0x7f, 0x0 },
	[2] = { 0xc0, 0x1f, 0x80 },
	[3] = { 0xe0, 0x0f, 0x800 },
	[4] = { 0xf0, 0x07, 0x10000 },
};

size_t text_decode(const char *text, size_t len, uint32_t *ret_char)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	size_t n = 1;

	while (n < ARRAY_SIZE(forms) && (s[0] & ~forms[n].mask & 0xff) != forms[n].lead)
		n++;
	if (n >= ARRAY_SIZE(forms) || n > len)
		return 0;
	c = s[0] & forms[n].mask;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < forms[n].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_char = c;
	return n;
}

bool text_is_utf8(const char *text, size_t len)
{
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n || !c)
			return false;
	}
	return true;
}

bool text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void text_add_printable(struct buf *buf, const char *text, size_t len, bool keep_lines)
{
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n) {
			buf_addf(buf, "\\x%02x", (unsigned char)text[i]);
			n = 1;
		} else if (!text_is_control(c) || (keep_lines && (c == '\n' || c == '\t'))) {
			buf_add(buf, text + i, n);
		} else if (c == '\n' || c == '\t') {
			buf_addstr(buf, c == '\n' ? "\\n" : "\\t");
		} else {
			buf_addf(buf, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
		}
	}
}

bool text_starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

bool text_is_one_of(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

bool text_starts_with_one_of(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text_starts_with(text, words[i]))
			return true;
	return false;
}

bool text_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

const char *text_next_line(const char *text)
{
	text += strcspn(text, "\n");
	return text + (*text == '\n');
}

bool text_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

char *text_format(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	return len < 0 ? NULL : text;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	/* Every byte but those that continue a character begins one. */
	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

bool text_is_odd(const char *text)
{
	auto_buf struct buf shown = { 0 };

	text_add_printable(&shown, text, strlen(text), false);
	return strcmp(buf_str(&shown), text) != 0;
}

bool text_has_word(const char *list, char separator, const char *word)
{
	size_t len = strlen(word);

	for (const char *end; *list; list = *end ? end + 1 : end) {
		end = strchrnul(list, separator);
		if ((size_t)(end - list) == len && !memcmp(list, word, len))
			return true;
	}
	return false;
}
