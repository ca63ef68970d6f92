// SPDX-License-Identifier: GPL-3.0-or-later
// ehframe.c - where functions begin, by a module's call frame information
/*
 * .eh_frame_hdr (Linux Standard Base, "Exception Frame Header") holds a table with one entry for each
 * function, sorted by address, which unwinders search. Every linker writes it in the same form:
 *
 *     u8 version = 1, u8 encodings of the three fields that follow
 *     i32 distance to .eh_frame
 *     u32 number of entries
 *     { i32 start of the function, i32 its frame description } ..., from the header's beginning
 */

#include "proc/ehframe.h"

#include <string.h>

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

static const Elf64_Phdr *find_header(const struct module *module)
{
	const Elf64_Phdr *phdr;

	vec_for_each (&module->phdrs, phdr)
		if (phdr->p_type == PT_GNU_EH_FRAME)
			return phdr;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int ehframe_add_starts(const struct proc *proc, const struct module *module, struct image *image,
		       struct uspl_err *err)
{
	const Elf64_Phdr *phdr = find_header(module);
	auto_free int32_t *table = NULL;
	struct header head;
	taddr at;
	size_t len;

	if (!phdr)
		return 0;
	at = phdr->p_vaddr + (uint64_t)module->bias;
	if (proc_read_some(proc, at, &head, sizeof(head)) != sizeof(head) || head.version != 1 ||
	    head.frame_enc != ENC_FRAME || head.count_enc != ENC_COUNT ||
	    head.table_enc != ENC_TABLE || head.count > COUNT_MAX)
		return 0;
	len = (size_t)head.count * 2 * sizeof(*table);
	table = malloc(len + 1);
	if (!table)
		return uspl_fail_nomem(err);
	if (proc_read_some(proc, at + sizeof(head), table, len) != len)
		return 0;
	for (uint32_t i = 0; i < head.count; i++) {
		taddr *start = vec_push(&image->starts);

		if (!start)
			return uspl_fail_nomem(err);
		*start = at + (uint64_t)(int64_t)table[2 * i];
	}
	if (image->starts.n)
		qsort(image->starts.items, image->starts.n, sizeof(taddr), by_value);
	return 0;
}
