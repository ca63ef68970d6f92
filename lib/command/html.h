/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * html.h - pages for a browser, in one file that needs nothing else
 *
 * What strangers have named is on these pages. It gets there as text (html_add_text), or as JSON in
 * an element that browsers don't run. Against what might be overlooked the page's policy lets only
 * the script run that uspl brings, by its digest, and lets nothing be loaded.
 */
#ifndef USPL_COMMAND_HTML_H
#define USPL_COMMAND_HTML_H

#include "base/buf.h"

/* A piece of a page that is part of the tools. */
struct html_part {
	const char *text;
	size_t len;
};

struct html_page {
	const char *title;
	struct html_part style;
	const char *body; /* markup; what is in it of strangers has been escaped */
	size_t body_len;
	const char *data;        /* JSON for the script, in the element `data`; NULL: none */
	struct html_part script; /* len 0: none */
};

/*
 * Appends text such that it is text in HTML, SVG and XML, and in quoted attributes. Malformed UTF-8
 * and what XML has no place for become U+FFFD.
 */
void html_add_text(struct buf *out, const char *text);
/* The same of what text_add_printable makes of it. */
void html_add_printable(struct buf *out, const char *text, bool keep_lines);
/* Appends the whole page. Out of memory: out->oom. */
void html_add_page(struct buf *out, const struct html_page *page);

#endif
