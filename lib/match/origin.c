// SPDX-License-Identifier: GPL-3.0-or-later
// origin.c - what a program was made with, and why code made from its source may differ

#include "match/origin.h"

#include <gelf.h>
#include <string.h>

#include "base/buf.h"
#include "image/image_debug.h"
#include "image/image_elf.h"
#include "match/match_internal.h"

void origin_release(struct origin *origin)
{
	free(origin->compiler);
	free(origin->producer);
	*origin = (struct origin){ 0 };
}

/* A section's contents; NULL if there is none of the name. */
static const Elf_Data *find_section(Elf *elf, const char *wanted)
{
	size_t names = 0;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const Elf_Data *data;
		const char *name;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || strcmp(name, wanted))
			continue;
		data = elf_getdata(scn, NULL);
		return data && data->d_buf ? data : NULL;
	}
	return NULL;
}

void origin_of_image(const struct image *image, const char *unit, struct origin *ret)
{
	auto_buf struct buf compilers = { 0 };
	Elf *elf = image_elf(image);
	const Elf_Data *data;
	size_t len;

	*ret = (struct origin){ 0 };
	if (!elf)
		return;
	/* A program may hold code of several compilers, of the C library's too. */
	data = find_section(elf, ".comment");
	for (size_t at = 0; data && at < data->d_size; at += len + 1) {
		const char *text = (const char *)data->d_buf + at;

		len = strnlen(text, data->d_size - at);
		if (len)
			buf_addf(&compilers, "%s%.*s", compilers.len ? ", " : "", (int)len, text);
	}
	if (compilers.len)
		ret->compiler = buf_take(&compilers);
	ret->producer = image_producer(image, unit);
	if (ret->producer)
		return;
	/*
	 * What gcc's -frecord-gcc-switches has left, also in a stripped program: a string for all
	 * units that were compiled alike. Of several strings nothing tells which unit has which.
	 */
	data = find_section(elf, ".GCC.command.line");
	len = data ? strnlen(data->d_buf, data->d_size) : 0;
	if (len && len + 1 == data->d_size && !strncmp(data->d_buf, "GNU ", 4))
		ret->producer = strndup(data->d_buf, len);
}

/* True for options that leave the code as it is, or that uspl-create adds. */
static bool is_silent(const char *word, size_t len)
{
	static const char *const silent[] = {
		"-g",
		"-ffunction-sections",
		"-fdata-sections",
		"-ffile-prefix-map",
		"-fdebug-prefix-map",
		"-frandom-seed",
		"-frecord-gcc-switches",
	};

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		if (len >= strlen(silent[i]) && !strncmp(word, silent[i], strlen(silent[i])))
			return true;
	return false;
}

static bool has_word(const char *text, const char *word, size_t len)
{
	for (const char *at = text; (at = strstr(at, "-")); at++) {
		if (at != text && at[-1] != ' ')
			continue;
		if (!strncmp(at, word, len) && (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

/* The options of one that the other lacks. */
static void add_missing(const char *one, const char *other, struct buf *only)
{
	size_t len;

	for (const char *word = one; *word; word += len + (word[len] == ' ')) {
		len = strcspn(word, " ");
		if (*word != '-' || is_silent(word, len) || has_word(other, word, len))
			continue;
		buf_addf(only, "%s%.*s", only->len ? " " : "", (int)len, word);
	}
}

void origin_options(const char *one, const char *other, struct buf *only_one,
		    struct buf *only_other)
{
	add_missing(one, other, only_one);
	add_missing(other, one, only_other);
}

static bool explain_options(const struct match *match, const struct origin *update,
			    const struct origin *program, struct uspl_err *err)
{
	auto_buf struct buf theirs = { 0 }, ours = { 0 };

	if (!update->producer || !program->producer)
		return false;
	origin_options(program->producer, update->producer, &theirs, &ours);
	if (!theirs.len && !ours.len)
		return false;
	if (theirs.len && ours.len)
		uspl_hint(err,
			  "other options: only '%s' was compiled with '%s', only the update with "
			  "'%s'",
			  match->image->name, buf_str(&theirs), buf_str(&ours));
	else if (theirs.len)
		uspl_hint(err, "other options: only '%s' was compiled with '%s'",
			  match->image->name, buf_str(&theirs));
	else
		uspl_hint(err, "other options: only the update was compiled with '%s'",
			  buf_str(&ours));
	return true;
}

bool origin_explain(const struct match *match, const struct origin *update,
		    const struct origin *program, struct uspl_err *err)
{
	struct match_tally tally;

	if (!err || err->hint[0])
		return true;
	if (update->compiler && program->compiler && !strstr(program->compiler, update->compiler)) {
		uspl_hint(err, "another compiler: '%s' was made with '%s', the update with '%s'",
			  match->image->name, program->compiler, update->compiler);
		return true;
	}
	if (explain_options(match, update, program, err))
		return true;
	/* Where most of the code is the same, compiler and options must be, too. */
	match_count(match, &tally);
	if (2 * tally.matched >= tally.funcs && tally.matched)
		uspl_hint(err,
			  "another source, probably: %zu of the %zu functions that were compared "
			  "are in '%s'",
			  tally.matched, tally.funcs, match->image->name);
	else
		uspl_hint(
			err,
			"other options or another compiler, probably: only %zu of the %zu "
			"functions that were compared are in '%s', made with '%s'; the update was "
			"made with '%s'",
			tally.matched, tally.funcs, match->image->name,
			program->compiler ? program->compiler : "an unknown compiler",
			update->compiler ? update->compiler : "an unknown compiler");
	return false;
}
