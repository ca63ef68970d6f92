// SPDX-License-Identifier: GPL-3.0-or-later
// image_debug.c - what the debugging information of a program tells, in its file or kept apart
//
// libdwfl knows where that may be: below /usr/lib/debug by build-id, beside the program by
// .gnu_debuglink with its checksum (root looks there only if no other user can put it there); in
// the program itself as .gnu_debugdata (compressed), or on a server if DEBUGINFOD_URLS is set. What
// it finds has the program's build-id or checksum. It also follows the link to what dwz has moved
// to a file that several programs share.

#include "image/image_debug.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "image/image_internal.h"

/* A program that is larger isn't copied: nothing is looked for beside it. */
#define COPY_MAX (1ll << 30)
#define COPY_CHUNK (256 << 10)

/*
 * More functions than the image has by its table of dynamic symbols, which libdwfl falls back to.
 */
static bool tells_more(const struct image *image, Dwfl_Module *mod, int n)
{
	const struct image_sym *have;
	size_t before = 0, now = 0;

	vec_for_each (&image->syms, have)
		before += have->type == STT_FUNC;
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;

		now += dwfl_module_getsym(mod, i, &sym, NULL) &&
		       GELF_ST_TYPE(sym.st_info) == STT_FUNC && image_wants_symbol(&sym);
	}
	return now > before;
}

/*
 * What is loaded into memory tells nothing of names and places, but for symbols, their names, notes
 * and the dynamic section. Where such a dull section ends that `at` lies in; `at` if there is none.
 */
static uint64_t dull_until(Elf *elf, uint64_t at)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
		    at < shdr.sh_offset || at - shdr.sh_offset >= shdr.sh_size)
			continue;
		switch (shdr.sh_type) {
		case SHT_PROGBITS:
		case SHT_X86_64_UNWIND:
		case SHT_RELA:
		case SHT_HASH:
		case SHT_GNU_HASH:
			return shdr.sh_offset + shdr.sh_size;
		default:
			break;
		}
	}
	return at;
}

/*
 * libdwfl maps what it is given, and others may cut short a file that a process has mapped: it gets
 * a copy in memory, with holes: those of the file, and what tells nothing. -1: there is none, as of
 * a file that is too large.
 */
static int copy_of(int fd, Elf *elf)
{
	auto_close int copy = memfd_create("uspl", MFD_CLOEXEC);
	auto_free char *chunk = malloc(COPY_CHUNK);
	struct stat st;
	off_t at = 0;
	ssize_t got;

	if (copy < 0 || !chunk || fstat(fd, &st) < 0 || st.st_size > COPY_MAX)
		return -1;
	do {
		off_t data = lseek(fd, at, SEEK_DATA);
		uint64_t dull;

		/* Nothing but a hole is left; a file system that can't tell says otherwise. */
		if (data < 0 && errno == ENXIO)
			data = st.st_size - 1;
		if (data > at)
			at = data;
		/* The last byte is no hole: the copy is to be as long. */
		while (at < st.st_size - 1 && (dull = dull_until(elf, (uint64_t)at)) > (uint64_t)at)
			at = dull < (uint64_t)st.st_size ? (off_t)dull : st.st_size - 1;
		if (lseek(copy, at, SEEK_SET) < 0)
			return -1;
		got = pread(fd, chunk, COPY_CHUNK, at);
		if (got < 0 || write(copy, chunk, (size_t)got) != got || (at += got) > COPY_MAX)
			return -1;
	} while (got);
	return fcntl(copy, F_DUPFD_CLOEXEC, 0);
}

/* True if all of the folders that lead there can be changed by root alone. */
static bool leads_through_roots(const char *path)
{
	auto_free char *folder = strndup(path, (size_t)(file_basename(path) - path));
	auto_free char *real = folder ? realpath(folder, NULL) : NULL;
	struct stat st;

	while (real) {
		/* In one with the sticky bit, like /tmp, root's own stay root's. */
		if (lstat(*real ? real : "/", &st) || st.st_uid ||
		    (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX)))
			return false;
		if (!*real || !real[1])
			return true;
		*strrchr(real, '/') = '\0';
	}
	return false;
}

/* True if the file names another that it shares debugging information with. */
static bool has_link_to_shared(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && !strcmp(name, ".gnu_debugaltlink"))
			return true;
	}
	return false;
}

/*
 * What lies beside another user's file, and the places that such a file names, may be anything: a
 * FIFO that keeps root waiting, a device. So root looks at the system's places alone then.
 */
enum trust { TRUSTED, ONLY_SYSTEM, NOTHING };

/* libdwfl's own list of folders. The empty one in front is the program's. */
#define USUAL_PLACES ":.debug:/usr/lib/debug"

/*
 * libdwfl has a copy of the program, so that it takes a file of the same name in the same folder
 * for another one and maps it, to see what it is.
 */
static int find_by_own_name(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			    const char *file, GElf_Word crc, char **ret_path)
{
	struct image_backing *backing = *data;
	char **before = backing->callbacks.debuginfo_path, *places;
	size_t len, own = (size_t)(file_basename(file) - file);
	auto_buf struct buf others = { 0 };
	int fd;

	/*
	 * All folders but the program's own. Those that aren't absolute are below that, and are
	 * written out: libdwfl would look into the one above, too.
	 */
	for (const char *place = before ? *before : USUAL_PLACES; *place;
	     place += len + (place[len] == ':')) {
		len = strcspn(place, ":");
		if (!len)
			continue;
		buf_addstr(&others, others.len ? ":" : "");
		buf_add(&others, file, *place == '/' ? 0 : own);
		buf_add(&others, place, len);
	}
	places = others.data;
	if (others.oom || !places)
		return -1;
	backing->callbacks.debuginfo_path = &places;
	fd = dwfl_standard_find_debuginfo(mod, data, name, base, file, file_basename(file), crc,
					  ret_path);
	backing->callbacks.debuginfo_path = before;
	return fd;
}

/*
 * A link is a file's name, and nothing that leads elsewhere. Without one it is the program's own
 * name, with ".debug" behind it or not, and only the build-id tells that it is the same build.
 */
static int find_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **ret_path)
{
	auto_free char *usual = NULL;
	const unsigned char *id;
	GElf_Addr where;
	int fd;

	if (link ? strchr(link, '/') != NULL : dwfl_module_build_id(mod, &id, &where) <= 0)
		return -1;
	if (link && !strcmp(link, file_basename(file)))
		return find_by_own_name(mod, data, name, base, file, crc, ret_path);
	if (!link && asprintf(&usual, "%s.debug", file_basename(file)) < 0)
		return -1;
	fd = dwfl_standard_find_debuginfo(mod, data, name, base, file, link ? link : usual, crc,
					  ret_path);
	if (fd >= 0 || link)
		return fd;
	return find_by_own_name(mod, data, name, base, file, crc, ret_path);
}

/* The program as libdwfl sees it; NULL if it doesn't. */
static Dwfl_Module *report(struct image_backing *backing, bool pristine)
{
	static const Dwfl_Callbacks standard = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = find_debuginfo,
	};
	static char places[] = "/usr/lib/debug", *system_places = places;
	enum trust trust = TRUSTED;
	const char *path = backing->path;
	Dwfl_Module *mod;
	struct stat st;
	void **data;
	int fd;

	if (!pristine && !geteuid()) {
		if (fstat(backing->fd, &st) || (st.st_uid && has_link_to_shared(backing->elf)))
			trust = NOTHING;
		else if (!leads_through_roots(path))
			trust = ONLY_SYSTEM;
	}
	fd = pristine           ? fcntl(backing->fd, F_DUPFD_CLOEXEC, 0)
	     : trust == NOTHING ? -1
				: copy_of(backing->fd, backing->elf);

	backing->callbacks = standard;
	backing->callbacks.debuginfo_path = backing->debug_path    ? &backing->debug_path
					    : trust == ONLY_SYSTEM ? &system_places
								   : NULL;
	backing->dwfl = fd < 0 ? NULL : dwfl_begin(&backing->callbacks);
	mod = backing->dwfl ? dwfl_report_elf(backing->dwfl, path, path, fd,
					      (GElf_Addr)backing->bias, true)
			    : NULL;
	if (!mod && fd >= 0)
		close(fd);
	if (!mod || dwfl_report_end(backing->dwfl, NULL, NULL) != 0 ||
	    !dwfl_module_info(mod, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	*data = backing;
	return mod;
}

Dwfl_Module *image_dwfl_module(const struct image *image)
{
	struct image_backing *backing = image_backing(image);

	if (!backing || !backing->path)
		return NULL;
	if (!backing->dwfl)
		backing->mod = report(backing, image->pristine);
	return backing->mod;
}

int image_set_debug_place(struct image *image, const char *path, int64_t bias, const char *folder,
			  struct uspl_err *err)
{
	struct image_backing *backing = image_backing(image);
	auto_free char *absolute = NULL;

	if (!backing || backing->path)
		return 0;
	backing->bias = bias;
	backing->path = strdup(path);
	if (!backing->path)
		return uspl_fail_nomem(err);
	if (!folder)
		return 0;
	/* It comes before those where libdwfl looks by itself, which takes absolute ones only. */
	absolute = realpath(folder, NULL);
	if (!absolute)
		return uspl_fail_errno(err, "cannot look into the folder '%s'", folder);
	if (asprintf(&backing->debug_path, "%s::.debug:/usr/lib/debug", absolute) < 0) {
		backing->debug_path = NULL;
		return uspl_fail_nomem(err);
	}
	return 0;
}

int image_add_debug_symbols(struct image *image, struct uspl_err *err)
{
	Dwfl_Module *mod = image_dwfl_module(image);
	const char *file = NULL;
	int n = mod ? dwfl_module_getsymtab(mod) : 0;

	if (n <= 1 || !tells_more(image, mod, n))
		return 0;
	vec_release(&image->syms);
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr addr;
		const char *name = dwfl_module_getsym_info(mod, i, &sym, &addr, NULL, NULL, NULL);

		if (name && GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = name;
		if (!image_take_symbol(image, name, &sym, addr, file))
			return uspl_fail_nomem(err);
	}
	image_sort_symbols(image);
	return 0;
}

char *image_producer(const struct image *image, const char *unit)
{
	Dwfl_Module *mod = image_dwfl_module(image);
	Dwarf_Addr bias;
	Dwarf *dwarf = mod ? dwfl_module_getdwarf(mod, &bias) : NULL;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Attribute attr;
		const char *text = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
		const char *name = dwarf_diename(&die);

		if (text && name && !strcmp(file_basename(name), file_basename(unit)))
			return strdup(text);
	}
	return NULL;
}

char *image_source(const struct image *image, taddr addr, int *ret_line)
{
	Dwfl_Module *mod = image_dwfl_module(image);
	Dwfl_Line *line = mod ? dwfl_module_getsrc(mod, addr) : NULL;
	int number = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	const char *dir = file && *file != '/' ? dwfl_line_comp_dir(line) : NULL;
	char *path = NULL;

	if (!file || number <= 0 ||
	    asprintf(&path, "%s%s%s", dir ? dir : "", dir ? "/" : "", file) < 0)
		return NULL;
	*ret_line = number;
	return path;
}

char *image_line(const struct image *image, taddr addr)
{
	int number;
	auto_free char *file = image_source(image, addr, &number);
	char *text = NULL;

	if (!file)
		return NULL;
	return asprintf(&text, "%s:%d", file_basename(file), number) < 0 ? NULL : text;
}
