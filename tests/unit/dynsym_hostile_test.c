// SPDX-License-Identifier: GPL-3.0-or-later
// dynsym_hostile_test.c - dynamic sections that would keep the tools busy for minutes or for ever
/*
 * The library lies in this process's own memory, as a hostile one's may. What isn't bounded doesn't
 * come to an end here.
 */

#include <sys/mman.h>
#include <unistd.h>

#include "proc/dynsym.h"
#include "tests/unit/tap.h"

enum { STRINGS = 60 << 20, SYMS = 1 << 20, TABLES = 1 << 16 };

struct library {
	struct module module;
	char *map;
	Elf64_Dyn *dynamic;
	size_t n;
};

static void add(struct library *lib, int64_t tag, uint64_t value)
{
	lib->dynamic[lib->n++] = (Elf64_Dyn){ tag, { value } };
}

/* A dynamic section, 64 KiB for tables, the symbols, and the strings. */
static void library_make(struct proc *proc, struct library *lib)
{
	static char name[] = "library";
	static Elf64_Phdr phdr = { .p_type = PT_DYNAMIC, .p_memsz = PAGE };
	size_t len = PAGE + TABLES + SYMS * sizeof(Elf64_Sym) + STRINGS;

	*lib = (struct library){ 0 };
	lib->map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (lib->map == MAP_FAILED || proc_refresh_maps(proc, NULL))
		exit(1);
	lib->dynamic = (void *)lib->map;
	lib->module.start = lib->module.dynamic = (uintptr_t)lib->map;
	lib->module.end = lib->module.start + len;
	lib->module.name = lib->module.path = name;
	lib->module.lasting = true;
	lib->module.phdrs.items = &phdr;
	lib->module.phdrs.n = 1;
	add(lib, DT_STRTAB, lib->module.end - STRINGS);
	add(lib, DT_STRSZ, STRINGS);
	add(lib, DT_SYMTAB, lib->module.start + PAGE + TABLES);
}

static void library_release(struct library *lib)
{
	munmap(lib->map, lib->module.end - lib->module.start);
}

/* 32768 libraries that lead to themselves, with 65535 versions each that do so, too. */
static void test_versions(struct proc *proc)
{
	auto_dynsyms struct dynsyms *dyn = NULL;
	struct library lib;
	Elf64_Verneed *need;
	struct uspl_err err = { 0 };

	library_make(proc, &lib);
	need = (void *)(lib.map + PAGE);
	*need = (Elf64_Verneed){ .vn_cnt = 65535, .vn_aux = sizeof(*need) };
	add(&lib, DT_VERNEED, (uintptr_t)need);
	add(&lib, DT_VERNEEDNUM, 1ull << 40);
	ok(dynsyms_open(proc, &lib.module, &dyn, &err) == 0, "versions in a circle: %s", err.msg);
	library_release(&lib);
}

/* A million symbols whose names are one string of 60 MB. */
static void test_names(struct proc *proc)
{
	auto_dynsyms struct dynsyms *dyn = NULL;
	struct library lib;
	uint32_t *hash;
	struct uspl_err err = { 0 };

	library_make(proc, &lib);
	memset(lib.map + PAGE + TABLES + SYMS * sizeof(Elf64_Sym), 'n', STRINGS - 1);
	hash = (void *)(lib.map + PAGE);
	hash[1] = SYMS - 1;
	add(&lib, DT_HASH, (uintptr_t)hash);
	ok(dynsyms_open(proc, &lib.module, &dyn, &err) == 0, "a million names in one: %s", err.msg);
	ok(dyn && dyn->n_syms == SYMS - 1, "all of them are read");
	ok(dyn && !dynsyms_find(dyn, "f", NULL), "and one that isn't there isn't found");
	ok(dyn && dynsyms_bytes(dyn) > SYMS * sizeof(Elf64_Sym) + STRINGS - PAGE,
	   "it is known what they take");
	library_release(&lib);
}

int main(void)
{
	auto_proc struct proc *proc = NULL;
	struct uspl_err err = { 0 };

	/* For ever is too long. */
	alarm(300);
	if (proc_open_readonly(getpid(), &proc, &err)) {
		ok(false, "this process can be opened: %s", err.msg);
		return tap_done();
	}
	test_versions(proc);
	test_names(proc);
	return tap_done();
}
