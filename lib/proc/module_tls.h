/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_tls.h - where a module's thread-local variables lie in each thread */
#ifndef USPL_PROC_MODULE_TLS_H
#define USPL_PROC_MODULE_TLS_H

#include "proc/module.h"

struct module_tls {
	uint64_t id;    /* the number by which __tls_get_addr knows the module; 0: not known */
	int64_t offset; /* of its block from the thread pointer; 0: no fixed one, or not known */
};

/*
 * Finds out both. A program's block is where the ABI puts it. A library's is told by glibc, as it
 * tells debuggers, or by what the dynamic linker has written into the module's own slots. What
 * can't be found out is 0.
 */
int module_tls_read(const struct proc *proc, const module_vec *modules, const struct module *module,
		    struct module_tls *ret, struct uspl_err *err) uspl_must_check;

/* Notes in a module's image what is known of its thread-local variables. */
int module_tls_note(const struct proc *proc, const module_vec *modules, const struct module *module,
		    struct image *image, struct uspl_err *err) uspl_must_check;

#endif
