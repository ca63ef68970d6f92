// SPDX-License-Identifier: GPL-3.0-or-later
// image.c - a program or library as it lies in memory

#include "match/image.h"

#include <elf.h>
#include <stdlib.h>

const struct image_seg *image_seg_at(const struct image *image, taddr addr)
{
	size_t low = 0, high = image->segs.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct image_seg *seg = &image->segs.items[mid];

		if (addr < seg->start)
			high = mid;
		else if (addr - seg->start >= seg->len)
			low = mid + 1;
		else
			return seg;
	}
	return NULL;
}

const uint8_t *image_bytes(const struct image *image, taddr addr, size_t len)
{
	const struct image_seg *seg = image_seg_at(image, addr);

	if (!seg || !seg->bytes || len > seg->len - (addr - seg->start))
		return NULL;
	return seg->bytes + (addr - seg->start);
}

static bool sym_covers(const struct image_sym *sym, taddr addr)
{
	switch (sym->type) {
	case STT_FUNC:
	case STT_OBJECT:
	case STT_GNU_IFUNC:
		return sym->addr == addr || addr - sym->addr < sym->size;
	default:
		return false;
	}
}

const struct image_sym *image_sym_at(const struct image *image, taddr addr)
{
	/*
	 * How many symbols that don't cover addr may lie between it and the one that does: labels
	 * and aliases.
	 */
	enum { LOOK_BACK = 64 };
	size_t low = 0, high = image->syms.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (image->syms.items[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t back = 0; low > 0 && back < LOOK_BACK; back++) {
		const struct image_sym *sym = &image->syms.items[--low];

		if (sym_covers(sym, addr))
			return sym;
	}
	return NULL;
}

void image_free(struct image *image)
{
	struct image_seg *seg;

	if (!image)
		return;
	vec_for_each (&image->segs, seg)
		free(seg->bytes);
	vec_release(&image->segs);
	vec_release(&image->syms);
	if (image->release_backing)
		image->release_backing(image->backing);
	free(image->name);
	free(image);
}
