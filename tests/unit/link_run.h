/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_run.h - compiles a text, and maps and calls what was linked of it in this very process */
#ifndef USPL_TESTS_LINK_RUN_H
#define USPL_TESTS_LINK_RUN_H

#include <sys/mman.h>

#include "link/link.h"
#include "tests/unit/compile.h"

/* Far from the libraries and the program: every call to them needs a stub. */
#define FAR_BASE 0x200000000000ull

static inline struct objfile *object(const char *command, const char *text)
{
	char *path = compile_object(command, "link", text);
	struct uspl_err err = { 0 };
	struct objfile *obj = NULL;

	if (objfile_read(path, &obj, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	free(path);
	return obj;
}

/* Maps the segments where they were linked, each with its own protection. */
static inline bool load(const struct link *link)
{
	static const int prot[LINK_N_SEGS] = {
		[LINK_TEXT] = PROT_READ | PROT_EXEC,
		[LINK_RODATA] = PROT_READ,
		[LINK_DATA] = PROT_READ | PROT_WRITE,
	};

	for (int kind = 0; kind < LINK_N_SEGS; kind++) {
		const struct link_seg *seg = &link->segs[kind];
		void *at = (void *)(uintptr_t)(link->base + seg->offset);

		if (!seg->len)
			continue;
		if (mmap(at, seg->len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
			return false;
		memcpy(at, seg->bytes, seg->len);
		if (mprotect(at, seg->len, prot[kind]))
			return false;
	}
	return true;
}

static inline void *function(const struct link *link, const char *name)
{
	const struct objsym *sym = objfile_symbol(link->obj, name);

	return (void *)(uintptr_t)link_address(link, sym);
}

static inline int call(const struct link *link, const char *name, int n)
{
	return ((int (*)(int))function(link, name))(n);
}

#endif
