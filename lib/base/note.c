// SPDX-License-Identifier: GPL-3.0-or-later
// note.c - ELF notes

#include "base/note.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *to_hex(const uint8_t *bytes, size_t len)
{
	char *hex = malloc(2 * len + 1);

	for (size_t i = 0; hex && i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return hex;
}

char *note_build_id(const uint8_t *notes, size_t len, uint64_t align)
{
	size_t at = 0, mask = align == 8 ? 7 : 3;

	while (at + sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr head;
		size_t name, desc;

		memcpy(&head, notes + at, sizeof(head));
		name = at + sizeof(head);
		if (head.n_namesz > len - name)
			return NULL;
		desc = (name + head.n_namesz + mask) & ~mask;
		if (desc > len || head.n_descsz > len - desc)
			return NULL;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && head.n_descsz)
			return to_hex(notes + desc, head.n_descsz);
		at = (desc + head.n_descsz + mask) & ~mask;
	}
	return NULL;
}
