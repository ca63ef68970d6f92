// SPDX-License-Identifier: GPL-3.0-or-later
// html.c - pages for a browser, in one file that needs nothing else

#include "command/html.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>
#include <string.h>

#include "base/text.h"

#define BASE64 sodium_base64_VARIANT_ORIGINAL

/* Characters that XML 1.0 allows (2.2, "Characters"). */
static bool is_xml(uint32_t c)
{
	return c >= 0x20 ? c != 0xfffe && c != 0xffff : c == '\t' || c == '\n' || c == '\r';
}

void html_add_text(struct buf *out, const char *text)
{
	size_t len = strlen(text);
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n || !is_xml(c))
			buf_addstr(out, "\xef\xbf\xbd"); /* U+FFFD */
		else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			buf_addf(out, "&#%u;", c);
		else
			buf_add(out, text + i, n);
		n = n ? n : 1;
	}
}

void html_add_printable(struct buf *out, const char *text, bool keep_lines)
{
	auto_buf struct buf shown = { 0 };

	text_add_printable(&shown, text, strlen(text), keep_lines);
	html_add_text(out, buf_str(&shown));
	out->oom |= shown.oom;
}

/* The source expression of a Content Security Policy that stands for exactly this text. */
static void add_source(struct buf *out, const struct html_part *part)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char text[sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, BASE64)];

	if (!part->len) {
		buf_addstr(out, "'none'");
		return;
	}
	crypto_hash_sha256(digest, (const unsigned char *)part->text, part->len);
	sodium_bin2base64(text, sizeof(text), digest, sizeof(digest), BASE64);
	buf_addf(out, "'sha256-%s'", text);
}

void html_add_page(struct buf *out, const struct html_page *page)
{
	const char *end;

	buf_addstr(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta http-equiv=\"Content-Security-Policy\" "
			"content=\"default-src 'none'; img-src data:; style-src ");
	add_source(out, &page->style);
	buf_addstr(out, "; script-src ");
	add_source(out, &page->script);
	buf_addstr(out, "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
	html_add_text(out, page->title);
	buf_addstr(out, "</title>\n<style>");
	buf_add(out, page->style.text, page->style.len);
	buf_addstr(out, "</style>\n</head>\n<body>\n");
	buf_add(out, page->body, page->body_len);
	if (page->data) {
		buf_addstr(out, "<script id=\"data\" type=\"application/json\">");
		/* JSON has a '<' in strings only. Without it nothing in them ends the element. */
		for (const char *json = page->data; *json; json = *end ? end + 1 : end) {
			end = strchrnul(json, '<');
			buf_add(out, json, (size_t)(end - json));
			if (*end)
				buf_addstr(out, "\\u003c");
		}
		buf_addstr(out, "</script>\n");
	}
	if (page->script.len) {
		buf_addstr(out, "<script>");
		buf_add(out, page->script.text, page->script.len);
		buf_addstr(out, "</script>\n");
	}
	buf_addstr(out, "</body>\n</html>\n");
}
