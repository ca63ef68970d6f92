// SPDX-License-Identifier: GPL-3.0-or-later
// marker.c - the USPL_MARKs of a module, read from its notes in memory

#include "trace/probe/marker.h"

#include <ctype.h>
#include <string.h>

#include "trace/probe/mark_notes.h"
#include "trace/probe/message.h"
#include "trace/probe/usdt.h"

static bool is_name(const char *name)
{
	for (const char *at = name; at && *at; at++)
		if (!isprint((unsigned char)*at) || *at == ' ')
			return false;
	return name && *name;
}

static int add_switch(const struct image *image, const struct note *note, taddr addr,
		      struct markers *markers, struct uspl_err *err)
{
	struct uspl_mark_site from;
	struct marker_switch *item;
	char *name;

	if (note->desc_len < sizeof(from))
		return 0;
	memcpy(&from, note->desc, sizeof(from));
	name = mark_note_text(image, mark_note_target(addr, from.name,
						      offsetof(struct uspl_mark_site, name)));
	if (!is_name(name) || !mark_note_nop(image, mark_note_target(addr, from.site, 0))) {
		free(name);
		return 0;
	}
	item = vec_push(&markers->switches);
	if (!item) {
		free(name);
		return uspl_fail_nomem(err);
	}
	item->name = name;
	item->site = mark_note_target(addr, from.site, 0);
	item->on = mark_note_target(addr, from.on, offsetof(struct uspl_mark_site, on));
	return 0;
}

static bool add_args(struct marker *marker, const struct uspl_mark_call *from, const char *places)
{
	for (size_t i = 0; i < from->n_args; i++) {
		struct marker_arg *arg = &marker->args[i];
		uint8_t type;

		if (i >= USPL_MARK_ARGS_MAX || place_parse(&places, &arg->place, NULL))
			return false;
		marker->n_args = i + 1;
		if (arg->place.symbol)
			return false;
		type = from->types[i];
		/* The types come from the program, whether they are strings from the format. */
		arg->place.is_signed = type & USPL_MARK_SIGNED;
		arg->place.is_float = type & USPL_MARK_FLOAT;
		arg->kind = type & USPL_MARK_FLOAT     ? USPL_PROBE_FLOAT
			    : type & USPL_MARK_POINTER ? USPL_PROBE_POINTER
			    : type & USPL_MARK_SIGNED  ? USPL_PROBE_SIGNED
						       : USPL_PROBE_UNSIGNED;
		if (arg->kind == USPL_PROBE_POINTER && message_wants_text(marker->format, i))
			arg->kind = USPL_PROBE_TEXT;
		/* All come as 8 bytes; what is known to be smaller takes less of a record. */
		if (arg->kind <= USPL_PROBE_UNSIGNED && (type & USPL_MARK_SIZE) <= 4)
			arg->place.size = 4;
	}
	return true;
}

static void marker_release(struct marker *marker)
{
	for (size_t i = 0; i < marker->n_args; i++)
		free(marker->args[i].place.symbol);
	free(marker->name);
	free(marker->format);
}

static int add_site(const struct image *image, const struct note *note, taddr addr,
		    struct markers *markers, struct uspl_err *err)
{
	struct uspl_mark_call from;
	struct marker marker = { .old_len = USPL_TRACE_SITE_BYTES,
				 .skip = USPL_TRACE_SITE_BYTES,
				 .guard = 1 },
		      *item;

	if (note->desc_len <= sizeof(from) || note->desc[note->desc_len - 1])
		return 0;
	memcpy(&from, note->desc, sizeof(from));
	marker.site = mark_note_target(addr, from.site, 0);
	marker.name = mark_note_text(
		image, mark_note_target(addr, from.name, offsetof(struct uspl_mark_call, name)));
	marker.format =
		mark_note_text(image, mark_note_target(addr, from.format,
						       offsetof(struct uspl_mark_call, format)));
	if (!is_name(marker.name) || !marker.format || !mark_note_nop(image, marker.site) ||
	    !add_args(&marker, &from, (const char *)note->desc + sizeof(from))) {
		marker_release(&marker);
		return 0;
	}
	memcpy(marker.old, image_bytes(image, marker.site, marker.old_len), marker.old_len);
	item = vec_push(&markers->sites);
	if (!item) {
		marker_release(&marker);
		return uspl_fail_nomem(err);
	}
	*item = marker;
	return 0;
}

/* A note whose description lies at addr. */
static int add_note(void *ctx, const struct image *image, const struct note *note, taddr addr,
		    struct uspl_err *err)
{
	struct markers *markers = ctx;

	if (note_is(note, USPL_MARK_OWNER, USPL_MARK_NOTE_SITE))
		return add_switch(image, note, addr, markers, err);
	if (note_is(note, USPL_MARK_OWNER, USPL_MARK_NOTE_CALL))
		return add_site(image, note, addr, markers, err);
	return 0;
}

int markers_find(const struct proc *proc, const struct module *module, const struct image *image,
		 struct markers *markers, struct uspl_err *err)
{
	int rc = mark_notes_each(module, image, add_note, markers, err);

	if (rc)
		return rc;
	return usdt_find(proc, module, image, markers, err);
}

void markers_release(struct markers *markers)
{
	struct marker_switch *item;
	struct marker *marker;

	vec_for_each (&markers->sites, marker)
		marker_release(marker);
	vec_for_each (&markers->switches, item)
		free(item->name);
	vec_release(&markers->sites);
	vec_release(&markers->switches);
}

int marker_arg_named(const struct marker *marker, const char *name, size_t len)
{
	char text[32];

	for (size_t i = 0; i < marker->n_args; i++) {
		snprintf(text, sizeof(text), "arg%zu", i + 1);
		if (strlen(text) == len && !memcmp(text, name, len))
			return (int)i;
	}
	return marker->format ? message_arg_named(marker->format, name, len) : -1;
}
