/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.h - a compilation unit while it is diffed: its two objects, and what the steps of the
 * differ note about them
 *
 * Each section has a `struct secinfo` (in objsec.priv), each symbol a `struct syminfo` (in
 * objsym.priv). unit_open fills in what the object itself tells; the later steps add to it, in
 * the order in which diff.h lists them.
 */
#ifndef USPL_CREATE_UNIT_UNIT_H
#define USPL_CREATE_UNIT_UNIT_H

#include "base/strmap.h"
#include "create/unit/leave_out.h"
#include "objfile/objfile.h"
#include "uspl/hook.h"

struct unit;
typedef VEC(struct objsym *) sym_vec;

/* What a section holds. */
enum secinfo_kind {
	SECINFO_IGNORED, /* debugging information, notes, comments: never compared, never carried */
	SECINFO_CODE,
	SECINFO_DATA,    /* variables that may be written */
	SECINFO_CONST,   /* constants with a name of the programmer's */
	SECINFO_LITERAL, /* those without: strings, numbers, jump tables, tables of the compiler */
	SECINFO_TLS,
	SECINFO_START,  /* pointers to code that runs before main or at exit */
	SECINFO_UNWIND, /* .eh_frame */
};

/* A place in a literal section that something refers to. */
struct literal_use {
	uint64_t offset;
	const struct objsec *from;
};

struct secinfo {
	struct unit *unit;
	struct side *side; /* which of the unit's two objects it lies in */
	enum secinfo_kind kind;
	struct objsym *owner; /* the function or variable that begins the section; NULL if none */
	uint64_t front; /* how many bytes of room before the function were cut off (front.c) */
	bool shared;    /* more than one function or variable lies in it (aliases aside) */
	bool opaque;    /* code that isn't all instructions */
	bool is_cold;   /* the .cold part of a function */
	struct objsec *other; /* the .cold part's function, the function's .cold part; NULL */
	/*
	 * Of code, for exceptions: what to do in it (unwind_index), and the function that reads
	 * that.
	 */
	struct objsec *lsda;
	struct objsym *personality;
	/* Of code: the notes of its markers, a chain (markers.h). */
	struct objsec *marks, *next_mark;
	/* For code, by relocation: from its place to the end of its instruction. Else NULL. */
	uint8_t *bias;
	VEC(struct literal_use) uses; /* of a literal: sorted by offset */
	const char *reason;           /* why it has to be in the update; NULL: it hasn't changed */
	bool carried;                 /* select: it goes into new.o */
	struct objsec *copy;          /* emit: its copy */
};

struct syminfo {
	struct unit *unit;
	struct side *side;
	struct objsym *twin; /* the same thing in the other build, NULL if there is none */
	const char *
		alias; /* the name that it is paired by, if that isn't its own (nameless.h); NULL */
	const char *linked;  /* its name in the program, if that is another (optimised.h); NULL */
	const char *origin;  /* the source of what was static there (optimised.h); NULL */
	const char *place;   /* that as it is shown: relative to the tree, if its root is known */
	const char *refname; /* NULL for what has no name of its own: sections, literals */
	bool changed;        /* of a variable: size or initial contents differ from the twin's */
	bool is_part;        /* of a variable that clang has made several of: a member, say */
	uint64_t part;       /* where it was in that (diff/statics.h) */
	bool counted; /* the number at the end of its name may be another one in the twin's */
	bool carried; /* select: a COMMON variable that new.o has to provide */
};

/* One of a unit's two objects. */
struct side {
	struct objfile *obj; /* never NULL: empty if the unit doesn't exist in this build */
	const char *source;  /* the unit's */
	const char *path;    /* the object's; NULL if the unit doesn't exist in this build */
	struct dbginfo *dbg; /* opened when it is asked for (srcloc.h) */
	bool dbg_asked;
	struct secinfo *secinfos;
	struct syminfo *syminfos;
};

struct unit {
	const char *source;
	struct side pre, post;
	struct nameless *nameless; /* correlate: its types without a name; NULL */
	bool optimised;            /* its code was made at the link (optimised.h) */
	bool takes_part;           /* emit: its pre code goes into pre.o */
	bool whole;                /* emit: and its variables that begin with pointers */
	bool dbg_held;             /* there are pointers into its debugging information */
};

/* A hook that the patch brings (diff/hook_list.h). */
struct diff_hook {
	enum uspl_hook_kind kind;
	unsigned int line;
	struct objsym *function; /* of a post object */
};

/* A name that the author answers for (answer.h); it lies in the unit's object. */
struct diff_answer {
	const char *name;
	unsigned int line;
	const struct unit *unit;
	bool used;
};

/* All changed units of a target, and the global symbols that they define. */
struct diff {
	struct unit *units;
	size_t n;
	const struct diff_unit *inputs; /* all of the target, those that are the same in both too */
	size_t n_inputs;
	VEC(size_t) quiet;         /* inputs that are opened when they are needed (quiet_units.h) */
	struct leave_out left_out; /* what of their objects isn't in the program */
	struct strmap pre_defs, post_defs;  /* name -> struct objsym */
	const struct update_target *target; /* what is compared: a program or a library */
	struct report *report;              /* what the user is to know */
	VEC(struct diff_hook) hooks;        /* in the order of units and lines */
	VEC(struct diff_answer) answers;
};

static inline struct secinfo *secinfo_of(const struct objsec *sec)
{
	return sec->priv;
}

static inline struct syminfo *syminfo_of(const struct objsym *sym)
{
	return sym->priv;
}

/* What the owner of a section is paired with in the other build; NULL. */
static inline struct objsym *secinfo_twin(const struct secinfo *secinfo)
{
	return secinfo->owner ? syminfo_of(secinfo->owner)->twin : NULL;
}

/* Which unit of its target it is. */
struct unit_place {
	struct leave_out *left_out;
	size_t index; /* in left_out->units */
};

/*
 * Reads both objects, without what the program doesn't have of them, and sorts their sections and
 * symbols by kind. unit is zeroed by the caller and must be released, also after a failure. in must
 * outlive it. Without a place the objects are read as they are.
 */
int unit_open(struct unit *unit, const struct diff_unit *in, const struct unit_place *place,
	      struct uspl_err *err) uspl_must_check;
/* A part of it: leaves out the room that the compiler has left in front of functions. */
int front_cut(struct side *side, struct uspl_err *err) uspl_must_check;
/* Frees what unit_open made. */
void unit_release(struct unit *unit);

/* A function (an indirect one, too) or a variable that is defined here, .cold parts aside? */
bool sym_is_function(const struct objsym *sym);
bool sym_is_variable(const struct objsym *sym);
/*
 * Made by the compiler for itself (CSWTCH.3, __func__.1, .LC7): read-only, and no code can tell one
 * copy from another.
 */
bool sym_is_compiler_made(const struct objsym *sym);
/*
 * A DW.ref.NAME of position independent C++: a pointer to NAME that only call frame information
 * and what goes with it refer to. Any copy will do, and the running program's may have no name.
 */
bool sym_is_pointer_for_tables(const struct objsym *sym);
/*
 * The function that a symbol is another name of (an alias; gcc makes f.localalias by itself, by
 * which a library calls its own f); NULL if it is none.
 */
struct objsym *sym_other_name_of(const struct objsym *sym);
/* Does a section refer to that very symbol? */
bool sec_refers_to(const struct objsec *sec, const struct objsym *sym);
/* Are the bytes of two sections that have some equal, whatever they refer to? */
bool sec_same_bytes(const struct objsec *a, const struct objsec *b);

/* The length of the name without the numbers that compilers add: "x.12" -> 1, "f.isra.0" -> 6. */
size_t name_base_len(const char *name);

/* Does the update bring code of the unit? */
bool unit_carries_code(const struct unit *unit);
/* Does an object file define a symbol of that name? */
int unit_object_defines(const char *path, const char *name, bool *ret,
			struct uspl_err *err) uspl_must_check;

/* The compiler's own words about itself (the first string of .comment), or NULL. */
const char *side_compiler(const struct side *side);

/* The name that a symbol is paired by. */
const char *sym_pair_name(const struct objsym *sym);
/*
 * Are both of the same source, or is that known of neither? Names that were static say nothing
 * across sources.
 */
bool sym_same_origin(const struct objsym *a, const struct objsym *b);
/* Makes two symbols twins. */
void sym_pair(struct objsym *pre, struct objsym *post);
/* Both functions, both variables, or both thread-local variables? */
bool sym_same_sort(const struct objsym *a, const struct objsym *b);

#endif
