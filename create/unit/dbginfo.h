/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dbginfo.h - what an object's debugging information (DWARF) tells: where things are declared, the
 * source line of code, and the tree of entries for callers that need more (types_changed.c)
 *
 * Nothing here fails: an object without debugging information, or with a damaged one, tells less.
 */
#ifndef USPL_CREATE_UNIT_DBGINFO_H
#define USPL_CREATE_UNIT_DBGINFO_H

#include <elfutils/libdw.h>

#include "base/buf.h"
#include "objfile/objfile.h"

struct dbginfo;

/* What compilers call the source of code that link-time optimisation has made of several. */
#define DBGINFO_GCC "<artificial>"
#define DBGINFO_LLVM "ld-temp.o"
/* Is that the name of a unit's source, whatever folder is in front? */
bool dbginfo_is_joined(const char *source);

/*
 * Opens an object's debugging information. source is the unit's path relative to the tree; it gives
 * the tree's root, relative to which places are shown. NULL: there is none.
 */
struct dbginfo *dbginfo_open(const char *path, const char *source);
void dbginfo_free(struct dbginfo *dbg);

/* An entry and the way up from it; up is NULL for a unit. */
struct die_path {
	Dwarf_Die die;
	struct die_path *up;
};

/* How a walk goes on after an entry: to its children, past them, or not at all. */
enum walk { WALK_INTO, WALK_PAST, WALK_STOP };
typedef enum walk (*walk_fn)(struct die_path *at, void *arg);

/* Calls fn for every entry, parents before children, in the order of the file. */
void dbginfo_walk(struct dbginfo *dbg, walk_fn fn, void *arg);

/*
 * Goes to the next unit and sets ret to its entry; *cu is NULL at first. False behind the last one.
 */
bool dbginfo_next_unit(struct dbginfo *dbg, Dwarf_CU **cu, Dwarf_Die *ret);
/* The file in which something is declared, as the compiler has it; NULL. Lives as long as dbg. */
const char *dbginfo_declaring_file(Dwarf_Die *die);

/* The source line of code as the compiler has counted it (lines.h); 0 if it isn't known. */
int dbginfo_line(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset);

/*
 * The compiler and its options, as the unit has them (DW_AT_producer); NULL. Lives as long as dbg.
 */
const char *dbginfo_producer(struct dbginfo *dbg);

/* The address that a place in a section has in the debugging information; false if it has none. */
bool dbginfo_address(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset,
		     Dwarf_Addr *ret);
/* Of a variable of which clang has made several, one for each member that is used: one of these. */
struct variable_part {
	Dwarf_Addr address;
	bool whole;      /* it is all of the variable */
	uint64_t offset; /* in what the source knows as the variable; of a whole one 0 */
};
/* The index-th part of a variable that lies somewhere; false if there are fewer. */
bool dbginfo_variable_part(Dwarf_Die *die, size_t index, struct variable_part *ret);
/*
 * The address of a variable that has one, of its first part if it is in several: neither automatic
 * nor optimised away nor by thread.
 */
bool dbginfo_variable_address(Dwarf_Die *die, Dwarf_Addr *ret);
/* Has each thread a variable of this entry? */
bool dbginfo_variable_by_thread(Dwarf_Die *die);
/* The entry of the function or variable of a symbol that is defined here; false if it has none. */
bool dbginfo_find(struct dbginfo *dbg, const struct objsym *sym, Dwarf_Die *ret);

/* The root of the tree with a '/' at its end, "" if it isn't known. Lives as long as dbg. */
const char *dbginfo_root(const struct dbginfo *dbg);
/* The absolute path of the source of a unit, given its entry; NULL when out of memory. */
char *dbginfo_unit_path(Dwarf_Die *unit);
/* Appends a path, relative to the tree if it lies in it. */
void dbginfo_add_path(const struct dbginfo *dbg, const char *path, struct buf *buf);
/* Appends the place of a declaration, "src/proto.c:120". False, and nothing, if it isn't known. */
bool dbginfo_add_srcloc(struct dbginfo *dbg, Dwarf_Die *die, struct buf *buf);
/* The same for the source line of code. */
bool dbginfo_add_line(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset,
		      struct buf *buf);
/* A line that code comes from, as the compiler has counted it. False: enough is known. */
typedef bool (*line_fn)(uint64_t offset, const char *path, int line, void *arg);
/* Calls fn for the lines of a section's code in the order of its instructions. */
void dbginfo_each_line(struct dbginfo *dbg, const struct objsec *sec, line_fn fn, void *arg);
/*
 * The name of the function that a piece of code has been inlined from, the innermost one; NULL if
 * it is its function's own. It lives as long as dbg.
 */
const char *dbginfo_inlined_from(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset);

#endif
