// SPDX-License-Identifier: GPL-3.0-or-later
// marker.c - the USPL_MARKs of a module, read from its notes in memory

#include "tracing/marker.h"

#include <ctype.h>
#include <string.h>

#include "arch/arch.h"
#include "base/note.h"
#include "tracing/message.h"
#include "tracing/usdt.h"

#define TEXT_MAX 4096
#define NOTE_ALIGN 4

/* A NUL-terminated text of the module, allocated; NULL if there is none at addr. */
static char *text_at(const struct image *image, taddr addr)
{
	const struct image_seg *seg = image_seg_at(image, addr);
	size_t room = seg && seg->bytes ? seg->len - (addr - seg->start) : 0, len;
	const char *text = room ? (const char *)seg->bytes + (addr - seg->start) : NULL;

	if (room > TEXT_MAX)
		room = TEXT_MAX;
	len = text ? strnlen(text, room) : 0;
	return text && len < room ? strdup(text) : NULL;
}

static bool is_name(const char *name)
{
	for (const char *at = name; at && *at; at++)
		if (!isprint((unsigned char)*at) || *at == ' ')
			return false;
	return name && *name;
}

/* What the word at `at` of the note, which lies at `note`, refers to. */
static taddr target(taddr note, long long distance, size_t at)
{
	return note + at + (taddr)distance;
}

/* The program's bytes at a site: a NOP that a jump takes the place of. */
static bool is_nop(const struct image *image, taddr site)
{
	const struct image_seg *seg = image_seg_at(image, site);
	const uint8_t *code = image_bytes(image, site, USPL_TRACE_SITE_BYTES);
	struct insn insn;

	return seg && seg->exec && code &&
	       arch_native()->insn_decode(code, USPL_TRACE_SITE_BYTES, &insn) && insn.is_nop &&
	       insn.len == USPL_TRACE_SITE_BYTES;
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
	name = text_at(image, target(addr, from.name, offsetof(struct uspl_mark_site, name)));
	if (!is_name(name) || !is_nop(image, target(addr, from.site, 0))) {
		free(name);
		return 0;
	}
	item = vec_push(&markers->switches);
	if (!item) {
		free(name);
		return uspl_fail_nomem(err);
	}
	item->name = name;
	item->site = target(addr, from.site, 0);
	item->on = target(addr, from.on, offsetof(struct uspl_mark_site, on));
	return 0;
}

/* The arguments' types come from the program, whether they are strings from the format. */
static void set_kind(struct marker *marker, size_t i, uint8_t type)
{
	struct marker_arg *arg = &marker->args[i];

	arg->place.is_signed = type & USPL_MARK_SIGNED;
	arg->place.is_float = type & USPL_MARK_FLOAT;
	arg->kind = type & USPL_MARK_FLOAT     ? USPL_PROBE_FLOAT
		    : type & USPL_MARK_POINTER ? USPL_PROBE_POINTER
		    : type & USPL_MARK_SIGNED  ? USPL_PROBE_SIGNED
					       : USPL_PROBE_UNSIGNED;
	if (arg->kind == USPL_PROBE_POINTER && message_wants_text(marker->format, i))
		arg->kind = USPL_PROBE_TEXT;
	/* All are handed over as 8 bytes; what is known to be smaller takes less of a record. */
	if (arg->kind <= USPL_PROBE_UNSIGNED && (type & USPL_MARK_SIZE) <= 4)
		arg->place.size = 4;
}

static bool add_args(struct marker *marker, const struct uspl_mark_call *from, const char *places)
{
	for (size_t i = 0; i < from->n_args; i++) {
		if (i >= USPL_MARK_ARGS_MAX || place_parse(&places, &marker->args[i].place, NULL))
			return false;
		marker->n_args = i + 1;
		if (marker->args[i].place.symbol)
			return false;
		set_kind(marker, i, from->types[i]);
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
	marker.site = target(addr, from.site, 0);
	marker.name =
		text_at(image, target(addr, from.name, offsetof(struct uspl_mark_call, name)));
	marker.format =
		text_at(image, target(addr, from.format, offsetof(struct uspl_mark_call, format)));
	if (!is_name(marker.name) || !marker.format || !is_nop(image, marker.site) ||
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
static int add_note(const struct image *image, const struct note *note, taddr addr,
		    struct markers *markers, struct uspl_err *err)
{
	if (note_is(note, USPL_MARK_OWNER, USPL_MARK_NOTE_SITE))
		return add_switch(image, note, addr, markers, err);
	if (note_is(note, USPL_MARK_OWNER, USPL_MARK_NOTE_CALL))
		return add_site(image, note, addr, markers, err);
	return 0;
}

/* A segment of notes. */
static int add_notes(const struct image *image, taddr notes, uint64_t len, struct markers *markers,
		     struct uspl_err *err)
{
	const uint8_t *bytes = image_bytes(image, notes, len);
	struct note note;
	size_t at = 0;
	int rc = 0;

	while (!rc && bytes && note_next(bytes, len, NOTE_ALIGN, &at, &note))
		rc = add_note(image, &note, notes + (taddr)(note.desc - bytes), markers, err);
	return rc;
}

/*
 * The constants of an update, the notes of new code among them: nothing says where, and each is
 * known by its owner. What is one by chance only doesn't lead to a NOP.
 */
static int search_notes(const struct image *image, const struct image_seg *seg,
			struct markers *markers, struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0; !rc && at < seg->len; at += NOTE_ALIGN) {
		struct note note;
		size_t end = at;

		if (note_next(seg->bytes, seg->len, NOTE_ALIGN, &end, &note))
			rc = add_note(image, &note, seg->start + (taddr)(note.desc - seg->bytes),
				      markers, err);
	}
	return rc;
}

int markers_find(const struct proc *proc, const struct module *module, const struct image *image,
		 struct markers *markers, struct uspl_err *err)
{
	const struct image_seg *seg;
	const Elf64_Phdr *phdr;
	int rc = 0;

	vec_for_each (&module->phdrs, phdr)
		if (!rc && phdr->p_type == PT_NOTE && phdr->p_align != 8)
			rc = add_notes(image, phdr->p_vaddr + (taddr)module->bias, phdr->p_filesz,
				       markers, err);
	vec_for_each (&image->segs, seg)
		if (!rc && seg->bytes && !seg->exec &&
		    (seg->start < image->start || seg->start >= image->end))
			rc = search_notes(image, seg, markers, err);
	return rc ? rc : usdt_find(proc, module, image, markers, err);
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
