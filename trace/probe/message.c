// SPDX-License-Identifier: GPL-3.0-or-later
// message.c - a marker's format, applied when its record is read

#include "trace/probe/message.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

#define FLAGS_MAX 24 /* flags, width and precision together */
#define DIGITS_MAX 3 /* of a width: nothing wider than a line is wanted */

/* One conversion. */
struct spec {
	char flags[FLAGS_MAX]; /* "-08.3", '*' where an argument says it */
	char size;             /* 'H' for hh, 'h', 'l' for all of 8 bytes; 0: int */
	char conversion;       /* '\0': not understood */
	size_t stars;
};

/* Reads a conversion behind its '%'; returns where the text goes on. */
static const char *read_spec(const char *at, struct spec *ret)
{
	struct spec spec = { 0 };
	size_t n = 0, digits = 0;

	for (; *at && strchr("-+ #0123456789.*'", *at); at++) {
		digits = isdigit((unsigned char)*at) ? digits + 1 : 0;
		spec.stars += *at == '*';
		if (n + 1 < sizeof(spec.flags) && digits <= DIGITS_MAX)
			spec.flags[n++] = *at;
	}
	for (; *at && strchr("hljztLq", *at); at++)
		spec.size = *at != 'h' ? 'l' : spec.size ? 'H' : 'h';
	spec.conversion = *at && strchr("diouxXcspfFeEgGaAn", *at) ? *at++ : '\0';
	*ret = spec;
	return at;
}

/* The next conversion from *at on, which is moved behind it; false at the end. "%%" is none. */
static bool next_spec(const char **at, const char **ret_start, struct spec *ret)
{
	for (const char *sign = strchr(*at, '%'); sign; sign = strchr(sign, '%')) {
		if (sign[1] == '%') {
			sign += 2;
			continue;
		}
		*ret_start = sign;
		*at = read_spec(sign + 1, ret);
		return true;
	}
	return false;
}

bool message_wants_text(const char *format, size_t arg)
{
	const char *start;
	struct spec spec;
	size_t n = 0;

	while (next_spec(&format, &start, &spec)) {
		n += spec.stars;
		if (n == arg)
			return spec.conversion == 's' && !spec.stars;
		n++;
	}
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if the word in front of the sign at `sign` is that name. */
static bool named(const char *format, const char *sign, const char *name, size_t len)
{
	const char *end = sign;

	while (end > format && !is_word(end[-1]) && end[-1] != '%')
		end--;
	return (size_t)(end - format) >= len && !memcmp(end - len, name, len) &&
	       ((size_t)(end - format) == len || !is_word(end[-(long)len - 1]));
}

int message_arg_named(const char *format, const char *name, size_t len)
{
	const char *at = format, *start;
	struct spec spec;
	int n = 0;

	while (next_spec(&at, &start, &spec)) {
		n += (int)spec.stars;
		if (len && named(format, start, name, len))
			return n;
		n++;
	}
	return -1;
}

/* The values in their order. */
struct values {
	const struct message_value *items;
	size_t n, next;
};

static const struct message_value *take(struct values *values)
{
	static const struct message_value none = { .kind = USPL_PROBE_SIGNED };

	return values->next < values->n ? &values->items[values->next++] : &none;
}

/* The flags with numbers in place of stars, and what stands behind them. */
static void make_spec(const struct spec *spec, struct values *values, const char *behind,
		      struct buf *ret)
{
	bool star = false, digits = false;

	buf_addstr(ret, "%");
	for (const char *at = spec->flags; *at; at++) {
		int number = *at == '*' ? (int)take(values)->word % 1000 : 0;

		/*
		 * A number behind another would make it longer than DIGITS_MAX: the format comes
		 * from the process, and so do the numbers.
		 */
		if (*at == '*' && !digits)
			buf_addf(ret, "%d", number);
		else if (!(isdigit((unsigned char)*at) ? star : *at == '*'))
			buf_addf(ret, "%c", *at);
		star = *at == '*' || (star && isdigit((unsigned char)*at));
		digits = star || isdigit((unsigned char)*at);
	}
	buf_addf(ret, "%s%c", behind, spec->conversion);
}

static uint64_t cut(uint64_t word, char size, bool is_signed)
{
	switch (size) {
	case 'H':
		return is_signed ? (uint64_t)(int8_t)word : (uint8_t)word;
	case 'h':
		return is_signed ? (uint64_t)(int16_t)word : (uint16_t)word;
	case 'l':
		return word;
	default:
		return is_signed ? (uint64_t)(int32_t)word : (uint32_t)word;
	}
}

static void add_text(struct buf *out, const char *spec, const struct message_value *value)
{
	auto_buf struct buf shown = { 0 };

	if (value->kind == USPL_PROBE_TEXT && value->text)
		text_add_printable(&shown, value->text, strlen(value->text), false);
	else
		buf_addf(&shown, "0x%llx", (unsigned long long)value->word);
	buf_addf(out, spec, buf_str(&shown));
}

static void add_value(struct buf *out, const struct spec *spec, struct values *values)
{
	auto_buf struct buf text = { 0 };
	const struct message_value *value;
	bool whole = strchr("diouxX", spec->conversion);

	make_spec(spec, values, whole ? "ll" : "", &text);
	value = take(values);
	if (text.oom)
		out->oom = true;
	else if (whole)
		buf_addf(out, buf_str(&text),
			 (long long)cut(value->word, spec->size,
					spec->conversion == 'd' || spec->conversion == 'i'));
	else if (spec->conversion == 'c')
		buf_addf(out, isprint((int)(value->word & 0xff)) ? "%c" : "\\x%02x",
			 (int)(value->word & 0xff));
	else if (spec->conversion == 's')
		add_text(out, buf_str(&text), value);
	else if (spec->conversion == 'p')
		buf_addf(out, "0x%llx", (unsigned long long)value->word);
	else if (spec->conversion != 'n')
		buf_addf(out, buf_str(&text),
			 value->kind == USPL_PROBE_FLOAT ? value->real
							 : (double)(int64_t)value->word);
}

/* The format's own text, in which "%%" is a sign. */
static void add_plain(struct buf *out, const char *text, size_t len)
{
	auto_buf struct buf plain = { 0 };

	for (size_t i = 0; i < len; i++) {
		buf_add(&plain, text + i, 1);
		i += text[i] == '%' && i + 1 < len && text[i + 1] == '%';
	}
	if (plain.len)
		text_add_printable(out, plain.data, plain.len, false);
	out->oom |= plain.oom;
}

void message_add(struct buf *out, const char *format, const struct message_value *items, size_t n)
{
	struct values values = { items, n, 0 };
	const char *at = format, *start;
	struct spec spec;
	size_t len;

	if (!format) {
		for (size_t i = 0; i < n; i++) {
			buf_addf(out, "%sarg%zu=", i ? " " : "", i + 1);
			if (items[i].kind == USPL_PROBE_FLOAT)
				buf_addf(out, "%g", items[i].real);
			else if (items[i].kind == USPL_PROBE_TEXT)
				add_text(out, "\"%s\"", &items[i]);
			else if (items[i].kind == USPL_PROBE_SIGNED)
				buf_addf(out, "%lld", (long long)items[i].word);
			else
				buf_addf(out, items[i].word >> 32 ? "0x%llx" : "%llu",
					 (unsigned long long)items[i].word);
		}
		return;
	}
	for (const char *from = at; next_spec(&at, &start, &spec); from = at) {
		add_plain(out, from, (size_t)(start - from));
		if (spec.conversion)
			add_value(out, &spec, &values);
		else
			add_plain(out, start, (size_t)(at - start));
	}
	/* A record is a line anyway. */
	len = strlen(at);
	add_plain(out, at, len - (len && at[len - 1] == '\n'));
}
