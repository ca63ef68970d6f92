// SPDX-License-Identifier: GPL-3.0-or-later
// detours.c - instructions of applied updates that go through detours, and what they stand for

#include "record/detours.h"

#include <string.h>

#include "arch/arch.h"
#include "record/overlay.h"

/*
 * Thread-local variables of updates, as numbers: a bit that neither addresses nor distances have
 * alone at the top, the page at which the region begins, and the offset.
 */
#define VARIABLE (1ull << 62)
#define PAGE_SHIFT 12
#define OFFSET_BITS 26

typedef VEC(struct uspl_detour) detour_vec;

static uint64_t number_of(const struct region *region, uint64_t offset)
{
	return VARIABLE + (region->map >> PAGE_SHIFT << OFFSET_BITS) + offset;
}

static bool is_part(const struct region *region, taddr module)
{
	return region_is_live(region) && region->module == module && region->detours;
}

static bool read_head(const struct image *image, const struct region *region,
		      struct uspl_detours *ret)
{
	const uint8_t *bytes =
		region->detours ? image_bytes(image, region->detours, sizeof(*ret)) : NULL;

	if (bytes)
		memcpy(ret, bytes, sizeof(*ret));
	return bytes && ret->n <= DETOURS_MAX;
}

/* The detours of a region; a caller that relies on what the target says checks it. */
static int read_detours(const struct image *image, const struct region *region, detour_vec *ret,
			struct uspl_err *err)
{
	struct uspl_detours head;
	const uint8_t *bytes = NULL;

	if (read_head(image, region, &head))
		bytes = image_bytes(image, region->detours + sizeof(head),
				    head.n * sizeof(struct uspl_detour));
	for (uint64_t i = 0; bytes && i < head.n; i++) {
		struct uspl_detour *detour = vec_push(ret);

		if (!detour)
			return uspl_fail_nomem(err);
		memcpy(detour, bytes + i * sizeof(*detour), sizeof(*detour));
	}
	return 0;
}

/* Does a jump or a call to the detour stand there now? Nops fill the rest. */
static bool leads_there(const struct uspl_detour *detour, const uint8_t *code)
{
	const struct arch *arch = arch_native();
	struct insn insn;

	for (size_t at = 0; at < detour->insn_len; at += insn.len) {
		if (!arch->insn_decode(code + at, detour->insn_len - at, &insn))
			return false;
		if (!insn.is_nop)
			return (insn.flow == INSN_JUMP || insn.flow == INSN_CALL) &&
			       detour->addr + at + insn.len + (uint64_t)insn.rel == detour->code;
	}
	return false;
}

static int unpatch_image(struct image *image, const region_vec *regions,
			 const struct uspl_detour *detour, struct uspl_err *err)
{
	/* The image is ours, and so are its bytes. */
	uint8_t *code = (uint8_t *)image_bytes(image, detour->addr, detour->insn_len);
	const struct region *region, *helping = NULL;
	uint64_t value = detour->value;

	if (!code || detour->insn_len > sizeof(detour->insn) || detour->field >= detour->insn_len ||
	    !leads_there(detour, code))
		return 0;
	if (detour->helper) {
		vec_for_each (regions, region)
			if (!helping && region_is_live(region) &&
			    overlay_holds(region, detour->helper))
				helping = region;
		if (!helping || value >= 1ull << OFFSET_BITS)
			return 0;
		value = number_of(helping, value);
	}
	memcpy(code, detour->insn, detour->insn_len);
	return image_mean(image, detour->addr + detour->field, value) ? 0 : uspl_fail_nomem(err);
}

int detours_unpatch_image(struct image *image, const region_vec *regions, taddr module,
			  struct uspl_err *err)
{
	const struct region *region;
	int rc = 0;

	vec_for_each (regions, region) {
		detour_vec detours = { 0 };
		const struct uspl_detour *detour;

		if (rc || !is_part(region, module))
			continue;
		rc = read_detours(image, region, &detours, err);
		vec_for_each (&detours, detour)
			rc = rc ? rc : unpatch_image(image, regions, detour, err);
		vec_release(&detours);
	}
	image_sort_meanings(image);
	return rc;
}

bool detours_variable(const struct image *image, const region_vec *regions, uint64_t value,
		      struct detours_variable *ret)
{
	const uint64_t offset_mask = (1ull << OFFSET_BITS) - 1;
	const struct region *region;
	struct uspl_detours head;

	vec_for_each (regions, region) {
		if (!region_is_live(region) || (value & ~offset_mask) != number_of(region, 0) ||
		    !read_head(image, region, &head))
			continue;
		*ret = (struct detours_variable){ region, value & offset_mask, head.distance,
						  head.from_block };
		return true;
	}
	return false;
}

int detours_add_ranges(const struct image *image, const region_vec *regions, const char *name,
		       taddr addr, uint64_t len, region_range_vec *ranges, struct uspl_err *err)
{
	const struct region *region;
	int rc = 0;

	vec_for_each (regions, region) {
		detour_vec detours = { 0 };
		const struct uspl_detour *detour;

		if (rc || !region_is_live(region) || !overlay_holds(region, addr))
			continue;
		rc = read_detours(image, region, &detours, err);
		vec_for_each (&detours, detour)
			if (!rc && detour->addr - addr < len)
				rc = region_range_add(ranges, name, detour->code, detour->code_len,
						      err);
		vec_release(&detours);
	}
	return rc;
}
