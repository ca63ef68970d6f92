// SPDX-License-Identifier: GPL-3.0-or-later
// image_starts_frames.c - where functions begin, if the linker made no table of it
/*
 * Static programs have no .eh_frame_hdr: their libc finds .eh_frame itself by the addresses that
 * the linker put into its code. We find it by the file's section headers, and go through its
 * records (System V ABI for x86-64, "EH_FRAME sections"): a frame description gives its function's
 * beginning, in the encoding that its common record names. Compilers write only one,
 * DW_EH_PE_pcrel | DW_EH_PE_sdata4; what is written in another way is passed over.
 */

#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>

#include "image/image_elf.h"

#define ENC_PCREL_SDATA4 0x1b
#define ENC_SIZE_MASK 0x07

/* The section, as it lies in the image. */
struct frames {
	const uint8_t *bytes;
	size_t len;
	taddr addr;
	Elf_Data data; /* the same, for libdw */
};

static bool find_frames(const struct image *image, Elf *elf, int64_t bias, struct frames *ret)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		ret->addr = shdr.sh_addr + (uint64_t)bias;
		ret->len = shdr.sh_size;
		ret->bytes = image_bytes(image, ret->addr, ret->len);
		ret->data = (Elf_Data){ .d_buf = (void *)ret->bytes,
					.d_type = ELF_T_BYTE,
					.d_version = EV_CURRENT,
					.d_size = ret->len };
		return ret->bytes != NULL;
	}
	return false;
}

/* True if the frame descriptions of a common record begin with the usual form of an address. */
static bool is_usual(const Dwarf_CIE *cie)
{
	/* By the encoding; 0 if it isn't known. */
	static const size_t pointer_sizes[ENC_SIZE_MASK + 1] = {
		[0] = 8, [2] = 2, [3] = 4, [4] = 8
	};
	const uint8_t *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;
	const char *letter = cie->augmentation;

	if (*letter++ != 'z')
		return false;
	for (; *letter && at < end; letter++) {
		if (*letter == 'R')
			return *at == ENC_PCREL_SDATA4;
		if (*letter == 'P')
			at += pointer_sizes[*at & ENC_SIZE_MASK];
		else if (*letter != 'L')
			return false;
		at++;
	}
	return false;
}

/* The record at an offset; false at the end, or where it makes no sense. */
static bool next_record(const struct frames *frames, Dwarf_Off at, Dwarf_Off *ret_next,
			Dwarf_CFI_Entry *ret)
{
	static const unsigned char ident[EI_NIDENT] = { ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
							ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	return dwarf_next_cfi(ident, (Elf_Data *)&frames->data, true, at, ret_next, ret) == 0;
}

/* Where the function of a frame description begins, and its rules; 0 if that isn't known. */
static taddr start_of(const struct frames *frames, const Dwarf_FDE *fde,
		      struct frame_rules *ret_rules)
{
	size_t offset = (size_t)(fde->start - frames->bytes);
	/* Behind the start and the size: the augmentation. */
	const uint8_t *rest = fde->start + 2 * sizeof(int32_t);
	Dwarf_CFI_Entry common;
	Dwarf_Off next;
	int32_t distance;

	if (rest >= fde->end || rest + 1 + *rest > fde->end || fde->CIE_pointer >= frames->len ||
	    !next_record(frames, fde->CIE_pointer, &next, &common) || !dwarf_cfi_cie_p(&common) ||
	    !is_usual(&common.cie))
		return 0;
	*ret_rules = (struct frame_rules){ .common = common.cie.initial_instructions,
					   .common_end = common.cie.initial_instructions_end,
					   .own = rest + 1 + *rest,
					   .own_end = fde->end,
					   .signal = strchr(common.cie.augmentation, 'S') };
	memcpy(&distance, fde->start, sizeof(distance));
	return frames->addr + offset + (uint64_t)(int64_t)distance;
}

int image_add_frame_starts(struct image *image, Elf *elf, int64_t bias, struct uspl_err *err)
{
	struct frames frames;
	Dwarf_CFI_Entry record;
	Dwarf_Off at = 0, next;

	if (!find_frames(image, elf, bias, &frames))
		return 0;
	for (; next_record(&frames, at, &next, &record); at = next) {
		struct frame_rules rules;
		taddr start = dwarf_cfi_cie_p(&record) ? 0 : start_of(&frames, &record.fde, &rules);

		if (start && !image_add_start(image, start, &rules))
			return uspl_fail_nomem(err);
	}
	image_sort_starts(image);
	return 0;
}

void image_drop_unused_starts(struct image *image, Elf *elf, int64_t bias)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names, n;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		taddr start = shdr.sh_addr + (uint64_t)bias;

		if (!name || strcmp(name, ".bolt.org.text") != 0)
			continue;
		n = 0;
		for (size_t i = 0; i < image->starts.n; i++)
			if (image->starts.items[i] - start >= shdr.sh_size)
				image->starts.items[n++] = image->starts.items[i];
		image->starts.n = n;
	}
}
