/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match_sample.h - for the unit tests of lib/match: programs, objects, and what is true of them */
#ifndef USPL_TESTS_MATCH_SAMPLE_H
#define USPL_TESTS_MATCH_SAMPLE_H

#include <stdarg.h>

#include "image/image_elf.h"
#include "match/match.h"
#include "tests/unit/compile.h"
#include "objfile/refname.h"

/* Runs a shell command; exits if it fails. */
static inline void uspl_printf(1, 2) run(const char *fmt, ...)
{
	char cmd[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd)) {
		fprintf(stderr, "failed: %s\n", cmd);
		exit(1);
	}
}

/* Exits if it can't: a test has nothing to go on with then. */
static inline struct image *image_of_file(const char *path)
{
	struct image_file file = { 0 };
	struct uspl_err err = { 0 };

	if (image_file_read(path, NULL, &file, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	free(file.build_id);
	free(file.soname);
	return file.image;
}

/* Gives local symbols the names that an update has: "match.c:twice". */
static inline struct objfile *pre_object(const char *path)
{
	struct uspl_err err = { 0 };
	struct objfile *obj = NULL;

	if (objfile_read(path, &obj, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < obj->syms.n; i++) {
		struct objsym *sym = obj->syms.items[i];
		char *name;

		if (sym->bind != STB_LOCAL || sym->type == STT_SECTION || !sym->file)
			continue;
		name = refname_local(sym->file, sym->name);
		sym->name = objfile_strdup(obj, name);
		free(name);
	}
	return obj;
}

/* The program's own symbol for a refname; tells twins apart by their file. */
static inline const struct image_sym *truth(const struct image *image, const char *refname)
{
	const struct image_sym *sym;

	vec_for_each (&image->syms, sym) {
		if (strcmp(sym->name, refname_symbol(refname)))
			continue;
		if (!refname_is_local(refname) ||
		    (sym->file && refname_in_file(refname, sym->file)))
			return sym;
	}
	return NULL;
}

#endif
