// SPDX-License-Identifier: GPL-3.0-or-later
// image_starts.c - where functions begin, by a program's call frame information
/*
 * .eh_frame_hdr (Linux Standard Base, "Exception Frame Header") holds a table with one entry for
 * each function, sorted by address, which unwinders search. Every linker writes it in the same
 * form:
 *
 *     u8 version = 1, u8 encodings of the three fields that follow
 *     i32 distance to .eh_frame
 *     u32 number of entries
 *     { i32 start of the function, i32 its frame description } ..., from the header's beginning
 *
 * A frame description, and the common record that it refers to, in the usual form (numbers of one
 * byte: they are uleb128, and small):
 *
 *     u32 length of what follows, u32 distance back to the common record
 *     i32 start, u32 size, u8 length of the augmentation, the augmentation, instructions
 *
 *     u32 length of what follows, u32 0, u8 version, the augmentation's letters, 0
 *     u8 code alignment, u8 data alignment, u8 return address register
 *     u8 length of the augmentation, the augmentation, instructions
 *
 * The common record says how things are when a call has been made, and the instructions (DWARF 5,
 * 6.4.2) how that changes. If it says something else, or changes before the first byte has been
 * run, the code isn't entered by a call: it is a part that is jumped to.
 */

#include <string.h>

#include "image/image_elf.h"

/* DW_EH_PE_* of the form above: pcrel sdata4, udata4, datarel sdata4. */
#define ENC_FRAME 0x1b
#define ENC_COUNT 0x03
#define ENC_TABLE 0x3b
#define COUNT_MAX 4000000u

enum {
	REST = 16,   /* of a frame description, from the augmentation's length on */
	LETTERS = 9, /* of a common record */
	DW_CFA_nop = 0x00,
	DW_CFA_set_loc = 0x01,
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_advance_loc = 0x40, /* in the two upper bits */
	DW_CFA_upper = 0xc0,
};

/* The stack pointer is 8 below the frame, and the return address right there. */
static const uint8_t called[] = { 0x0c, 7, 8, 0x80 | 16, 1 };

struct header {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t frame;
	uint32_t count;
};

struct entry {
	int32_t start, frame;
};

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void image_sort_starts(struct image *image)
{
	if (image->starts.n)
		qsort(image->starts.items, image->starts.n, sizeof(taddr), by_value);
	if (image->parts.n)
		qsort(image->parts.items, image->parts.n, sizeof(taddr), by_value);
}

static bool is_as_called(const struct frame_rules *rules)
{
	const uint8_t *at = rules->own, *end = rules->common_end;

	while (end > rules->common && end[-1] == DW_CFA_nop)
		end--;
	if (rules->signal || (size_t)(end - rules->common) != sizeof(called) ||
	    memcmp(rules->common, called, sizeof(called)) != 0)
		return false;
	while (at < rules->own_end && *at == DW_CFA_nop)
		at++;
	return at >= rules->own_end || (*at & DW_CFA_upper) == DW_CFA_advance_loc ||
	       (*at >= DW_CFA_set_loc && *at <= DW_CFA_advance_loc4);
}

bool image_add_start(struct image *image, taddr start, const struct frame_rules *rules)
{
	taddr *place = vec_push(&image->starts);

	if (!place)
		return false;
	*place = start;
	if (!rules || is_as_called(rules))
		return true;
	place = vec_push(&image->parts);
	if (place)
		*place = start;
	return place != NULL;
}

/* A record with its length in front; *ret_len counts both. NULL if it can't be read. */
static const uint8_t *record_at(const struct image *image, taddr at, size_t *ret_len)
{
	const uint8_t *bytes = image_bytes(image, at, sizeof(uint32_t));
	uint32_t len;

	if (!bytes)
		return NULL;
	memcpy(&len, bytes, sizeof(len));
	*ret_len = (size_t)len + sizeof(len);
	return image_bytes(image, at, *ret_len);
}

/*
 * The instructions behind an augmentation whose length is at `at`; false if they aren't in the
 * record.
 */
static bool behind(const uint8_t *record, size_t len, size_t at, const uint8_t **ret,
		   const uint8_t **ret_end)
{
	if (at >= len || record[at] > 127 || at + 1 + record[at] > len)
		return false;
	*ret = record + at + 1 + record[at];
	*ret_end = record + len;
	return true;
}

/* Reads the frame description at an address; false if it isn't of the usual form. */
static bool read_rules(const struct image *image, taddr at, struct frame_rules *ret)
{
	size_t len, common_len, letters;
	const uint8_t *record = record_at(image, at, &len), *common;
	uint32_t back;

	if (!record || len <= REST)
		return false;
	memcpy(&back, record + sizeof(uint32_t), sizeof(back));
	common = record_at(image, at + sizeof(uint32_t) - back, &common_len);
	if (!common || common_len <= LETTERS || common[LETTERS] != 'z')
		return false;
	letters = strnlen((const char *)common + LETTERS, common_len - LETTERS);
	ret->signal = memchr(common + LETTERS, 'S', letters);
	return behind(record, len, REST, &ret->own, &ret->own_end) &&
	       behind(common, common_len, LETTERS + letters + 4, &ret->common, &ret->common_end);
}

/*
 * Reads the table's header; false if there is none of the usual form. *ret_table: its entries,
 * sorted by address.
 */
static bool read_table(const struct image *image, taddr at, struct header *ret,
		       const uint8_t **ret_table)
{
	const uint8_t *bytes = at ? image_bytes(image, at, sizeof(*ret)) : NULL;

	if (!bytes)
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	if (ret->version != 1 || ret->frame_enc != ENC_FRAME || ret->count_enc != ENC_COUNT ||
	    ret->table_enc != ENC_TABLE || !ret->count || ret->count > COUNT_MAX)
		return false;
	*ret_table = image_bytes(image, at + sizeof(*ret), ret->count * sizeof(struct entry));
	return *ret_table;
}

int image_add_starts(struct image *image, taddr at, struct uspl_err *err)
{
	const uint8_t *table;
	struct header head;

	if (!read_table(image, at, &head, &table))
		return 0;
	for (uint32_t i = 0; i < head.count; i++) {
		struct frame_rules rules;
		struct entry entry;
		bool known;

		memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
		known = read_rules(image, at + (uint64_t)(int64_t)entry.frame, &rules);
		if (!image_add_start(image, at + (uint64_t)(int64_t)entry.start,
				     known ? &rules : NULL))
			return uspl_fail_nomem(err);
	}
	image_sort_starts(image);
	return 0;
}

bool image_lacks_frame(const struct image *image, taddr addr)
{
	enum { START = 8, SIZE = 12 }; /* of a frame description */
	size_t low = 0, high;
	const uint8_t *table, *record;
	struct header head;
	struct entry entry;
	uint32_t size;

	if (!read_table(image, image->frames, &head, &table))
		return false;
	/* The last one that begins at addr or before it is the one before `high`. */
	for (high = head.count; low < high;) {
		size_t middle = low + (high - low) / 2;

		memcpy(&entry, table + middle * sizeof(entry), sizeof(entry));
		if (image->frames + (uint64_t)(int64_t)entry.start > addr)
			high = middle;
		else
			low = middle + 1;
	}
	if (!high)
		return true;
	memcpy(&entry, table + (high - 1) * sizeof(entry), sizeof(entry));
	record = image_bytes(image, image->frames + (uint64_t)(int64_t)entry.frame, START + 8);
	if (!record)
		return false;
	memcpy(&size, record + SIZE, sizeof(size));
	return addr - (image->frames + (uint64_t)(int64_t)entry.start) >= size;
}
