// SPDX-License-Identifier: GPL-3.0-or-later
// linked.c - a program as the linker made it before the patch, and what of its objects is in it

#include "create/unit/linked.h"

#include <gelf.h>
#include <string.h>

#include "base/log.h"
#include "create/tree/build.h"

/* Symbols have the versions that they are exported in behind their names: "f@@V1". */
static int add_name(struct strmap *names, const char *name, void *value, struct uspl_err *err)
{
	size_t len = strcspn(name, "@");
	auto_free char *bare = name[len] ? strndup(name, len) : NULL;

	if (name[len] && !bare)
		return uspl_fail_nomem(err);
	return strmap_set(names, bare ? bare : name, value) ? 0 : uspl_fail_nomem(err);
}

/* Of several symbols of a name a global one is kept. */
static int note_names(struct linked *linked, struct uspl_err *err)
{
	struct image_sym *sym;

	vec_for_each (&linked->file.image->syms, sym) {
		const struct image_sym *older = strmap_get(&linked->names, sym->name);
		int rc = 0;

		linked->complete |= sym->bind == STB_LOCAL && sym->type == STT_FUNC;
		if (!older || older->bind == STB_LOCAL)
			rc = add_name(&linked->names, sym->name, sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int note_dynamic(struct linked *linked, struct uspl_err *err)
{
	Elf *elf = image_elf(linked->file.image);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_getdata(scn, NULL);

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM)
			continue;
		for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			int rc;

			if (!name || !*name)
				continue;
			rc = add_name(sym.st_shndx == SHN_UNDEF ? &linked->imports
								: &linked->exports,
				      name, linked, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int linked_open(const struct build_link *link, const char *file, const struct earlier *earlier,
		const struct update_target *target, struct linked **ret, struct uspl_err *err)
{
	auto_linked struct linked *linked = NULL;
	struct uspl_err why = { 0 };
	char *name;
	int rc;

	*ret = NULL;
	if (!file)
		return 0;
	linked = calloc(1, sizeof(*linked));
	if (!linked)
		return uspl_fail_nomem(err);
	if (image_file_read(file, NULL, &linked->file, &why)) {
		log_info("create", "'%s' as it was linked can't be looked at: %s", link->path,
			 why.msg);
		return 0;
	}
	/* Messages are to name it as the build does. */
	name = strdup(link->path);
	if (!name)
		return uspl_fail_nomem(err);
	free(linked->file.image->name);
	linked->file.image->name = name;
	linked->options = link->options;
	linked->earlier = earlier;
	linked->target = target;
	rc = note_names(linked, err);
	if (rc)
		return rc;
	rc = note_dynamic(linked, err);
	if (rc)
		return rc;
	*ret = take_ptr(linked);
	return 0;
}

void linked_free(struct linked *linked)
{
	if (!linked)
		return;
	strmap_release(&linked->names);
	strmap_release(&linked->imports);
	strmap_release(&linked->exports);
	image_file_release(&linked->file);
	free(linked);
}

bool linked_has_earlier(const struct linked *linked, const char *refname)
{
	return linked->earlier && earlier_brings(linked->earlier, linked->target, refname);
}

static bool has(const struct linked *linked, const struct objsym *sym)
{
	auto_free char *bare = strndup(sym->name, strcspn(sym->name, "@"));
	const struct image_sym *own = bare ? strmap_get(&linked->names, bare) : NULL, *other;
	const char *file = sym->bind == STB_LOCAL ? sym->file : NULL;

	if (!bare || (own && (own->bind != STB_LOCAL || sym->vis != STV_DEFAULT)))
		return true;
	if (!own)
		return false;
	/*
	 * What a version script or -Bsymbolic hides has become local; and in mold's tables all that
	 * a program doesn't export. It lies behind some file's name or none, and may be any then.
	 */
	vec_for_each (&linked->file.image->syms, other)
		if (other->bind == STB_LOCAL && !strcmp(other->name, bare) &&
		    (!other->file || !other->file[0] || !file || !strcmp(other->file, file)))
			return true;
	return false;
}

bool linked_lacks(const struct linked *linked, const struct objsym *sym, const char *refname)
{
	return linked && linked->complete && !has(linked, sym) &&
	       !linked_has_earlier(linked, refname);
}

bool linked_exports(const struct linked *linked, const char *name)
{
	return linked && strmap_get(&linked->exports, name);
}

bool linked_lacks_name(const struct linked *linked, const char *name)
{
	const struct image_sym *own = linked ? strmap_get(&linked->names, name) : NULL;

	if (!linked || !linked->complete || (own && own->bind != STB_LOCAL))
		return false;
	return !strmap_get(&linked->imports, name) && !linked_has_earlier(linked, name);
}
