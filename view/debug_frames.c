// SPDX-License-Identifier: GPL-3.0-or-later
// debug_frames.c - the call frame information of new code, as debuggers take it

#include "view/debug_frames.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "base/vec.h"

static const unsigned char ident[EI_NIDENT] = { ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
						ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

/* A CIE as it was written, by its place in .eh_frame. */
struct written {
	Dwarf_Off from;
	uint32_t at;
	uint8_t encoding; /* of the addresses in its FDEs, there */
	bool has_more;    /* behind these there is more, with its length */
	bool is_signal;
};

typedef VEC(struct written) written_vec;

static void add_number(struct buf *out, uint64_t value, size_t len)
{
	buf_add(out, &value, len);
}

/* Fills an entry up, and writes its length. */
static void end_entry(struct buf *out, size_t start)
{
	uint32_t len;

	/* With DW_CFA_nop, which is 0; all entries before it are whole words, too. */
	buf_align(out, 8);
	len = (uint32_t)(out->len - start - sizeof(len));
	if (!out->oom)
		memcpy(out->data + start, &len, sizeof(len));
}

/* How the FDEs of a CIE write addresses; false: it says something that isn't known here. */
static bool read_augmentation(const Dwarf_CIE *cie, struct written *ret)
{
	const uint8_t *data = cie->augmentation_data;

	ret->encoding = DW_EH_PE_absptr;
	if (!*cie->augmentation)
		return true;
	if (*cie->augmentation != 'z')
		return false;
	ret->has_more = true;
	for (const char *at = cie->augmentation + 1; *at; at++) {
		size_t left = cie->augmentation_data_size - (size_t)(data - cie->augmentation_data);

		if (*at == 'S') {
			ret->is_signal = true;
		} else if ((*at == 'R' || *at == 'L') && left) {
			if (*at == 'R')
				ret->encoding = *data;
			data++;
		} else if (*at == 'P' && left) {
			/* An encoding, and an address of 4 or 8 bytes by it. */
			size_t len = 1 + ((*data & 0x07) == DW_EH_PE_udata4 ? 4 : 8);

			if (left < len)
				return false;
			data += len;
		} else {
			return false;
		}
	}
	return true;
}

static void add_cie(const Dwarf_CIE *cie, Dwarf_Off from, written_vec *cies, struct buf *out)
{
	struct written *written, said = { .from = from, .at = (uint32_t)out->len };
	size_t start = out->len;

	if (!read_augmentation(cie, &said))
		return;
	written = vec_push(cies);
	if (!written) {
		out->oom = true;
		return;
	}
	*written = said;
	add_number(out, 0, 4);
	add_number(out, UINT32_MAX, 4);
	add_number(out, 1, 1);
	buf_add(out, said.is_signal ? "zRS" : "", said.is_signal ? 4 : 1);
	buf_add_uleb(out, cie->code_alignment_factor);
	buf_add_sleb(out, cie->data_alignment_factor);
	add_number(out, cie->return_address_register, 1);
	if (said.is_signal)
		add_number(out, 1 | DW_EH_PE_absptr << 8, 2);
	buf_add(out, cie->initial_instructions,
		(size_t)(cie->initial_instructions_end - cie->initial_instructions));
	end_entry(out, start);
}

/* Reads an address, or a length, as an encoding says; base: where its bytes are in the process. */
static bool read_encoded(const uint8_t **at, const uint8_t *end, uint8_t encoding, taddr base,
			 uint64_t *ret)
{
	uint32_t narrow;
	bool is_narrow = (encoding & 0x07) == DW_EH_PE_udata4;
	size_t len = is_narrow ? sizeof(narrow) : sizeof(*ret);

	if ((size_t)(end - *at) < len || (!is_narrow && (encoding & 0x07) != DW_EH_PE_absptr &&
					  (encoding & 0x07) != DW_EH_PE_udata8))
		return false;
	if (is_narrow) {
		memcpy(&narrow, *at, sizeof(narrow));
		*ret = encoding & DW_EH_PE_signed ? (uint64_t)(int32_t)narrow : narrow;
	} else {
		memcpy(ret, *at, sizeof(*ret));
	}
	*ret += base;
	*at += len;
	return true;
}

static void add_fde(const Dwarf_FDE *fde, const struct buf *eh_frame, taddr addr,
		    const written_vec *cies, struct buf *out)
{
	const uint8_t *at = fde->start, *first = (const uint8_t *)eh_frame->data;
	const struct written *cie, *found = NULL;
	uint64_t code, len;
	taddr base;
	size_t start = out->len;

	vec_for_each (cies, cie)
		if (cie->from == fde->CIE_pointer)
			found = cie;
	/* Either whole addresses, or distances from where they stand. */
	if (!found || (found->encoding & 0x70 & ~DW_EH_PE_pcrel) ||
	    (found->encoding & DW_EH_PE_indirect))
		return;
	base = found->encoding & DW_EH_PE_pcrel ? addr + (uint64_t)(at - first) : 0;
	if (!read_encoded(&at, fde->end, found->encoding, base, &code) ||
	    !read_encoded(&at, fde->end, found->encoding & 0x07, 0, &len))
		return;
	/* What comes next is as long as it says, and isn't for debuggers. */
	if (found->has_more) {
		uint64_t more = 0;
		unsigned int shift = 0;

		do {
			if (at == fde->end || shift > 28)
				return;
			more |= (uint64_t)(*at & 0x7f) << shift;
			shift += 7;
		} while (*at++ & 0x80);
		if (more > (uint64_t)(fde->end - at))
			return;
		at += more;
	}
	add_number(out, 0, 4);
	add_number(out, found->at, 4);
	add_number(out, code, 8);
	add_number(out, len, 8);
	if (found->is_signal)
		add_number(out, 0, 1);
	buf_add(out, at, (size_t)(fde->end - at));
	end_entry(out, start);
}

void debug_frames_add(const struct buf *eh_frame, taddr addr, struct buf *out)
{
	Elf_Data data = {
		.d_buf = eh_frame->data,
		.d_type = ELF_T_BYTE,
		.d_version = EV_CURRENT,
		.d_size = eh_frame->len,
	};
	auto_vec written_vec cies = { 0 };
	Dwarf_Off next, offset = 0;
	Dwarf_CFI_Entry entry;

	for (; dwarf_next_cfi(ident, &data, true, offset, &next, &entry) == 0; offset = next) {
		if (dwarf_cfi_cie_p(&entry))
			add_cie(&entry.cie, offset, &cies, out);
		else
			add_fde(&entry.fde, eh_frame, addr, &cies, out);
	}
}
