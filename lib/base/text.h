/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - text from strangers: UTF-8, and what a terminal may be shown of it
 *
 * Names and patches come out of files and processes that any user may have made. Printed as they
 * are, they could move the cursor, hide lines or turn the direction of writing. So all that is
 * shown to people passes through here.
 */
#ifndef USPL_BASE_TEXT_H
#define USPL_BASE_TEXT_H

#include "base/buf.h"

/*
 * Decodes the UTF-8 character at text, of which len bytes (at least one) may be looked at. Returns
 * its length, 1 to 4, and the character; 0 if no well-formed character begins there (RFC 3629: no
 * overlong forms, no surrogates).
 */
size_t text_decode(const char *text, size_t len, uint32_t *ret_char);
/* True if all of it is well-formed UTF-8 without a NUL. */
bool text_is_utf8(const char *text, size_t len);
/*
 * True for a character that acts on a terminal instead of appearing: control and bidirectional
 * ones.
 */
bool text_is_control(uint32_t character);
/*
 * Appends text for people: control characters and malformed bytes are written out ("\n", "\x1b",
 * "\u202e"). Appending what was appended that way gives the same again. With keep_lines, line ends
 * and tabs are left as they are.
 */
void text_add_printable(struct buf *buf, const char *text, size_t len, bool keep_lines);
/* True if text_add_printable would write any of it out. */
bool text_is_odd(const char *text);
/* True if text begins with `start`. */
bool text_starts_with(const char *text, const char *start);
/* True if text ends with `end`, and isn't only that. */
bool text_ends_with(const char *text, const char *end);
/* Is the text one of n words? Does it begin with one of them? */
bool text_is_one_of(const char *text, const char *const *words, size_t n);
bool text_starts_with_one_of(const char *text, const char *const *words, size_t n);
/* The same for an array. */
#define TEXT_IS_ONE_OF(text, words) text_is_one_of(text, words, ARRAY_SIZE(words))
#define TEXT_STARTS_WITH_ONE_OF(text, words) text_starts_with_one_of(text, words, ARRAY_SIZE(words))
/* Is the word one of those of a list, which has one separator between two of them? */
bool text_has_word(const char *list, char separator, const char *word);
/* Behind the line that the text begins with. */
const char *text_next_line(const char *text);
/* May the character stand in a word of C: a letter, a digit, '_'? */
bool text_in_word(char c);
/* As asprintf(3): a text to be freed; NULL when out of memory. */
char *text_format(const char *fmt, ...) uspl_printf(1, 2);
/* How many columns text takes, every character counted as one. */
size_t text_width(const char *text);

#endif
