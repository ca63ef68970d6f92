/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cfi.h - the call frame information of one stretch of code, for the unwinder */
#ifndef USPL_UNWIND_CFI_H
#define USPL_UNWIND_CFI_H

#include <elfutils/libdw.h>

#include "unwind/unwind.h"

struct cfi {
	taddr start, end; /* of the code */
	uint64_t bias;    /* address in the process = address for cfi + bias */
	Dwarf_CFI *cfi;   /* NULL: there is none */
	/* What cfi reads from. */
	int fd;
	uint8_t *copy;
	Elf *elf;
};

/* That of a module: from its file, or from memory for the vdso. To be closed in any case. */
int cfi_open_module(struct cfi *cfi, const struct proc *proc, const struct module *module,
		    struct uspl_err *err) uspl_must_check;
/* That of code which no file describes: from an .eh_frame in the process's memory. */
int cfi_open_memory(struct cfi *cfi, const struct proc *proc, const struct unwind_code *code,
		    struct uspl_err *err) uspl_must_check;
void cfi_close(struct cfi *cfi);

#endif
