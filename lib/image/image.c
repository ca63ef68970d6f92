// SPDX-License-Identifier: GPL-3.0-or-later
// image.c - a program or library as it lies in memory

#include "image/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"

#define FORGET_LEAST (16 * IMAGE_PIECE)

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
	size_t at = seg ? addr - seg->start : 0;

	if (!seg || !seg->bytes || len > seg->len - at)
		return NULL;
	if (!seg->there || !len)
		return seg->bytes + at;
	/* Pieces that aren't there yet are read. */
	for (size_t i = at / IMAGE_PIECE; i <= (at + len - 1) / IMAGE_PIECE; i++) {
		size_t from = i * IMAGE_PIECE, left = seg->len - from;

		if (seg->there[i])
			continue;
		if (!image->read(image->read_ctx, seg->start + from, seg->bytes + from,
				 left < IMAGE_PIECE ? left : IMAGE_PIECE))
			return NULL;
		seg->there[i] = 1;
	}
	return seg->bytes + at;
}

/* Piece by piece: most often there is one in the first, and the others needn't be read. */
taddr image_return_place(const struct image *image, const struct arch *arch,
			 const uint8_t **ret_bytes, size_t *ret_len)
{
	enum { OVERLAP = 32 };
	const struct image_seg *seg;

	vec_for_each (&image->segs, seg) {
		if (!seg->exec || !seg->bytes || seg->start < image->start ||
		    seg->start >= image->end)
			continue;
		for (size_t at = 0; at < seg->len; at += IMAGE_PIECE) {
			size_t rest = seg->len - at, wanted = IMAGE_PIECE + OVERLAP;
			size_t len = rest < wanted ? rest : wanted;
			const uint8_t *code = image_bytes(image, seg->start + at, len);
			ssize_t place = code ? arch->return_place(code, len, ret_len) : -1;

			if (place < 0)
				continue;
			*ret_bytes = code + place;
			return seg->start + at + (size_t)place;
		}
	}
	return 0;
}

void image_forget(const struct image *image, taddr *from, taddr addr)
{
	const struct image_seg *seg = image->forgets ? image_seg_at(image, *from) : NULL;
	size_t first, end;

	if (addr < *from || addr - *from < FORGET_LEAST)
		return;
	if (seg && seg->there) {
		first = (*from - seg->start + IMAGE_PIECE - 1) / IMAGE_PIECE;
		end = (addr < seg->start + seg->len ? addr - seg->start : seg->len) / IMAGE_PIECE;
		for (size_t i = first; i < end; i++)
			seg->there[i] = 0;
		if (end > first)
			madvise(seg->bytes + first * IMAGE_PIECE, (end - first) * IMAGE_PIECE,
				MADV_DONTNEED);
	}
	*from = addr - addr % IMAGE_PIECE;
}

size_t image_first_sym(const struct image *image, taddr addr)
{
	return vec_lower_bound(&image->syms, it, it->addr < addr);
}

const struct image_sym *image_sym_at(const struct image *image, taddr addr)
{
	/*
	 * How many symbols that don't cover addr may lie between it and the one that does: labels
	 * and aliases.
	 */
	enum { LOOK_BACK = 64 };
	size_t low = image_first_sym(image, addr + 1);

	for (size_t back = 0; low > 0 && back < LOOK_BACK; back++) {
		const struct image_sym *sym = &image->syms.items[--low];

		if (sym->type != STT_FUNC && sym->type != STT_OBJECT && sym->type != STT_GNU_IFUNC)
			continue;
		if (sym->addr == addr || addr - sym->addr < sym->size)
			return sym;
	}
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct image_seg *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

bool image_add_seg(struct image *image, const struct image_seg *seg)
{
	struct image_seg *item = vec_push(&image->segs);

	if (!item)
		return false;
	*item = *seg;
	qsort(image->segs.items, image->segs.n, sizeof(*image->segs.items), by_start);
	return true;
}

bool image_add_function(struct image *image, const char *name, taddr addr, uint64_t size)
{
	const size_t at = image_first_sym(image, addr);

	if (!strvec_add(&image->added_names, name) || !vec_push(&image->syms))
		return false;
	memmove(image->syms.items + at + 1, image->syms.items + at,
		(image->syms.n - 1 - at) * sizeof(*image->syms.items));
	image->syms.items[at] =
		(struct image_sym){ .name = image->added_names.items[image->added_names.n - 1],
				    .addr = addr,
				    .size = size,
				    .type = STT_FUNC,
				    .bind = STB_LOCAL };
	return true;
}

bool image_redirect(struct image *image, taddr from, taddr to)
{
	struct image_redirect *redirect;

	vec_for_each (&image->redirects, redirect)
		if (redirect->from == from) {
			redirect->to = to;
			return true;
		}
	redirect = vec_push(&image->redirects);
	if (!redirect)
		return false;
	*redirect = (struct image_redirect){ from, to };
	return true;
}

taddr image_follow(const struct image *image, taddr addr)
{
	const struct image_redirect *redirect;
	taddr from;

	/* Each is followed once at most: a circle, which no update makes, must not hold us. */
	for (size_t i = 0; i < image->redirects.n; i++) {
		from = addr;
		vec_for_each (&image->redirects, redirect)
			if (redirect->from == from) {
				addr = redirect->to;
				break;
			}
		if (addr == from)
			break;
	}
	return addr;
}

taddr image_entry(const struct image *image, taddr addr)
{
	const struct image_redirect *redirect;

	for (size_t i = 0; i < image->redirects.n; i++) {
		bool found = false;

		vec_for_each (&image->redirects, redirect)
			if (redirect->to == addr && !found) {
				addr = redirect->from;
				found = true;
			}
		if (!found)
			break;
	}
	return addr;
}

bool image_mean(struct image *image, taddr field, uint64_t value)
{
	struct image_meaning *meaning = vec_push(&image->meanings);

	if (meaning)
		*meaning = (struct image_meaning){ field, value };
	return meaning;
}

static int by_field(const void *a, const void *b)
{
	const struct image_meaning *x = a, *y = b;

	return x->field < y->field ? -1 : x->field > y->field;
}

void image_sort_meanings(struct image *image)
{
	if (image->meanings.n)
		qsort(image->meanings.items, image->meanings.n, sizeof(*image->meanings.items),
		      by_field);
}

bool image_meaning(const struct image *image, taddr field, uint64_t *ret_value)
{
	size_t i = vec_lower_bound(&image->meanings, it, it->field < field);

	if (i == image->meanings.n || image->meanings.items[i].field != field)
		return false;
	*ret_value = image->meanings.items[i].value;
	return true;
}

bool image_holds(const struct image *image, taddr addr)
{
	return (addr >= image->start && addr < image->end) || image_seg_at(image, addr);
}

void image_free(struct image *image)
{
	struct image_seg *seg;

	if (!image)
		return;
	strvec_release(&image->added_names);
	vec_for_each (&image->segs, seg) {
		if (seg->there)
			munmap(seg->bytes, seg->len);
		else
			free(seg->bytes);
		free(seg->there);
	}
	vec_release(&image->segs);
	vec_release(&image->syms);
	vec_release(&image->redirects);
	vec_release(&image->meanings);
	vec_release(&image->starts);
	vec_release(&image->parts);
	if (image->release_backing)
		image->release_backing(image->backing);
	free(image->name);
	free(image);
}
