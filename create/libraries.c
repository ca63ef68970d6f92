// SPDX-License-Identifier: GPL-3.0-or-later
// libraries.c - the libraries that a program's file names, as far as they are on this machine

#include "create/libraries.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>

#include "base/file.h"
#include "base/strmap.h"
#include "create/tree/build.h"

/* Debian's folders come first, then those that the dynamic linker was built with elsewhere. */
static const char *const folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

/* Position independent programs say so, since otherwise they look like libraries. */
static bool says_program(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Dyn dyn;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_DYNAMIC)
			data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
			if (dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE))
				return true;
	}
	return false;
}

bool libraries_is_one(const struct image_file *file)
{
	Elf *elf = image_elf(file->image);
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t n = 0;

	if (file->soname)
		return true;
	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_type != ET_DYN ||
	    elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_INTERP)
			return false;
	return !says_program(elf);
}

struct search {
	const struct build *build;
	const char *name; /* one with a version behind it is taken for its name */
	size_t name_len;
	struct strmap seen;     /* sonames */
	VEC(const char *) todo; /* keys of seen */
	bool found, unknown;
};

/* What a section of dynamic symbols or of needs says. */
static int look_at(struct search *search, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr,
		   struct uspl_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *text;
	GElf_Sym sym;
	GElf_Dyn dyn;
	char **slot;

	for (int i = 1; shdr->sh_type == SHT_DYNSYM && data && gelf_getsym(data, i, &sym); i++) {
		text = elf_strptr(elf, shdr->sh_link, sym.st_name);
		search->found |= sym.st_shndx != SHN_UNDEF && text &&
				 strlen(text) == search->name_len &&
				 !memcmp(text, search->name, search->name_len);
	}
	for (int i = 0; shdr->sh_type == SHT_DYNAMIC && data && gelf_getdyn(data, i, &dyn) &&
			dyn.d_tag != DT_NULL;
	     i++) {
		text = elf_strptr(elf, shdr->sh_link, dyn.d_un.d_val);
		if (dyn.d_tag != DT_NEEDED || !text || strmap_get(&search->seen, text))
			continue;
		slot = (char **)vec_push(&search->todo);
		if (!slot || !strmap_set(&search->seen, text, search) || !(*slot = strdup(text)))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int look_in(struct search *search, Elf *elf, struct uspl_err *err)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int rc = 0;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr)) {
			rc = look_at(search, elf, scn, &shdr, err);
			if (rc)
				return rc;
		}
	return 0;
}

/* False if there is no such library. */
static bool look_in_file(struct search *search, const char *path, int *ret_rc, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_elf;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64;
	if (is_elf)
		*ret_rc = look_in(search, elf, err);
	elf_end(elf);
	return is_elf;
}

static int look_in_library(struct search *search, const char *soname, struct uspl_err *err)
{
	const struct build_link *link;
	bool found = false;
	int rc = 0;

	vec_for_each (&search->build->links, link)
		if (!found && link->file &&
		    !strcmp(link->soname ? link->soname : file_basename(link->path), soname))
			found = look_in_file(search, link->file, &rc, err);
	for (size_t i = 0; !found && i < ARRAY_SIZE(folders); i++) {
		auto_free char *path = file_join(folders[i], soname);

		if (!path)
			return uspl_fail_nomem(err);
		found = look_in_file(search, path, &rc, err);
	}
	search->unknown |= !found;
	return rc;
}

static int look_in_all(struct search *search, struct uspl_err *err)
{
	int rc = 0;

	/* The list grows while it is read. */
	for (size_t i = 0; !rc && !search->found && i < search->todo.n; i++)
		rc = look_in_library(search, search->todo.items[i], err);
	return rc;
}

static void search_release(struct search *search)
{
	for (size_t i = 0; i < search->todo.n; i++)
		free((char *)search->todo.items[i]);
	vec_release(&search->todo);
	strmap_release(&search->seen);
}

int libraries_needed(const char *path, const char *name, bool *ret, struct uspl_err *err)
{
	struct search search = { .name = "" };
	int rc = 0;

	*ret = false;
	if (path)
		look_in_file(&search, path, &rc, err);
	for (size_t i = 0; i < search.todo.n; i++)
		*ret |= !strncmp(search.todo.items[i], name, strlen(name));
	search_release(&search);
	return rc;
}

int libraries_have(const struct build *build, const char *path, const char *name, bool *ret,
		   struct uspl_err *err)
{
	struct search search = { .build = build, .name = name, .name_len = strlen(name) };
	int rc = 0;

	if (path)
		look_in_file(&search, path, &rc, err);
	/* The file's own names don't count. */
	search.found = false;
	if (!rc)
		rc = look_in_all(&search, err);
	*ret = search.found;
	search_release(&search);
	return rc;
}

int libraries_define(const struct build *build, const struct image_file *file, const char *name,
		     enum library_answer *ret, size_t *ret_n, struct uspl_err *err)
{
	struct search search = { .build = build, .name = name, .name_len = strcspn(name, "@") };
	Elf *elf = image_elf(file->image);
	int rc = elf ? look_in(&search, elf, err) : 0;

	if (!rc)
		rc = look_in_all(&search, err);
	*ret_n = search.todo.n;
	*ret = search.found ? LIBRARY_ONE : LIBRARY_NONE;
	if (!search.found && (search.unknown || libraries_is_one(file)))
		*ret = LIBRARY_UNKNOWN;
	search_release(&search);
	return rc;
}
