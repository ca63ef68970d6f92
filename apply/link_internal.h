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
	bool used; /* by more than the calls that go with accesses to thread-local variables */
	bool used_by_tls;
	bool needs_stub, needs_got, needs_tls_got, needs_tls_pair;
	uint64_t stub;     /* in text */
	uint64_t got;      /* in read-only data: its address; the stub jumps through it */
	uint64_t tls_got;  /* in read-only data: its offset from the thread pointer */
	uint64_t tls_pair; /* in read-only data: its module and offset, for __tls_get_addr */
	uint64_t common;   /* in data: the storage of a common symbol */
	struct symbol_value value; /* what references to it mean, once asked for */
};

/* An instruction that may have to go through a detour. */
struct link_detour {
	enum detour_kind kind;
	const struct objsec *sec;
	const struct objrel *rel;
	uint64_t insn; /* where it begins, in sec */
	uint8_t insn_len;
	uint8_t field; /* of the relocation, in the instruction */
	uint64_t code; /* in text: what it goes through */
	uint64_t slot; /* in read-only data: the variable's address */
};

/* Thread-local variables that the new code brings (link_threads.c). */
struct link_threads {
	uint64_t size;     /* of a thread's block */
	uint64_t init_len; /* how much of it has an initial value */
	uint64_t init;     /* in read-only data: these values */
	uint64_t control;  /* in read-only data: struct uspl_threads */
	uint64_t code;     /* in text: runtime/threads.S */
	uint64_t key;      /* in data: room for a pthread_key_t */
};

struct link_private {
	/* By the section's mark: its place in its segment; a thread-local one's in the block. */
	uint64_t *sec_offset;
	struct link_symbol *syms; /* by the symbol's mark */
	VEC(struct link_detour) detours;
	struct link_threads threads;
	bool moves_tls_base;  /* the thread pointer stands for the own module's block */
	bool keeps_tls_calls; /* some accesses by a call are of a form that can't be rewritten */
};

/*
 * True for a section whose bytes go into the target. Notes describe the object file; nobody looks
 * for them in memory that isn't a program.
 */
bool link_is_loaded(const struct objsec *sec);
/*
 * May a stub stand for what the relocation means, if it is out of reach? A function to be called;
 * and in call frame information of programs that aren't position independent the personality, a
 * 32-bit address. A static function is called like any place of the module; its stub is for code
 * that lies far from it.
 */
bool link_may_use_stub(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct reloc_info *info);
/* True if the relocation is the distance in a direct call or jump. */
bool link_is_branch(const struct link *link, const struct objsec *sec, const struct objrel *rel);
/* Makes room at the segment's end; *ret_offset counts from the segment's start. */
int link_reserve(struct link_seg *seg, uint64_t size, uint64_t align, uint64_t *ret_offset,
		 struct uspl_err *err) uspl_must_check;

/* Notes the relocation if it may need a detour; its room is made afterwards. */
int link_plan_detour(struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err) uspl_must_check;
/*
 * The same for an access to a new thread-local variable, which must go through one. form: what it is
 * rewritten to, NULL for a single instruction.
 */
int link_plan_distance(struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct tls_form *form, struct uspl_err *err) uspl_must_check;
/*
 * Where in its section the instruction ends that the relocation stands in and that may go through a
 * detour; 0 if it is none.
 */
uint64_t link_detour_end(const struct link *link, const struct objrel *rel);
/* Makes room for all that were noted. */
int link_place_detours(struct link *link, struct uspl_err *err) uspl_must_check;
/* Sends the relocation's instruction through its detour to the symbol's value; false: it has none. */
bool link_take_detour(const struct link *link, const struct objrel *rel, taddr value);
/* Sends it to the place at this offset of the thread's block. */
int link_take_distance(const struct link *link, const struct objrel *rel, uint64_t offset,
		       struct uspl_err *err) uspl_must_check;

/* True for the symbol that means the own module's block. */
bool link_is_tls_base(const struct objsym *sym);
/* True for a thread-local variable that the new code brings. */
bool link_is_fresh(const struct objsym *sym);
/* Lays out such variables, and makes room for what finds them. */
int link_place_threads(struct link *link, struct uspl_err *err) uspl_must_check;
/* Their code and its data, once the base is set. */
int link_fill_threads(struct link *link, link_value_fn value, void *ctx,
		      struct uspl_err *err) uspl_must_check;
/* A thread-local section's initial contents. */
uint8_t *link_threads_bytes(const struct link *link, const struct objsec *sec);
/* The function that tells a distance. */
taddr link_threads_helper(const struct link *link);

/* True for a relocation that stands in an access to a thread-local variable by a call. */
bool link_is_tls_call(enum reloc_kind kind);
/* True for one that counts from the thread pointer or from the beginning of a module's block. */
bool link_is_tls(enum reloc_kind kind);
/*
 * Notes what such an access may need. *swallow: relocations before this offset of the section belong
 * to the access, too.
 */
int link_plan_tls(struct link *link, const struct objsec *sec, const struct objrel *rel,
		  uint64_t *swallow, struct uspl_err *err) uspl_must_check;
/*
 * Relocates such an access: rewrites it if the variable has a fixed place. *swallow: relocations
 * before this offset are done with it.
 */
int link_relocate_tls_call(const struct link *link, const struct objsec *sec,
			   const struct objrel *rel, uint64_t *swallow,
			   struct uspl_err *err) uspl_must_check;
/* Relocates what counts from the thread pointer or from the beginning of a module's block. */
int link_relocate_tls(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      struct uspl_err *err) uspl_must_check;
/* An offset of a segment as an address, after link_relocate has set the base. */
taddr link_in_segment(const struct link *link, enum link_seg_kind kind, uint64_t offset);
/* What the link knows of a symbol. */
struct link_symbol *link_symbol_of(const struct link *link, const struct objsym *sym);
/* A symbol as messages call it. */
const char *link_label(const struct objsym *sym);
/* A loaded section's bytes in its segment. */
uint8_t *link_section_bytes(const struct link *link, const struct objsec *sec);
/* Where a loaded section lies, after link_relocate has set the base. */
taddr link_section_address(const struct link *link, const struct objsec *sec);

#endif
