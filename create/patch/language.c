// SPDX-License-Identifier: GPL-3.0-or-later
// language.c - is a file of a diff in a language of which no code is compared?

#include "create/patch/language.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strmap.h"
#include "create/patch/diff_read.h"

/* By the ends of names; also a word for the message. */
static const struct {
	const char *end, *language;
} languages[] = {
	{ ".go", "Go" },
	{ ".rs", "Rust" },
	{ ".d", "D" },
	{ ".di", "D" },
	{ ".f", "Fortran" },
	{ ".F", "Fortran" },
	{ ".for", "Fortran" },
	{ ".f90", "Fortran" },
	{ ".F90", "Fortran" },
	{ ".f95", "Fortran" },
	{ ".f03", "Fortran" },
	{ ".f08", "Fortran" },
	{ ".adb", "Ada" },
	{ ".ads", "Ada" },
	{ ".pas", "Pascal" },
	{ ".pp", "Pascal" },
	{ ".zig", "Zig" },
	{ ".nim", "Nim" },
	{ ".swift", "Swift" },
	{ ".hs", "Haskell" },
	{ ".ml", "OCaml" },
	{ ".cr", "Crystal" },
	{ ".vala", "Vala" },
	{ ".cu", "CUDA" },
	{ ".asm", "assembler of another form than the compiler's" },
};

static const char *language_of(const char *path)
{
	const char *end = strrchr(file_basename(path), '.');

	for (size_t i = 0; end && i < ARRAY_SIZE(languages); i++)
		if (!strcmp(end, languages[i].end))
			return languages[i].language;
	return NULL;
}

void language_say(const char *diff, struct uspl_err *err)
{
	auto_strmap struct strmap names = { 0 };
	const char *found = NULL;

	if (diff_names(diff, &names, NULL) != 0)
		return;
	/* Of several the first by name: the order in the map means nothing. */
	for (size_t i = 0; i < names.cap; i++) {
		const char *name = names.slots[i].key;

		if (name && language_of(name) && (!found || strcmp(name, found) < 0))
			found = name;
	}
	if (found)
		uspl_hint(err,
			  "'%s' is written in %s: of such a program only what is C, C++, "
			  "Objective-C or assembler can be patched",
			  file_basename(found), language_of(found));
}
