// SPDX-License-Identifier: GPL-3.0-or-later
// json.c - writing JSON, from left to right

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static void add_string(struct buf *buf, const char *text, size_t len)
{
	uint32_t c;

	buf_addstr(buf, "\"");
	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n) {
			buf_addstr(buf, "\xef\xbf\xbd"); /* U+FFFD */
			n = 1;
		} else if (c == '"' || c == '\\') {
			buf_addf(buf, "\\%c", (char)c);
		} else if (c == '\n') {
			buf_addstr(buf, "\\n");
		} else if (c == '\t') {
			buf_addstr(buf, "\\t");
		} else if (text_is_control(c)) {
			buf_addf(buf, "\\u%04x", c);
		} else {
			buf_add(buf, text + i, n);
		}
	}
	buf_addstr(buf, "\"");
}

static void new_line(struct json *json)
{
	if (!json->pretty)
		return;
	buf_addstr(&json->buf, "\n");
	for (int i = 0; i < json->depth; i++)
		buf_addstr(&json->buf, "  ");
}

/* What stands before every value: the comma, the place, the key. */
static void begin_value(struct json *json, const char *key)
{
	if (json->more)
		buf_addstr(&json->buf, ",");
	if (json->depth)
		new_line(json);
	if (key) {
		add_string(&json->buf, key, strlen(key));
		buf_addstr(&json->buf, json->pretty ? ": " : ":");
	}
	json->more = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	buf_add(&json->buf, &bracket, 1);
	json->depth++;
	json->more = false;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->more)
		new_line(json);
	buf_add(&json->buf, &bracket, 1);
	json->more = true;
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (value) {
		json_bytes(json, key, value, strlen(value));
		return;
	}
	begin_value(json, key);
	buf_addstr(&json->buf, "null");
}

void json_strings(struct json *json, const char *key, const strvec *values)
{
	char *const *value;

	json_open(json, key, '[');
	vec_for_each (values, value)
		json_string(json, NULL, *value);
	json_close(json, ']');
}

void json_bytes(struct json *json, const char *key, const char *value, size_t len)
{
	begin_value(json, key);
	add_string(&json->buf, value, len);
}

void json_number(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	buf_addf(&json->buf, "%" PRId64, value);
}

void json_truth(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	buf_addstr(&json->buf, value ? "true" : "false");
}

void json_decimal(struct json *json, const char *key, double value, int digits)
{
	begin_value(json, key);
	buf_addf(&json->buf, "%.*f", digits, value);
}

void json_ns(struct json *json, const char *key, double ns)
{
	json_number(json, key, (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5));
}

void json_address(struct json *json, const char *key, taddr value)
{
	begin_value(json, key);
	buf_addf(&json->buf, "\"0x%" PRIx64 "\"", value);
}

const char *json_text(const struct json *json)
{
	return buf_str(&json->buf);
}

void json_release(struct json *json)
{
	buf_release(&json->buf);
}
