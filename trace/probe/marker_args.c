// SPDX-License-Identifier: GPL-3.0-or-later
// marker_args.c - the arguments of a function that is taken for a marker, and what it returns

#include <string.h>

#include "image/image_signature.h"
#include "trace/probe/marker.h"

/* Where whole numbers are if nothing more is known: System V ABI for x86-64, 3.2.3. */
#define RAW_ARGS 6
#define WORD_LEN 8

char marker_arg_letter(const struct marker_arg *arg)
{
	if (arg->gone)
		return '-';
	if (arg->untyped)
		return '?';
	switch (arg->kind) {
	case USPL_PROBE_SIGNED:
		return 'i';
	case USPL_PROBE_UNSIGNED:
		return 'u';
	case USPL_PROBE_FLOAT:
		return arg->place.size == sizeof(float) ? 'f' : 'd';
	case USPL_PROBE_POINTER:
		return 'p';
	case USPL_PROBE_TEXT:
		return 's';
	}
	return '?';
}

/* How it is printed behind its name. */
static const char *conversion_of(const struct marker_arg *arg)
{
	switch (marker_arg_letter(arg)) {
	case 'i':
		return "%ld";
	case 'u':
		return "%lu";
	case 'd':
	case 'f':
		return "%g";
	case 's':
		return "\"%s\"";
	case 'p':
		return "%p";
	case '-':
		return "?%.0s";
	default:
		return "{%#lx}";
	}
}

static void add_typed(const struct image_value *from, const char *name, struct marker *marker,
		      struct buf *format)
{
	bool fits = from->width == 1 || from->width == 2 || from->width == 4;
	struct marker_arg *arg;
	size_t number = marker->n_args + 1;

	if (marker->n_args == USPL_PROBE_ARGS_MAX)
		return;
	arg = &marker->args[marker->n_args++];
	arg->kind = from->kind ? from->kind : USPL_PROBE_UNSIGNED;
	arg->untyped = !from->kind;
	arg->gone = !place_of_value(&from->place, fits && from->kind ? from->width : WORD_LEN,
				    &arg->place);
	if (arg->gone) {
		arg->kind = USPL_PROBE_UNSIGNED;
		arg->place = (struct place){ .kind = PLACE_NUMBER, .size = WORD_LEN };
	}
	arg->place.is_signed = arg->kind == USPL_PROBE_SIGNED;
	arg->place.is_float = arg->kind == USPL_PROBE_FLOAT;
	buf_addstr(format, number > 1 ? " " : "");
	if (name)
		buf_addf(format, "%s=%s", name, conversion_of(arg));
	else
		buf_addf(format, "arg%zu=%s", number, conversion_of(arg));
}

static void add_raw(struct marker *marker, uint16_t index)
{
	const struct call_place place = { USPL_LISTEN_REG, index };
	struct marker_arg *arg = &marker->args[marker->n_args++];

	*arg = (struct marker_arg){ .kind = USPL_PROBE_UNSIGNED, .untyped = true };
	(void)place_of_value(&place, WORD_LEN, &arg->place);
}

int marker_set_args(const struct image *image, struct marker *marker, struct uspl_err *err)
{
	auto_buf struct buf format = { 0 };
	struct image_signature signature = { 0 };
	const struct image_value *value;
	int rc = image_signature_read(image, marker->site, &signature, err);

	if (rc)
		return rc;
	marker->untyped = !signature.known;
	if (marker->untyped && marker->at_return) {
		add_raw(marker, USPL_LISTEN_RAX);
		buf_addstr(&format, "ret=%#lx");
	} else if (marker->untyped) {
		for (uint16_t i = 0; i < RAW_ARGS; i++)
			add_raw(marker, i);
	} else if (!marker->at_return) {
		vec_for_each (&signature.args, value)
			add_typed(value, value->name, marker, &format);
	} else if (signature.has_result) {
		add_typed(&signature.result, "ret", marker, &format);
	}
	image_signature_release(&signature);
	if (format.oom)
		return uspl_fail_nomem(err);
	/* Six words without names have none. */
	if (marker->untyped && !format.len)
		return 0;
	marker->format = strdup(buf_str(&format));
	return marker->format ? 0 : uspl_fail_nomem(err);
}
