// SPDX-License-Identifier: GPL-3.0-or-later
// object_fuzz.c - any bytes as the ELF files of an update: read, linked, and compared with code
/*
 * The first byte chooses what the object is taken for. What it is compared with is a small program
 * of its own bytes: so much of it matches, and the matcher goes on.
 */

#include "link/link.h"
#include "match/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int value_of(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
		    struct uspl_err *err)
{
	(void)ctx;
	(void)sym;
	(void)err;
	if (!redirected)
		*ret = (struct symbol_value){ .addr = 0x1000, .tls_offset = -64, .tls_id = 2 };
	return 0;
}

static void link_it(const struct objfile *obj, bool far)
{
	const struct link_wish wish = { .far = far };
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), &wish, &link, &err);

	if (!rc)
		rc = link_relocate(link, 0x200000000000, value_of, NULL, &err);
	if (rc && !err.msg[0])
		abort();
}

/* The sections of the object one behind the other, as a program that has no relocations done. */
static bool fill_image(const struct objfile *obj, struct image *image)
{
	taddr at = 0x400000;

	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objsec *sec = obj->secs.items[i];
		struct image_seg seg = { .start = at,
					 .len = sec->size,
					 .exec = objsec_is_code(sec),
					 .write = sec->flags & SHF_WRITE };
		struct image_sym *sym;

		if (!(sec->flags & SHF_ALLOC) || !sec->size || sec->size > 1 << 20)
			continue;
		if (sec->data) {
			seg.bytes = malloc(sec->size);
			if (!seg.bytes)
				return false;
			memcpy(seg.bytes, sec->data, sec->size);
		}
		if (!image_add_seg(image, &seg))
			return false;
		sym = vec_push(&image->syms);
		if (!sym)
			return false;
		*sym = (struct image_sym){ .name = sec->name,
					   .addr = at,
					   .size = sec->size,
					   .type = STT_FUNC,
					   .bind = STB_GLOBAL };
		at += (sec->size + 4095) / 4096 * 4096 + 4096;
	}
	image->start = 0x400000;
	image->end = at;
	return true;
}

static void match_it(const struct objfile *obj)
{
	struct image *image = calloc(1, sizeof(*image));
	auto_match struct match *match = NULL;
	struct uspl_err err = { 0 };
	struct match_tally tally;
	taddr value;

	image->name = strdup("fuzz");
	if (fill_image(obj, image) && match_run(image, obj, &match, &err) == 0) {
		match_count(match, &tally);
		for (size_t i = 0; i < obj->syms.n; i++)
			(void)match_value(match, obj->syms.items[i]->name, &value);
	}
	match_free(match);
	match = NULL;
	image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_objfile struct objfile *obj = NULL;
	struct uspl_err err = { 0 };

	if (!size)
		return 0;
	if (objfile_read_memory("fuzz", data + 1, size - 1, &obj, &err)) {
		if (!err.msg[0])
			abort();
		return 0;
	}
	if (data[0] & 1)
		match_it(obj);
	else
		link_it(obj, data[0] & 2);
	return 0;
}
