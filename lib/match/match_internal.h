/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match_internal.h - what the files of lib/match share
 *
 *     match.c         the fixpoint over all funcs; the idea
 *     match_query.c   the questions that callers ask when it is done
 *     match_index.c   what is known of the pre object before anything is compared: funcs, items,
 *                     sites
 *     trial.c         one attempt to find a func at an address: notes that are taken back if it
 *                     fails
 *     code.c          instructions against instructions
 *     data.c          fields and tables
 *     trial_refer.c   what a reference teaches
 *     merged.c        strings and constants
 *     trial_fail.c    why a trial fails
 *     by_content.c    variables that no code refers to
 *     match_explain.c why a func doesn't match, in words
 */
#ifndef USPL_MATCH_MATCH_INTERNAL_H
#define USPL_MATCH_MATCH_INTERNAL_H

#include "arch/arch.h"
#include "match/match.h"

/*
 * A place in the running program that is known or not yet. For thread-local data it counts from the
 * thread pointer.
 */
struct place {
	taddr addr;
	bool known;
};

/* "The code at this offset of the func lies at addr": what a reference from elsewhere says. */
struct ref_hint {
	uint64_t off;
	taddr addr;
};

/* A relocation of code, and the instruction that it lies in. */
struct site {
	uint8_t trail; /* from the start of the field to the instruction's end, in bytes */
	uint8_t flow;  /* enum insn_flow */
};

/* Why a func doesn't match at an address. */
struct failure {
	uint64_t off;   /* in the pre code */
	taddr run_addr; /* the running code there */
	bool show_code; /* the two instructions differ; else `what` tells the reason */
	char what[192];
};

enum func_state { FUNC_OPEN, FUNC_MATCHED, FUNC_MISMATCHED, FUNC_AMBIGUOUS };

/* No instruction of the pre code begins here. */
#define MAP_NONE UINT32_MAX

/* A section of code in the pre object: a function, or its .cold part. */
struct func {
	struct match_func pub; /* addr and len are set once it is matched */
	enum func_state state;
	bool broken;        /* the pre code itself can't be decoded */
	struct site *sites; /* one for each relocation, NULL if there are none */
	uint32_t *map;    /* offset in the pre code -> offset in the running code; NULL: the same */
	VEC(taddr) named; /* where symbols of its name lie */
	size_t prefix;    /* so many bytes at its beginning are the same wherever it is */
	VEC(struct ref_hint) ref_hints;
	size_t ref_hints_tried; /* how many there were at the last attempt */
	size_t n_tried,
		n_matched;      /* places looked at in the last attempt, and how many were equal */
	taddr equal[2];         /* the first two of these */
	struct failure failure; /* of the attempt that came farthest */
};

/*
 * A span of data in the pre object that moves as one: a variable, or a constant that has no name.
 */
struct item {
	const struct objsec *sec;
	uint64_t start, end; /* offsets in sec */
	bool named;          /* its end is the symbol's, not a guess with padding */
	struct place place;  /* known for a read-only one only if it is equal there */
};

struct match {
	const struct image *image;
	const struct objfile *pre;
	const struct arch *arch;
	struct func **funcs; /* by the section's mark; NULL for a section that isn't code */
	struct item *items;  /* sorted by section and start */
	size_t n_items;
	size_t *first_item;    /* by the section's mark, one more than sections */
	struct place *addrs;   /* by the symbol's mark: symbols that pre doesn't define */
	struct place *calls;   /* by the symbol's mark: where calls to it lead */
	struct place *targets; /* by the symbol's mark: where stubs of earlier updates lead */
	const struct objsym **by_name; /* the symbols of pre with names, sorted */
	size_t n_by_name;
	const struct image_sym **run_by_name; /* the symbols of image, sorted */
	size_t n_run_by_name;
	int64_t cpu_end; /* by this thread's CPU clock: it takes too long then */
};

/* One attempt to find a func at an address. */
struct trial {
	struct match *match;
	struct func *func;
	taddr addr;
	const uint8_t *run; /* the bytes there */
	size_t run_len;     /* as far as the segment goes */
	size_t used;        /* how many of them the func takes, once compared */
	uint32_t *map;      /* see func.map; NULL while the layout is the same */
	VEC(struct ref_hint)
	own; /* references into the func itself, looked at when the map is complete */
	VEC(struct item *) pending;   /* items whose contents are to be compared */
	VEC(struct place *) noted;    /* to be forgotten if the trial fails */
	VEC(struct func *) hinted_on; /* likewise: each has one hint more */
	uint64_t at;                  /* where the comparison stands: in the pre code */
	taddr run_at;                 /* and in the running code */
	bool oom;
	struct failure failure;
};

/* What a reference in the pre object means, and where the running program's own leads. */
struct reference {
	const struct objsym *sym;
	uint64_t off; /* from sym, modulo 2^64: it may be negative */
	taddr addr;   /* what sym + off is in the running program */
	bool branch;  /* by a call or a jump: may lead through a stub */
};

/* match_index.c: fills everything that doesn't depend on comparing. */
int match_index(struct match *match, struct uspl_err *err) uspl_must_check;
/* Cuts the data into items, when the code and the names are known (match_items.c). */
int match_cut_items(struct match *match, struct uspl_err *err) uspl_must_check;
/* The item that an offset of a data section belongs to, NULL if the section has none. */
struct item *match_item_at(const struct match *match, const struct objsec *sec, int64_t off);
/* The pre object's symbol of that name, NULL if none. */
const struct objsym *match_symbol(const struct match *match, const char *refname);
/*
 * A name's length without the hash that LLVM's -flto=thin puts behind names that were static: it is
 * of the whole source's object, and another one already if only debugging information comes along.
 */
size_t match_name_len(const char *name);
/* True if references to sym mean a place in code of the pre object. */
bool match_sym_is_code(const struct objsym *sym);
/*
 * True for data that a reference is compared with by its contents alone: strings and constants that
 * linkers merge.
 */
bool match_sec_is_merged(const struct objsec *sec);

/*
 * trial.c: compares the func with the code at addr. On success the values it yields are noted;
 * trial_undo takes them back.
 */
bool trial_run(struct trial *trial, struct match *match, struct func *func, taddr addr);
/* Forgets what the trial noted. */
void trial_undo(struct trial *trial);
/* Keeps what the trial noted, and makes the func a matched one. */
void trial_commit(struct trial *trial);
/* Frees the trial's own memory. */
void trial_release(struct trial *trial);

/* trial_refer.c: notes a reference, or finds that it contradicts what is known. */
bool trial_refer(struct trial *trial, const struct reference *ref);
/* trial_refer.c: true if the code at an offset of a func lies at addr, by the func's map. */
bool trial_lands(const struct match *match, const struct match_func *func, const uint32_t *map,
		 const struct ref_hint *ref_hint);

/* trial_fail.c: records why the trial fails where it stands, in words; returns false. */
bool trial_fail(struct trial *trial, const char *fmt, ...) uspl_printf(2, 3);
/* The same when the instructions differ; they are shown when the message is made. */
bool trial_fail_code(struct trial *trial);
/* The same when data of that section, at addr in the running program, differ. */
bool trial_fail_data(struct trial *trial, const struct objsec *sec, taddr addr);
/* Records that memory ran out; returns false. */
bool trial_fail_oom(struct trial *trial);

/* code.c: the instructions of trial->func against those at trial->addr. */
bool code_compare(struct trial *trial);
/*
 * code.c: how many places where a function begins hold the func's code, but for its relocations.
 */
size_t code_count_places(const struct match *match, const struct func *func);
/* merged.c: the string or constant at sym + off against the bytes at addr. */
bool merged_compare(struct trial *trial, const struct reference *ref);
/* data.c: the contents of trial->pending, and of what these refer to. */
bool data_compare_pending(struct trial *trial);
/* data.c: true if all contents of an item whose place isn't known are at addr; then it is noted. */
bool data_lies_at(struct trial *trial, struct item *item, taddr addr);
/*
 * data.c: reads what the relocation's field holds in the running program and notes what follows
 * from it. field lies at place; trail: see struct site; branch: in a call or jump.
 */
bool data_read_field(struct trial *trial, const struct objrel *rel, const uint8_t *field,
		     taddr place, const struct site *site);
/*
 * data.c: the same for a field that isn't there: it would mean value, an address or an offset of
 * thread-local data. site: NULL for one that can't be relative to the pc.
 */
bool data_refer_meant(struct trial *trial, const struct objrel *rel, enum reloc_kind kind,
		      const struct site *site, uint64_t value);
/*
 * data.c: the same for a field of this kind that means a thread-local variable. value: the field's;
 * place: where a distance counts from.
 */
bool data_refer_tls(struct trial *trial, const struct objrel *rel, enum reloc_kind kind,
		    uint64_t value, taddr place);

/*
 * by_content.c: finds variables by what they hold, in a program that hasn't run yet. *ret_progress
 * is set if there are any.
 */
int by_content_find(struct match *match, bool *ret_progress, struct uspl_err *err) uspl_must_check;

/* match_query.c: the function of that name, NULL if pre has none. */
struct func *match_func_named(const struct match *match, const char *refname);

/* match_explain.c: the message for a func that doesn't match. */
int match_explain_piece(const struct match *match, const struct func *func, const char *name,
			struct uspl_err *err) uspl_must_check;

#endif
