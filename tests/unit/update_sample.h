/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update_sample.h - a small update made by hand, for the tests and fuzzers of lib/update
 *
 * Running out of memory ends the program.
 */
#ifndef USPL_TESTS_UPDATE_SAMPLE_H
#define USPL_TESTS_UPDATE_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "update/update.h"

static inline void *sample_need(void *p)
{
	if (!p)
		abort();
	return p;
}

static inline char *sample_str(const char *text)
{
	return sample_need(strdup(text));
}

/*
 * An object that defines a function, of 8 bytes that begin with `opcode`, which refers to another
 * one.
 */
static inline struct objfile *sample_object(const char *function, char opcode)
{
	const char code[8] = { opcode };
	struct objfile *obj = sample_need(objfile_new("sample"));
	struct objsec *sec = sample_need(
		objfile_add_section(obj, ".text.f", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR));
	struct objsym *sym = sample_need(objfile_add_symbol(obj, function, STT_FUNC, STB_GLOBAL));
	struct objrel *rel = sample_need(vec_push(&sec->rels));

	sec->align = 16;
	sec->size = sizeof(code);
	sec->data = sample_need(objfile_memdup(obj, code, sizeof(code)));
	sym->sec = sec;
	sym->shndx = 1;
	sym->size = sec->size;
	rel->offset = 1;
	rel->type = R_X86_64_PLT32;
	rel->addend = -4;
	rel->sym = sample_need(objfile_add_symbol(obj, "puts", STT_NOTYPE, STB_GLOBAL));
	return obj;
}

static inline void sample_function(struct update_target *target, const char *name,
				   const char *reason)
{
	struct update_function *function = sample_need(vec_push(&target->functions));

	function->name = sample_str(name);
	function->symbol = sample_str(name);
	function->unit = sample_str("src/proto.c");
	function->reason = sample_str(reason);
}

/* "It was matched ahead with /usr/bin/server, where parse is at 0x1234." */
static inline void sample_match(struct update_target *target)
{
	struct update_match *match = sample_need(vec_push(&target->matched));
	struct update_place *place = sample_need(vec_push(&match->places));

	match->build_id = sample_str("fedcba9876543210");
	match->file = sample_str("/usr/bin/server");
	place->symbol = sample_str("parse");
	place->addr = 0x1234;
}

/* An update "k3x9" with one target and one function. */
static inline struct update *sample_update(void)
{
	struct update *update = sample_need(update_new());
	struct update_target *target = sample_need(vec_push(&update->targets));

	update->id = sample_str("k3x9");
	update->description = sample_str("fix the \"parser\"");
	update->created = sample_str("2026-01-31T12:00:00Z");
	update->tool = sample_str("uspl 0.1.0");
	update->patch = sample_str("--- a/src/proto.c\n+++ b/src/proto.c\n");
	update->patch_len = strlen(update->patch);
	target->name = sample_str("server");
	target->path = sample_str("src/server");
	target->compiler = sample_str("GCC: (Debian 12.2.0-14) 12.2.0");
	*(char **)sample_need(vec_push(&target->build_ids)) = sample_str("0123456789abcdef");
	sample_function(target, "parse", "changed");
	sample_match(target);
	target->new_code = sample_object("parse", '\xe8');
	target->pre_code = sample_object("parse", '\xe9');
	return update;
}

#endif
