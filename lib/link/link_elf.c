// SPDX-License-Identifier: GPL-3.0-or-later
// link_elf.c - an ELF header in front of new code, for what reads core dumps
/*
 * New code lies in no file. What makes backtraces of a core dump by libdwfl (eu-stack, and
 * systemd-coredump for the journal) looks at the beginning of each of its segments for an ELF
 * header, as that of a library has been mapped, and takes from there the call frame information and
 * the functions' names. So the text begins with one, of as much as is needed for that:
 *
 *     header | three program headers | dynamic section | .eh_frame_hdr, without a table |
 *     hash table, which tells how many symbols there are | symbols | their names
 *
 * One PT_LOAD stands for the text and the read-only data behind it, so that offsets in the "file"
 * are those from its beginning, as all addresses are. The type is none that a program or a library
 * has: what looks for modules in memory (proc/module.c) passes it over. No thread ever runs what
 * lies here.
 *
 * ELF: System V gABI, chapters 4 and 5. PT_GNU_EH_FRAME: Linux Standard Base Core, 10.6.2.
 */

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "link/link_internal.h"
#include "objfile/refname.h"

/* The header is as long as so many of these: code behind it lies in cache lines as without it. */
#define UNIT 64
/* What is told in place of a file's name. */
#define MODULE "uspl"

struct frame_header {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t frame;
};

/* The parts of fixed length. */
struct elf_head {
	Elf64_Ehdr header;
	Elf64_Phdr load, dynamic, frames;
	Elf64_Dyn tags[7];
	struct frame_header frame_header;
	uint32_t hash[]; /* one bucket; the number of symbols; the first one; n chains */
};

/* Behind the fixed parts and n chains. */
static uint64_t symbols_at(uint32_t n)
{
	return link_align_up(offsetof(struct elf_head, hash) + (3ull + n) * sizeof(uint32_t), 8);
}

static Elf64_Phdr part(uint32_t type, uint64_t offset, uint64_t len)
{
	return (Elf64_Phdr){ .p_type = type,
			     .p_flags = PF_R,
			     .p_offset = offset,
			     .p_align = 8,
			     .p_vaddr = offset,
			     .p_paddr = offset,
			     .p_filesz = len,
			     .p_memsz = len };
}

int link_place_elf(struct link *link, struct uspl_err *err)
{
	/* The first symbol, and the first name, are nothing. */
	uint64_t symbols = 1, names = 1 + sizeof(MODULE), at;
	bool has_frames = false;

	for (size_t i = 0; i < link->obj->secs.n; i++)
		has_frames |= link_section_of(link, link->obj->secs.items[i])->eh_frame;
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct objsym *sym = link->obj->syms.items[i];

		if (objsym_is_function(sym)) {
			symbols++;
			names += strlen(refname_symbol(sym->name)) + 1;
		}
		if (symbols + names > UINT32_MAX)
			return uspl_fail(err, USPL_E_HOSTILE, "the new code has names of 4 GB");
	}
	if (!has_frames || symbols == 1)
		return 0;
	((struct link_private *)link->priv)->elf_symbols = (uint32_t)symbols;
	link->elf_len = link_align_up(
		symbols_at((uint32_t)symbols) + symbols * sizeof(Elf64_Sym) + names, UNIT);
	return link_reserve(&link->segs[LINK_TEXT], link->elf_len, PAGE, &at, err);
}

static void fill_symbols(const struct link *link, uint32_t *chains, Elf64_Sym *symbols, char *names)
{
	uint32_t n = ((struct link_private *)link->priv)->elf_symbols, i = 1;
	char *name = stpcpy(names + 1, MODULE) + 1;

	for (size_t s = 0; s < link->obj->syms.n; s++) {
		const struct objsym *sym = link->obj->syms.items[s];

		if (!objsym_is_function(sym))
			continue;
		symbols[i] = (Elf64_Sym){
			.st_name = (uint32_t)(name - names),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1, /* any that is defined: there are no sections */
			.st_value = link_address(link, sym) - link_in_segment(link, LINK_TEXT, 0),
			.st_size = sym->size,
		};
		name = stpcpy(name, refname_symbol(sym->name)) + 1;
		chains[i] = i + 1 < n ? i + 1 : 0;
		i++;
	}
}

void link_fill_elf(struct link *link)
{
	uint8_t *bytes = link->segs[LINK_TEXT].bytes;
	struct elf_head *head = (struct elf_head *)bytes;
	uint32_t n = ((struct link_private *)link->priv)->elf_symbols;
	Elf64_Sym *symbols = (Elf64_Sym *)(bytes + symbols_at(n));
	char *names = (char *)(symbols + n);
	const uint64_t rodata = link->segs[LINK_RODATA].offset - link->segs[LINK_TEXT].offset;
	const uint64_t len = rodata + link->segs[LINK_RODATA].len;
	const uint64_t frames = rodata + link->eh_frame;

	memset(bytes, 0, link->elf_len);
	*head = (struct elf_head){
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_LOOS,
			.e_machine = link->arch->machine,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct elf_head, load),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
		},
		.load = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE,
			.p_filesz = len, .p_memsz = len,
		},
		.dynamic = part(PT_DYNAMIC, offsetof(struct elf_head, tags), sizeof(head->tags)),
		.frames = part(PT_GNU_EH_FRAME, offsetof(struct elf_head, frame_header),
			       sizeof(head->frame_header)),
		.tags = {
			{ DT_HASH, { offsetof(struct elf_head, hash) } },
			{ DT_SYMTAB, { symbols_at(n) } },
			{ DT_SYMENT, { sizeof(Elf64_Sym) } },
			{ DT_STRTAB, { (uint64_t)(names - (char *)bytes) } },
			{ DT_STRSZ, { link->elf_len - (uint64_t)(names - (char *)bytes) } },
			{ DT_SONAME, { 1 } },
			{ DT_NULL, { 0 } },
		},
		.frame_header = {
			.version = 1,
			.frame_enc = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
			.count_enc = DW_EH_PE_omit,
			.table_enc = DW_EH_PE_omit,
			.frame = (int32_t)(frames - offsetof(struct elf_head, frame_header.frame)),
		},
	};
	memcpy(head->hash, (const uint32_t[]){ 1, n, 1 }, 3 * sizeof(uint32_t));
	fill_symbols(link, head->hash + 3, symbols, names);
}
