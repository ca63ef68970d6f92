// SPDX-License-Identifier: GPL-3.0-or-later
// cfi.c - the call frame information of one stretch of code, for the unwinder
//
// libdw reads call frame information from ELF files only. For an .eh_frame that is only in the
// process's memory the tool makes the smallest file that has it: a header, the bytes, the section
// names, and three section headers. The section's address is the one in the process, and so is
// every address that libdw computes from it.

#include "unwind/cfi.h"

#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"

/* More than any update has. */
#define EH_FRAME_MAX (64ull << 20)

static const char section_names[] = "\0.eh_frame\0.shstrtab";

enum { SEC_NULL, SEC_EH_FRAME, SEC_NAMES, N_SECS };

struct small_file {
	Elf64_Ehdr head;
	char names[sizeof(section_names)];
	Elf64_Shdr secs[N_SECS] __attribute__((aligned(8)));
	uint8_t eh_frame[] __attribute__((aligned(8)));
};

static void describe(struct small_file *file, const struct unwind_code *code)
{
	file->head = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = arch_native()->machine,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct small_file, secs),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = N_SECS,
		.e_shstrndx = SEC_NAMES,
	};
	memcpy(file->names, section_names, sizeof(section_names));
	file->secs[SEC_EH_FRAME] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = code->eh_frame,
		.sh_offset = offsetof(struct small_file, eh_frame),
		.sh_size = code->eh_frame_len,
		.sh_addralign = 8,
	};
	file->secs[SEC_NAMES] = (Elf64_Shdr){
		.sh_name = 1 + sizeof(".eh_frame"),
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct small_file, names),
		.sh_size = sizeof(section_names),
		.sh_addralign = 1,
	};
}

int cfi_open_memory(struct cfi *cfi, const struct proc *proc, const struct unwind_code *code,
		    struct uspl_err *err)
{
	struct small_file *file;
	int rc;

	*cfi = (struct cfi){ .start = code->start, .end = code->end, .fd = -1 };
	if (code->eh_frame_len > EH_FRAME_MAX)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "an update in pid %d claims to have %llu bytes of call frame "
				 "information",
				 proc->pid, (unsigned long long)code->eh_frame_len);
	file = calloc(1, sizeof(*file) + code->eh_frame_len);
	if (!file)
		return uspl_fail_nomem(err);
	cfi->copy = (uint8_t *)file;
	describe(file, code);
	rc = proc_read(proc, code->eh_frame, file->eh_frame, code->eh_frame_len, err);
	if (rc)
		return rc;
	elf_version(EV_CURRENT);
	cfi->elf = elf_memory((char *)file, sizeof(*file) + code->eh_frame_len);
	if (cfi->elf)
		cfi->cfi = dwarf_getcfi_elf(cfi->elf);
	return 0;
}

int cfi_open_module(struct cfi *cfi, const struct proc *proc, const struct module *module,
		    struct uspl_err *err)
{
	size_t len = (size_t)(module->end - module->start);

	*cfi = (struct cfi){
		.start = module->start, .end = module->end, .bias = (uint64_t)module->bias, .fd = -1
	};
	elf_version(EV_CURRENT);
	if (module->is_vdso) {
		cfi->copy = malloc(len);
		if (!cfi->copy)
			return uspl_fail_nomem(err);
		if (proc_read_some(proc, module->start, cfi->copy, len) == len)
			cfi->elf = elf_memory((char *)cfi->copy, len);
	} else {
		cfi->fd = module_open_file(proc, module);
		if (cfi->fd >= 0)
			cfi->elf = elf_begin(cfi->fd, ELF_C_READ, NULL);
	}
	if (cfi->elf)
		cfi->cfi = dwarf_getcfi_elf(cfi->elf);
	return 0;
}

void cfi_close(struct cfi *cfi)
{
	/* The CFI of an Elf handle belongs to the caller (libdw.h). */
	dwarf_cfi_end(cfi->cfi);
	elf_end(cfi->elf);
	if (cfi->fd >= 0)
		close(cfi->fd);
	free(cfi->copy);
}
