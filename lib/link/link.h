/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link.h - from a relocatable object to bytes at an address
 *
 * A small static linker for new code: lays sections out in segments by protection, makes the GOT
 * and the stubs that calls out of reach go through, and relocates. It touches no process; the
 * values of undefined symbols come from the caller.
 */
#ifndef USPL_LINK_LINK_H
#define USPL_LINK_LINK_H

#include "link/value.h"
#include "arch/arch.h"
#include "base/cleanup.h"
#include "objfile/objfile.h"

enum link_seg_kind { LINK_TEXT, LINK_RODATA, LINK_DATA, LINK_N_SEGS };

struct link_seg {
	uint64_t offset; /* from the base, whole pages */
	uint64_t len;    /* whole pages; 0: the segment is empty */
	uint8_t *bytes;  /* len bytes */
};

struct link {
	const struct arch *arch;
	const struct objfile *obj;
	bool far; /* from the module that the code belongs to */
	struct link_seg segs[LINK_N_SEGS];
	uint64_t len; /* of all segments */
	taddr base;   /* after link_relocate */
	/* Offset of the call frame information in the rodata segment; length 0 if there is none. */
	uint64_t eh_frame, eh_frame_len;
	/*
	 * So much of the text, in front, is an ELF header (link_elf.c); 0: there is none. Versions
	 * of uspl up to 2026-11-26 made none, and sections lie as much before.
	 */
	uint64_t elf_len;
	taddr detours; /* struct uspl_detours in the read-only data; 0: no code goes through any */
	/*
	 * The new code brings thread-local variables: it finds each thread's by a key of
	 * pthread_setspecific, which the caller makes.
	 */
	bool has_threads;
	/*
	 * A function that the new code calls, and that looks which module it returns to (dlsym);
	 * NULL: there is none. Then return_place is the caller's to set before link_relocate: an
	 * address of that module's code, by image_return_place.
	 */
	const char *asks_caller;
	taddr return_place;
	struct {
		taddr key_addr; /* of a region's thread_key; the caller's, before link_relocate */
		taddr get;      /* pthread_getspecific, */
		taddr create;   /* pthread_key_create, */
		taddr scratch;  /* where it may put the key, */
		taddr leave;    /* and the key's destructor */
	} threads;
	void *priv;
};

/*
 * Asked once for each symbol that needs a value from outside: one that obj doesn't define, or one
 * that the caller wants to direct elsewhere. `redirected` is true for a symbol that obj does
 * define: *ret_value is then preset to its address in the new code, and the caller may leave it.
 * Fails with a message that names the symbol.
 */
typedef int (*link_value_fn)(void *ctx, const struct objsym *sym, bool redirected,
			     struct symbol_value *ret_value, struct uspl_err *err);

/* What the caller knows before there are addresses. */
struct link_wish {
	bool far; /* the code will lie out of reach of all that obj doesn't define */
	/*
	 * True for a thread-local variable that an earlier update has brought: its place is asked
	 * for by that update's functions. NULL: there are none.
	 */
	bool (*lent)(void *ctx, const struct objsym *sym);
	void *ctx;
};

/*
 * Lays out all SHF_ALLOC sections of obj, with room for everything that helps to reach what it
 * refers to. wish: NULL: near, and nothing is lent. Refuses sections and relocations that it
 * doesn't know (USPL_E_UNSUPPORTED, naming both). obj must outlive the link.
 */
int link_layout(const struct objfile *obj, const struct arch *arch, const struct link_wish *wish,
		struct link **ret, struct uspl_err *err) uspl_must_check;
/*
 * Relocates everything for base (whole pages). May be called once. USPL_E_OUT_OF_REACH names the
 * symbol that is too far.
 */
int link_relocate(struct link *link, taddr base, link_value_fn value, void *ctx,
		  struct uspl_err *err) uspl_must_check;
/*
 * In place of link_relocate, for a link that was made before: its segments lie there. Where
 * sections lie in their segments doesn't depend on what link_layout was told besides obj.
 */
void link_lies_at(struct link *link, const taddr segs[LINK_N_SEGS]);
/* The address of a symbol that obj defines, after link_relocate or link_lies_at. */
taddr link_address(const struct link *link, const struct objsym *sym);
void link_free(struct link *link);
DEFINE_AUTO_FREE(link, struct link, link_free)
#define auto_link __attribute__((cleanup(cleanup_link_)))

#endif
