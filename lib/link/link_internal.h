/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_internal.h - what the parts of the linker share
 *
 * link_layout.c and link_relocate.c are its two steps; both use link_tls.c, which uses
 * link_detour.c, which uses link_compiled.c, which uses link_threads.c, which uses
 * link_descriptor.c; both use link_caller.c and link_elf.c, and all use link.c.
 */
#ifndef USPL_LINK_LINK_INTERNAL_H
#define USPL_LINK_LINK_INTERNAL_H

#include "link/link.h"

/*
 * What the link knows of a symbol that a relocation refers to. Offsets count from the start of
 * their segment.
 */
struct link_symbol {
	bool used; /* by more than the calls that go with accesses to thread-local variables */
	bool used_by_tls;
	bool needs_stub, needs_got, needs_tls_got, needs_tls_pair, needs_descriptor;
	bool asks_caller;      /* it is called by way of the module (link_caller.c) */
	bool lent;             /* an earlier update has brought it */
	bool from_block;       /* counted from the beginning of the own module's block */
	bool keeps_descriptor; /* an access by it is of a form that can't be rewritten */
	uint64_t stub;         /* in text */
	uint64_t return_stub;  /* in text */
	uint64_t return_slots; /* in read-only data: its address, and the return place */
	uint64_t got;          /* in read-only data: its address; the stub jumps through it */
	uint64_t tls_got;      /* in read-only data: its offset from the thread pointer */
	uint64_t tls_pair;     /* in read-only data: its module and offset, for __tls_get_addr */
	uint64_t descriptor;   /* in read-only data: struct uspl_descriptor */
	uint64_t common;       /* in data: the storage of a common symbol */
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

/* What finds variables of modules without a fixed place (link_descriptor.c). */
struct link_descriptors {
	bool needed;            /* perhaps: there must be room */
	uint64_t code;          /* in text: runtime/descriptor.S */
	uint64_t own;           /* in read-only data: the descriptor of the own module's block */
	bool counts_from_block; /* the block stands for itself, not the thread pointer for it */
	uint64_t block_id;      /* the own module's number, if anything asks for it */
};

/* What was compiled where an instruction goes through a detour (link_compiled.c). */
struct link_compiled {
	bool needed;
	uint64_t notes; /* in read-only data: struct uspl_detours, and room for all */
};

/*
 * Where a section goes. Decided once, before any room is made (link_decide): the room and the bytes
 * of a section must mean the same place, whatever name and flags an update gives it.
 */
struct link_section {
	bool loaded;             /* its bytes go into the target */
	bool eh_frame;           /* call frame information, which lies in one piece */
	bool threads;            /* thread-local: in each thread's block */
	enum link_seg_kind kind; /* the segment of what isn't thread-local */
	uint64_t offset;         /* in that segment, or in the block */
};

/* A place in code where an instruction begins: what was decoded last. */
struct link_cursor {
	const struct objsec *sec;
	uint64_t insn;
};

struct link_private {
	struct link_section *secs; /* by the section's mark */
	struct link_cursor cursor;
	struct link_symbol *syms;        /* by the symbol's mark */
	VEC(struct link_detour) detours; /* once they have room: by the address of their rel */
	struct link_threads threads;
	struct link_descriptors descriptors;
	struct link_compiled compiled;
	uint32_t elf_symbols; /* in the header in front of the text (link_elf.c) */
	bool keeps_tls_calls; /* some accesses by a call are of a form that can't be rewritten */
};

/* ---- link.c ---- */

/*
 * Decides what becomes of each section. Refuses those that couldn't be loaded, or whose flags
 * contradict each other or their name (USPL_E_HOSTILE: no compiler makes them).
 */
int link_decide(struct link *link, struct uspl_err *err) uspl_must_check;
/* What was decided for a section. */
struct link_section *link_section_of(const struct link *link, const struct objsec *sec);
/* True for a section whose bytes go into the target. */
bool link_is_loaded(const struct link *link, const struct objsec *sec);
/* What the link knows of a symbol. */
struct link_symbol *link_symbol_of(const struct link *link, const struct objsym *sym);
/* A symbol as messages call it. */
const char *link_label(const struct objsym *sym);
/* True for the symbol that means the own module's block. */
bool link_is_tls_base(const struct objsym *sym);
/* True for a thread-local variable that the new code brings. */
bool link_is_fresh(const struct objsym *sym);
/*
 * True for one whose distance from the thread pointer must be asked for each time: the new code
 * brings it, or an earlier update has.
 */
bool link_is_asked_for(const struct link *link, const struct objsym *sym);
/* Rounds up to a multiple of align, a power of two. */
uint64_t link_align_up(uint64_t value, uint64_t align);
/* Makes room at the segment's end; *ret_offset counts from the segment's start. */
int link_reserve(struct link_seg *seg, uint64_t size, uint64_t align, uint64_t *ret_offset,
		 struct uspl_err *err) uspl_must_check;
/* A function of the C library that code in the target calls. USPL_E_UNRESOLVED: there is none. */
int link_find_function(const char *name, link_value_fn value, void *ctx, uint64_t *ret,
		       struct uspl_err *err) uspl_must_check;
/* An offset of a segment as an address, after link_relocate has set the base. */
taddr link_in_segment(const struct link *link, enum link_seg_kind kind, uint64_t offset);
/* Where a loaded section lies, after link_relocate has set the base. */
taddr link_section_address(const struct link *link, const struct objsec *sec);
/* A loaded section's bytes in its segment. */
uint8_t *link_section_bytes(const struct link *link, const struct objsec *sec);

/* ---- link_caller.c ---- */

/* Makes room for what calls the function by way of the module, if it looks at its caller. */
int link_place_caller(struct link *link, const struct objsym *sym,
		      struct uspl_err *err) uspl_must_check;
/* Has references to such functions mean that, once values have been asked for. */
void link_fill_callers(struct link *link);

/* ---- link_detour.c ---- */

/*
 * May a stub stand for what the relocation means, if it is out of reach? A function to be called;
 * and in call frame information of programs that aren't position independent the personality, a
 * 32-bit address. A static function is called like any place of the module; its stub is for code
 * that lies far from it.
 */
bool link_may_use_stub(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct reloc_info *info);

/* Notes the relocation if it may need a detour; its room is made afterwards. */
int link_plan_detour(struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err) uspl_must_check;
/*
 * The same for an access to a variable that is asked for, which must go through one. form: what it
 * is rewritten to, NULL for a single instruction.
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
/*
 * Sends the relocation's instruction through its detour to the symbol's value; false: it has none.
 */
bool link_take_detour(const struct link *link, const struct objrel *rel, taddr value);
/*
 * Sends it to the place at this offset of the thread's block, of this update or the one that
 * brought it.
 */
int link_take_distance(const struct link *link, const struct objrel *rel, uint64_t offset,
		       struct uspl_err *err) uspl_must_check;

/* ---- link_compiled.c ---- */

/* Makes room for notes of all instructions that may go through a detour. */
int link_place_compiled(struct link *link, struct uspl_err *err) uspl_must_check;
/* Begins the notes, once the base is set and descriptors are filled. */
void link_fill_compiled(struct link *link);
/*
 * Notes one: its bytes as they were compiled, and what its field stands for (uspl/abi.h). False:
 * there is no room for one more, as relocations overlap.
 */
bool link_note_compiled(const struct link *link, const struct detour *detour, const uint8_t *insn,
			uint64_t value);

/* ---- link_threads.c ---- */

/*
 * Lays out the thread-local variables that the new code brings, and makes room for what finds them.
 */
int link_place_threads(struct link *link, struct uspl_err *err) uspl_must_check;
/* Their code and its data, once the base is set. */
int link_fill_threads(struct link *link, link_value_fn value, void *ctx,
		      struct uspl_err *err) uspl_must_check;
/* The function that tells a distance: from the thread pointer, or from the own module's block. */
taddr link_threads_helper(const struct link *link, bool from_block);

/* ---- link_descriptor.c ---- */

/* Notes what an access to a thread-local variable may need. */
void link_plan_descriptor(struct link *link, const struct objrel *rel);
/* Makes room for all that was noted. */
int link_place_descriptors(struct link *link, struct uspl_err *err) uspl_must_check;
/* Fills it, once the base is set and values have been asked for; what follows holds after it. */
int link_fill_descriptors(struct link *link, link_value_fn value, void *ctx,
			  struct uspl_err *err) uspl_must_check;
/* True if a thread-local variable, or the block, lies at one distance from all thread pointers. */
bool link_has_place(const struct link *link, const struct objsym *sym);
/* True if local variables are counted from the own module's block, not from the thread pointer. */
bool link_counts_from_block(const struct link *link);
/* The own module's number; 0 if it isn't known. */
uint64_t link_block_id(const struct link *link);
/* The address of a symbol's descriptor. */
taddr link_descriptor(const struct link *link, const struct objsym *sym);
/* That of the own module's block; 0 if nothing may need it. */
taddr link_block_descriptor(const struct link *link);

/* ---- link_tls.c ---- */

/* True for a relocation that stands in an access to a thread-local variable by a call. */
bool link_is_tls_call(enum reloc_kind kind);
/* True for one that counts from the thread pointer or from the beginning of a module's block. */
bool link_is_tls(enum reloc_kind kind);
/*
 * Notes what such an access may need. *swallow: relocations before this offset of the section
 * belong to the access, too.
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

/* ---- link_elf.c ---- */

/* Reserves room for the ELF header, if it would tell anything. The text must be empty yet. */
int link_place_elf(struct link *link, struct uspl_err *err) uspl_must_check;
/* Writes it, if there is room for it, once the link has its address. */
void link_fill_elf(struct link *link);

#endif
