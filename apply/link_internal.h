/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_internal.h - what link.c (layout) and link_relocate.c share */
#ifndef USPL_APPLY_LINK_INTERNAL_H
#define USPL_APPLY_LINK_INTERNAL_H

#include "apply/link.h"

/*
 * What the link knows of a symbol that a relocation refers to. Offsets count from the start of
 * their segment.
 */
struct link_symbol {
	bool used;
	bool needs_stub, needs_got, needs_tls_got;
	uint64_t stub;    /* in text */
	uint64_t got;     /* in read-only data: its address; the stub jumps through it */
	uint64_t tls_got; /* in read-only data: its offset from the thread pointer */
	uint64_t common;  /* in data: the storage of a common symbol */
	taddr value;      /* what references to it mean, once asked for */
};

/* A place in code that may have to read its variable through a slot. */
struct link_detour {
	const struct objsec *sec;
	const struct objrel *rel;
	uint64_t insn; /* where its instruction begins, in sec */
	uint8_t insn_len;
	uint64_t code; /* in text: what it goes through */
	uint64_t slot; /* in read-only data: the variable's address */
};

struct link_private {
	uint64_t *sec_offset;     /* by the section's mark: its place in its segment */
	struct link_symbol *syms; /* by the symbol's mark */
	VEC(struct link_detour) detours;
};

/*
 * True for a section whose bytes go into the target. Notes describe the object file; nobody looks
 * for them in memory that isn't a program.
 */
bool link_is_loaded(const struct objsec *sec);
/*
 * May a stub stand for what the relocation means, if it is out of reach? A function to be called;
 * and in call frame information of programs that aren't position independent the personality, a
 * 32-bit address.
 */
bool link_may_use_stub(const struct objsec *sec, const struct objrel *rel,
		       const struct reloc_info *info);
/* Notes the relocation if it may need a detour; its room is made afterwards. */
int link_plan_detour(struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err) uspl_must_check;
/* Sends the relocation's instruction through its detour to the symbol's value; false: it has none. */
bool link_take_detour(const struct link *link, const struct objrel *rel, taddr value);
/* A loaded section's bytes in its segment. */
uint8_t *link_section_bytes(const struct link *link, const struct objsec *sec);
/* Where a loaded section lies, after link_relocate has set the base. */
taddr link_section_address(const struct link *link, const struct objsec *sec);

#endif
