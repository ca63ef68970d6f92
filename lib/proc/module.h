/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * module.h - the programs and libraries that a process maps
 *
 * Each is known by where it lies in memory: its ELF header, program headers, dynamic section and
 * build-id are read from the process, not from a file that may have been replaced on disk. The file
 * is used for its .symtab only, and only if its build-id is the one in memory.
 */
#ifndef USPL_PROC_MODULE_H
#define USPL_PROC_MODULE_H

#include <elf.h>

#include "base/cleanup.h"
#include "base/strvec.h"
#include "image/image.h"
#include "proc/proc.h"

struct module {
	char *path;          /* in the target's own view; "[vdso]" for the vdso */
	const char *name;    /* the last part of path */
	char *build_id;      /* in hex, NULL if it has none */
	char *soname;        /* DT_SONAME, NULL if none */
	uint64_t dev, inode; /* of the file, as in the maps */
	taddr start, end;    /* of all its segments, .bss included; whole pages */
	int64_t bias;        /* address in memory = address in the file + bias */
	bool is_main;        /* the executable */
	bool is_vdso;
	taddr dynamic;                /* its dynamic section, 0 if none */
	uint64_t tls_size, tls_align; /* PT_TLS; size 0 if none */
	/*
	 * It stays as long as the process: it is the program, or what that needs (DT_NEEDED), and
	 * so on. Another one may be unloaded at any moment, and something else mapped in its place:
	 * its code is only changed while the threads stand still.
	 */
	bool lasting;
	strvec needed; /* DT_NEEDED, in order */
	VEC(Elf64_Phdr) phdrs;
	struct module_tables *tables; /* of a lasting module: what dynsyms_open has read */
};

/* What belongs to a module and is made when it is asked for. */
struct module_tables {
	struct dynsyms *dynsyms;
	void (*free)(struct dynsyms *dynsyms);
};

/* All modules of the process, by address; the executable is one of them. */
int modules_read(const struct proc *proc, module_vec *ret, struct uspl_err *err) uspl_must_check;
void modules_release(module_vec *modules);
DEFINE_AUTO_RELEASE(modules, module_vec, modules_release)
#define auto_modules __attribute__((cleanup(cleanup_modules_)))
/*
 * True if its first page isn't mapped any more where it was: the program has unloaded it since the
 * modules were read. Reads the process's maps.
 */
bool module_is_gone(const struct proc *proc, const struct module *module);
/*
 * True if a failure (-code) to read or write a module's code may be for that reason: it isn't
 * lasting, and is gone, or its code wasn't there or was another one.
 */
bool module_explains(const struct proc *proc, const struct module *module, int rc);
/* The module that addr lies in, or NULL. */
const struct module *module_at(const module_vec *modules, taddr addr);
/*
 * The entries of the module's dynamic section in front of DT_NULL; *ret_n is 0 if it has none. The
 * caller frees them.
 */
int module_dynamic(const struct proc *proc, const struct module *module, Elf64_Dyn **ret,
		   size_t *ret_n, struct uspl_err *err) uspl_must_check;
/* The executable, or NULL if it isn't among them. */
const struct module *module_main(const module_vec *modules);

/*
 * Opens the file that the module was mapped from, even if it was deleted or lies in another mount
 * namespace. Returns a descriptor, or -1 if it can't be read or isn't the same build.
 */
int module_open_file(const struct proc *proc, const struct module *module);

/* The module's bytes and symbols as they are in the process now. */
int module_image(const struct proc *proc, const struct module *module, struct image **ret,
		 struct uspl_err *err) uspl_must_check;
/*
 * The same, but code is read when image_bytes asks for it: for callers that use nothing but that.
 * proc must outlive the image.
 */
int module_image_sparse(const struct proc *proc, const struct module *module, struct image **ret,
			struct uspl_err *err) uspl_must_check;

#endif
