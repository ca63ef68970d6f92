// SPDX-License-Identifier: GPL-3.0-or-later
// linked_note.c - build-id and soname of what was linked

#include "create/build/linked_note.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "create/tree/build.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>

static int note_section(struct build_link *link, Elf_Data *data, struct uspl_err *err)
{
	const unsigned char *bytes = data->d_buf;
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	for (; (next = gelf_getnote(data, at, &note, &name, &desc)) > 0; at = next) {
		auto_buf struct buf hex = { 0 };

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || !note.n_descsz ||
		    memcmp(bytes + name, "GNU", 4))
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			buf_addf(&hex, "%02x", bytes[desc + i]);
		if (!strvec_has(&link->build_ids, buf_str(&hex)) &&
		    !strvec_take(&link->build_ids, buf_take(&hex)))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int dynamic_section(struct build_link *link, Elf *elf, const GElf_Shdr *header,
			   Elf_Data *data, struct uspl_err *err)
{
	GElf_Dyn entry;

	for (int i = 0; !link->soname && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL;
	     i++) {
		const char *name;

		if (entry.d_tag != DT_SONAME)
			continue;
		name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		link->soname = name ? strdup(name) : NULL;
		if (name && !link->soname)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int sections(struct build_link *link, Elf *elf, struct uspl_err *err)
{
	Elf_Scn *section = NULL;
	int rc = 0;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type != SHT_NOTE && header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		rc = header.sh_type == SHT_NOTE ? note_section(link, data, err)
						: dynamic_section(link, elf, &header, data, err);
		if (rc)
			return rc;
	}
	return 0;
}

bool linked_same_bytes(const char *a, const char *b)
{
	auto_buf struct buf one = { 0 };
	auto_buf struct buf other = { 0 };

	return !file_read(a, &one, NULL) && !file_read(b, &other, NULL) && one.len == other.len &&
	       !memcmp(buf_str(&one), buf_str(&other), one.len);
}

bool linked_is_program(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char head[EI_NIDENT + 2];

	if (fd < 0 || read(fd, head, sizeof(head)) != (ssize_t)sizeof(head))
		return false;
	return !memcmp(head, ELFMAG, SELFMAG) && (head[16] == ET_EXEC || head[16] == ET_DYN);
}

int linked_note(struct build_link *link, const char *path, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	int rc;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = elf && elf_kind(elf) == ELF_K_ELF ? sections(link, elf, err) : 0;
	elf_end(elf);
	return rc;
}
