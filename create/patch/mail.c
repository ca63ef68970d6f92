// SPDX-License-Identifier: GPL-3.0-or-later
// mail.c - turns mails and mailboxes into the text that they carry
//
// A mail is a header and a body. The body may be encoded as a whole (quoted-printable, base64) or
// be of several parts, each with a header of its own; the subject may be encoded word by word (RFC
// 2047), and folded. What comes out is a header with the subject on one line, and the bodies as
// they were written. A text that begins with no header is left as it is, and so are a mail that
// needed no encoding, and lines that aren't what their encoding promises.

#include "create/patch/mail.h"

#include <ctype.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

enum { MAX_DEPTH = 4 };

static const char *next_line(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline + 1 : end;
}

static bool is_blank_line(const char *line, const char *end)
{
	return line < end &&
	       (*line == '\n' || (*line == '\r' && line + 1 < end && line[1] == '\n'));
}

/* ---- encodings ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A '=' at a line's end joins it with the next one. In words '_' is a blank. */
static void add_quoted(const char *p, const char *end, bool word, struct buf *ret)
{
	for (; p < end; p++) {
		int high = *p == '=' && p + 2 < end + !word ? hex_digit(p[1]) : -1;
		int low = high >= 0 && p + 2 < end ? hex_digit(p[2]) : -1;
		char c = word && *p == '_' ? ' ' : *p;

		if (*p == '=' && p + 1 < end && is_blank_line(p + 1, end)) {
			p += p[1] == '\r' ? 2 : 1;
			continue;
		}
		if (low >= 0) {
			c = (char)(high << 4 | low);
			p += 2;
		}
		buf_add(ret, &c, 1);
	}
}

static void add_base64(const char *p, const char *end, struct buf *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	int n = 0;

	for (; p < end && *p != '='; p++) {
		const char *digit = *p ? strchr(digits, *p) : NULL;
		char c;

		if (!digit)
			continue;
		bits = bits << 6 | (uint32_t)(digit - digits);
		n += 6;
		if (n < 8)
			continue;
		n -= 8;
		c = (char)(bits >> n);
		buf_add(ret, &c, 1);
	}
}

/* Appends text in UTF-8; as it is where the character set isn't known. */
static void add_converted(const char *charset, const struct buf *text, struct buf *ret)
{
	char out[4096], *in_at = text->data, *out_at = out;
	size_t in_left = text->len, out_left = sizeof(out);
	iconv_t cd = strcasecmp(charset, "utf-8") ? iconv_open("UTF-8", charset) : (iconv_t)-1;
	bool fits =
		cd != (iconv_t)-1 && iconv(cd, &in_at, &in_left, &out_at, &out_left) != (size_t)-1;

	if (cd != (iconv_t)-1)
		iconv_close(cd);
	if (fits)
		buf_add(ret, out, sizeof(out) - out_left);
	else
		buf_add(ret, buf_str(text), text->len);
}

/* "=?CHARSET?Q?TEXT?=": what follows it, or NULL if it is no such word. */
static const char *add_encoded_word(const char *p, struct buf *ret)
{
	const char *charset = p + 2, *how = strchr(charset, '?');
	const char *text = how && how[1] && how[2] == '?' ? how + 3 : NULL;
	const char *end = text ? strstr(text, "?=") : NULL;
	auto_free char *name = NULL;
	auto_buf struct buf decoded = { 0 };

	if (strncmp(p, "=?", 2) || !end || how - charset > 40)
		return NULL;
	name = strndup(charset, strcspn(charset, "?*"));
	if (toupper((unsigned char)how[1]) == 'Q')
		add_quoted(text, end, true, &decoded);
	else
		add_base64(text, end, &decoded);
	add_converted(name ? name : "utf-8", &decoded, ret);
	return end + 2;
}

/* Blanks between two encoded words aren't part of either. */
static void add_subject(const char *p, struct buf *ret)
{
	bool after_word = false;

	while (*p) {
		size_t blanks = strspn(p, " \t\r\n");
		const char *rest = strncmp(p + blanks, "=?", 2) ? NULL : p + blanks;
		auto_buf struct buf word = { 0 };

		rest = rest ? add_encoded_word(rest, &word) : NULL;
		if (blanks && !(rest && after_word))
			buf_addstr(ret, " ");
		if (rest)
			buf_add(ret, buf_str(&word), word.len);
		p += blanks;
		after_word = rest;
		if (rest)
			p = rest;
		else if (*p)
			buf_add(ret, p++, 1);
	}
}

/* ---- headers ---- */

/* What decides how a body is read, and what else is worth keeping. */
struct header {
	char *subject, *encoding, *type;
	struct buf others;
};

static void header_release(struct header *header)
{
	free(header->subject);
	free(header->encoding);
	free(header->type);
	buf_release(&header->others);
}

/* Fields that say how a mail came here, and how it was encoded. */
static const char *const dropped[] = {
	"Subject:", "Content-", "MIME-",     "Received:",       "X-",           "DKIM-",
	"ARC-",     "List-",    "DomainKey", "Authentication-", "Return-Path:", "Delivered-To:",
};

/* "Name: value" */
static bool is_field(const char *line, const char *end)
{
	const char *p = line;

	while (p < end && (isalnum((unsigned char)*p) || *p == '-'))
		p++;
	return p > line && p < end && *p == ':' && isupper((unsigned char)toupper(*line));
}

static bool take_field(const char *line, const char *end, const char *name, char **place)
{
	size_t len = strlen(name);

	if ((size_t)(end - line) <= len || strncasecmp(line, name, len) || line[len] != ':')
		return true;
	line += len + 1;
	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	free(*place);
	*place = strndup(line, (size_t)(end - line));
	return *place;
}

/* Reads the fields; *ret_body is what follows the empty line. False: it is no header. */
static bool read_header(const char *p, const char *end, struct header *ret, const char **ret_body)
{
	size_t fields = 0;

	while (p < end && !is_blank_line(p, end)) {
		const char *next = next_line(p, end);
		bool keep = true;

		if (!is_field(p, end))
			return false;
		while (next < end && (*next == ' ' || *next == '\t'))
			next = next_line(next, end);
		if (!take_field(p, next, "Subject", &ret->subject) ||
		    !take_field(p, next, "Content-Transfer-Encoding", &ret->encoding) ||
		    !take_field(p, next, "Content-Type", &ret->type))
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
			keep &= strncasecmp(p, dropped[i], strlen(dropped[i])) != 0;
		if (keep)
			buf_add(&ret->others, p, (size_t)(next - p));
		fields++;
		p = next;
	}
	*ret_body = p < end ? next_line(p, end) : end;
	return fields;
}

static bool starts_with(const char *text, const char *start)
{
	return text && !strncasecmp(text, start, strlen(start));
}

/* ---- bodies ---- */

static void add_body(const struct header *header, const char *p, const char *end, int depth,
		     struct buf *ret);

/* "--BOUNDARY" */
static bool is_boundary(const char *line, const char *end, const char *boundary)
{
	size_t len = strlen(boundary);

	return (size_t)(end - line) > len + 2 && !strncmp(line, "--", 2) &&
	       !strncmp(line + 2, boundary, len) && strchr("-\r\n", line[len + 2]);
}

static void add_part(const char *p, const char *end, int depth, struct buf *ret)
{
	struct header header = { 0 };
	const char *body = p;

	if (is_blank_line(p, end))
		body = next_line(p, end);
	else if (!read_header(p, end, &header, &body))
		body = p;
	add_body(&header, body, end, depth + 1, ret);
	header_release(&header);
}

static void add_parts(const char *boundary, const char *p, const char *end, int depth,
		      struct buf *ret)
{
	const char *part = NULL;

	for (const char *line = p; line < end; line = next_line(line, end)) {
		if (!is_boundary(line, end, boundary))
			continue;
		if (part)
			add_part(part, line, depth, ret);
		part = next_line(line, end);
	}
}

static char *find_boundary(const char *type)
{
	const char *at = starts_with(type, "multipart/") ? strcasestr(type, "boundary=") : NULL;

	if (!at)
		return NULL;
	at += strlen("boundary=");
	return *at == '"' ? strndup(at + 1, strcspn(at + 1, "\""))
			  : strndup(at, strcspn(at, "; \t\r\n"));
}

static void add_body(const struct header *header, const char *p, const char *end, int depth,
		     struct buf *ret)
{
	auto_free char *boundary = depth < MAX_DEPTH ? find_boundary(header->type) : NULL;

	if (boundary)
		add_parts(boundary, p, end, depth, ret);
	else if (header->type && !starts_with(header->type, "text/") &&
		 !starts_with(header->type, "application/octet-stream"))
		return;
	else if (starts_with(header->encoding, "quoted-printable"))
		add_quoted(p, end, false, ret);
	else if (starts_with(header->encoding, "base64"))
		add_base64(p, end, ret);
	else
		buf_add(ret, p, (size_t)(end - p));
}

/* ---- mailboxes ---- */

/* "From NAME Thu Jan  1 00:00:00 2015", with which a mail of a mailbox begins. */
static bool is_envelope(const char *line, const char *end)
{
	const char *stop = next_line(line, end), *colon;

	if (!starts_with(line, "From ") || strncmp(line, "From ", 5))
		return false;
	colon = memchr(line, ':', (size_t)(stop - line));
	return colon && colon - line > 7 && stop - colon > 3 && isdigit((unsigned char)colon[-1]) &&
	       isdigit((unsigned char)colon[1]) && colon[3] == ':';
}

/* False if it is no mail, or one that was sent as it was written; nothing was appended then. */
static bool add_mail(const char *p, const char *end, struct buf *ret)
{
	struct header header = { 0 };
	const char *start = is_envelope(p, end) ? next_line(p, end) : p, *body = start;
	bool is =
		read_header(start, end, &header, &body) &&
		((header.subject && strstr(header.subject, "=?")) ||
		 starts_with(header.encoding, "quoted-printable") ||
		 starts_with(header.encoding, "base64") || starts_with(header.type, "multipart/"));

	if (is)
		buf_add(ret, buf_str(&header.others), header.others.len);
	if (is && header.subject) {
		buf_addstr(ret, "Subject:");
		buf_addstr(ret, *header.subject == ' ' ? "" : " ");
		add_subject(header.subject, ret);
		while (ret->data && isspace((unsigned char)ret->data[ret->len - 1]))
			ret->data[--ret->len] = '\0';
		buf_addstr(ret, "\n");
	}
	if (is) {
		buf_addstr(ret, "\n");
		add_body(&header, body, end, 0, ret);
	}
	header_release(&header);
	return is;
}

int mail_decode(const char *text, size_t len, struct buf *ret, struct uspl_err *err)
{
	const char *end = text + len;

	for (const char *p = text; p < end;) {
		const char *next = is_envelope(p, end) ? next_line(p, end) : end;

		/* A mail ends at the next one's envelope. */
		while (next < end && !(is_envelope(next, end) && next[-1] == '\n'))
			next = next_line(next, end);

		if (!add_mail(p, next, ret))
			buf_add(ret, p, (size_t)(next - p));
		p = next;
	}
	return ret->oom ? uspl_fail_nomem(err) : 0;
}
