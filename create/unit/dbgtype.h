/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dbgtype.h - types as debugging information describes them: names, sizes, members, and whether two
 * of different builds are the same
 *
 * A type is its entry; NULL stands for void. Typedefs and qualifiers are looked through, since they
 * change nothing in memory.
 */
#ifndef USPL_CREATE_UNIT_DBGTYPE_H
#define USPL_CREATE_UNIT_DBGTYPE_H

#include <elfutils/libdw.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* What values of an old type are worth to code that takes them for the new one. */
enum type_relation {
	TYPE_SAME,  /* the same */
	TYPE_ALIKE, /* as large and of the same sort: int and unsigned, void * and char * */
	TYPE_OTHER, /* nothing */
};

/* A member of a structure; those of nameless structures in it count as its own. */
struct type_member {
	char *name;    /* with the names of the members that it is in: "in.c" */
	Dwarf_Die die; /* of the member */
	Dwarf_Die type;
	uint64_t bit;  /* where it begins, in bits from the structure's start */
	uint64_t bits; /* its size */
	bool is_bits;  /* it is a bit-field */
	bool is_inner; /* of a nameless structure or union in it */
};

typedef VEC(struct type_member) member_vec;

/* The type of a variable, member, function, pointer, array or typedef; false for void. */
bool dbgtype_of(Dwarf_Die *die, Dwarf_Die *ret);
/* What is behind typedefs and qualifiers; false for void. */
bool dbgtype_peel(Dwarf_Die *type, Dwarf_Die *ret);
/* A struct, union or class? */
bool dbgtype_is_aggregate(Dwarf_Die *type);
/* Its size in bytes; 0 if it has none. */
uint64_t dbgtype_size(Dwarf_Die *type);
/*
 * How many elements an array has in one of its dimensions, which the subrange entry describes; 0 if
 * that is left open.
 */
uint64_t dbgtype_dimension(Dwarf_Die *range);
/*
 * The alignment in bytes that the source asks for (alignas, `aligned`) for a type or one of its
 * members, which DW_AT_alignment tells; 0 if it asks for none.
 */
uint64_t dbgtype_alignment(Dwarf_Die *type);
/* That of a scalar_storage_order other than the machine's, as DWARF counts them; else 0. */
uint64_t dbgtype_endianity(Dwarf_Die *type);
/*
 * Appends a type's name without the places of lambdas in it, as clang's names of templates have
 * them: "call<(lambda at x.cc:7:9)>" is another name as soon as the line is another one.
 */
void dbgtype_add_name(const char *name, struct buf *buf);
/* Appends the type as one writes it: "struct conn *", "int [4]". */
void dbgtype_spell(Dwarf_Die *type, struct buf *buf);
/*
 * Appends "'OLD' to 'NEW'" for two that differ: what they stand for if they are written alike, and
 * if that is, too, what the difference is.
 */
void dbgtype_spell_change(Dwarf_Die *pre, Dwarf_Die *post, struct buf *buf);
/*
 * What two types have to do with each other. Structures of the same name are the same here: whether
 * their contents are the same is asked for each on its own (types_changed.h).
 */
enum type_relation dbgtype_compare(Dwarf_Die *pre, Dwarf_Die *post);
/* The same for the results and parameters of two functions. */
enum type_relation dbgtype_compare_functions(Dwarf_Die *pre, Dwarf_Die *post);
/* Appends a function's type: "int (struct conn *, int)". */
void dbgtype_spell_function(Dwarf_Die *function, struct buf *buf);

/* Appends the members of a structure to a list. */
int dbgtype_members(Dwarf_Die *type, member_vec *members, struct uspl_err *err) uspl_must_check;
/* Frees a list and its names. */
void dbgtype_members_release(member_vec *members);
/* The first member of that name, NULL if there is none. */
struct type_member *dbgtype_member(const member_vec *members, const char *name);
DEFINE_AUTO_RELEASE(members, member_vec, dbgtype_members_release)
#define auto_members __attribute__((cleanup(cleanup_members_)))

/* The value of an enumerator. */
int64_t dbgtype_value(Dwarf_Die *enumerator);

#endif
