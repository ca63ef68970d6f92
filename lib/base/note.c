// SPDX-License-Identifier: GPL-3.0-or-later
// note.c - ELF notes

#include "base/note.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Of a file: notes are a few hundred bytes. */
#define SEGMENTS_MAX 64
#define NOTES_MAX 65536

bool note_next(const uint8_t *notes, size_t len, uint64_t align, size_t *at, struct note *ret)
{
	size_t mask = align == 8 ? 7 : 3, name, desc;
	Elf64_Nhdr head;

	if (*at > len || len - *at < sizeof(head))
		return false;
	memcpy(&head, notes + *at, sizeof(head));
	name = *at + sizeof(head);
	if (head.n_namesz > len - name)
		return false;
	desc = (name + head.n_namesz + mask) & ~mask;
	if (desc > len || head.n_descsz > len - desc)
		return false;
	ret->type = head.n_type;
	ret->owner = (const char *)notes + name;
	ret->owner_len = head.n_namesz;
	ret->desc = notes + desc;
	ret->desc_len = head.n_descsz;
	*at = (desc + head.n_descsz + mask) & ~mask;
	return true;
}

bool note_is(const struct note *note, const char *owner, uint32_t type)
{
	return note->type == type && note->owner_len == strlen(owner) + 1 &&
	       !memcmp(note->owner, owner, note->owner_len);
}

char *note_build_id(const uint8_t *notes, size_t len, uint64_t align)
{
	struct note note;
	size_t at = 0;
	char *hex;

	do {
		if (!note_next(notes, len, align, &at, &note))
			return NULL;
	} while (!note_is(&note, "GNU", NT_GNU_BUILD_ID) || !note.desc_len);
	hex = malloc(2 * note.desc_len + 1);
	for (size_t i = 0; hex && i < note.desc_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", note.desc[i]);
	return hex;
}

char *note_read_build_id(int fd)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t n;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(*segments))
		return NULL;
	n = header.e_phnum < SEGMENTS_MAX ? header.e_phnum : SEGMENTS_MAX;
	if (header.e_phoff > INT64_MAX ||
	    pread(fd, segments, n * sizeof(*segments), (off_t)header.e_phoff) !=
		    (ssize_t)(n * sizeof(*segments)))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *segment = &segments[i];
		auto_free uint8_t *notes = NULL;
		char *id;

		if (segment->p_type != PT_NOTE || segment->p_filesz > NOTES_MAX ||
		    segment->p_offset > INT64_MAX)
			continue;
		notes = malloc(segment->p_filesz + 1);
		if (!notes || pread(fd, notes, segment->p_filesz, (off_t)segment->p_offset) !=
				      (ssize_t)segment->p_filesz)
			continue;
		id = note_build_id(notes, segment->p_filesz, segment->p_align);
		if (id)
			return id;
	}
	return NULL;
}
