// SPDX-License-Identifier: GPL-3.0-or-later
// starts.c - where functions begin, by a program's call frame information
/*
 * .eh_frame_hdr (Linux Standard Base, "Exception Frame Header") holds a table with one entry for each
 * function, sorted by address, which unwinders search. Every linker writes it in the same form:
 *
 *     u8 version = 1, u8 encodings of the three fields that follow
 *     i32 distance to .eh_frame
 *     u32 number of entries
 *     { i32 start of the function, i32 its frame description } ..., from the header's beginning
 */

#include <string.h>

#include "match/image_elf.h"

/* DW_EH_PE_* of the form above: pcrel sdata4, udata4, datarel sdata4. */
#define ENC_FRAME 0x1b
#define ENC_COUNT 0x03
#define ENC_TABLE 0x3b
#define COUNT_MAX 4000000u

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
}

int image_add_starts(struct image *image, taddr at, struct uspl_err *err)
{
	const uint8_t *bytes = image_bytes(image, at, sizeof(struct header)), *table;
	struct header head;

	if (!bytes)
		return 0;
	memcpy(&head, bytes, sizeof(head));
	if (head.version != 1 || head.frame_enc != ENC_FRAME || head.count_enc != ENC_COUNT ||
	    head.table_enc != ENC_TABLE || head.count > COUNT_MAX)
		return 0;
	table = image_bytes(image, at + sizeof(head), head.count * sizeof(struct entry));
	for (uint32_t i = 0; table && i < head.count; i++) {
		taddr *start = vec_push(&image->starts);
		struct entry entry;

		if (!start)
			return uspl_fail_nomem(err);
		memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
		*start = at + (uint64_t)(int64_t)entry.start;
	}
	image_sort_starts(image);
	return 0;
}
