/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h - writing JSON, from left to right
 *
 *     auto_json struct json json = { 0 };
 *
 *     json_open(&json, NULL, '{');
 *     json_string(&json, "id", id);
 *     json_open(&json, "functions", '[');
 *     ...
 *     json_close(&json, ']');
 *     json_close(&json, '}');
 *     puts(json_text(&json));
 *
 * What is written is valid whatever the strings hold: malformed UTF-8 becomes U+FFFD. Keys are
 * given in an object and NULL in an array. Running out of memory is sticky, as in buf.h: check
 * json.buf.oom once, at the end.
 */
#ifndef USPL_BASE_JSON_H
#define USPL_BASE_JSON_H

#include "base/buf.h"
#include "base/strvec.h"

struct json {
	struct buf buf;
	bool pretty; /* a line for each value, for files that people open */
	int depth;
	bool more; /* a value stands before this place in the same object or array */
};

/* Begins an object ('{') or an array ('['). */
void json_open(struct json *json, const char *key, char bracket);
/* Ends it ('}' or ']'). */
void json_close(struct json *json, char bracket);
/* A string; null for NULL. */
void json_string(struct json *json, const char *key, const char *value);
/* An array of strings. */
void json_strings(struct json *json, const char *key, const strvec *values);
/* The same for len bytes. */
void json_bytes(struct json *json, const char *key, const char *value, size_t len);
/* A whole number. */
void json_number(struct json *json, const char *key, int64_t value);
/* true or false. */
void json_truth(struct json *json, const char *key, bool value);
/* A number with this many digits behind its point. */
void json_decimal(struct json *json, const char *key, double value, int digits);
/* A time, rounded to whole nanoseconds. */
void json_ns(struct json *json, const char *key, double ns);
/* An address, as a string in hex: JSON's numbers lose bits above 2^53. */
void json_address(struct json *json, const char *key, taddr value);
/* The text so far, owned by json. */
const char *json_text(const struct json *json);
/* Frees the text. */
void json_release(struct json *json);

DEFINE_AUTO_RELEASE(json, struct json, json_release)
#define auto_json __attribute__((cleanup(cleanup_json_)))

#endif
