// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - moves its code to huge pages, as databases do: a copy in anonymous memory takes the
// place of the file's pages

#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

#define HUGE_PAGE (2ul << 20)

static const char *greet(void)
{
	return "hello";
}

/* Puts a copy of [start, start + len) in its place. */
static int move(char *start, size_t len, int prot)
{
	char *room = mmap(NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copy = (char *)(((uintptr_t)room + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

	if (room == MAP_FAILED)
		return -1;
	/* As far as there are huge pages; small ones will do as well here. */
	madvise(copy, len, MADV_HUGEPAGE);
	memcpy(copy, start, len);
	if (mprotect(copy, len, prot) ||
	    mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED)
		return -1;
	return 0;
}

/* The program's own segments: the first module is the program. */
static int move_code(struct dl_phdr_info *info, size_t size, void *ret)
{
	int *failed = ret;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + phdr->p_vaddr, end = start + phdr->p_memsz;

		if (phdr->p_type != PT_LOAD || (phdr->p_flags & PF_W))
			continue;
		start &= ~4095ul;
		end = (end + 4095) & ~4095ul;
		*failed |= move((char *)start, end - start,
				PROT_READ | (phdr->p_flags & PF_X ? PROT_EXEC : 0));
	}
	return 1;
}

void answer(const char *request, char *reply, size_t size)
{
	int failed = 0;

	if (!strcmp(request, "move"))
		dl_iterate_phdr(move_code, &failed);
	snprintf(reply, size, "%s, %s", failed ? "failed" : greet(), request);
}
