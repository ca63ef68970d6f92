/* SPDX-License-Identifier: GPL-3.0-or-later */
/* srcloc.h - where in the source the symbols and sections of a unit come from, for messages */
#ifndef USPL_CREATE_UNIT_SRCLOC_H
#define USPL_CREATE_UNIT_SRCLOC_H

#include "create/unit/dbginfo.h"
#include "create/unit/unit.h"

/* The debugging information of an object, opened now if it wasn't yet; NULL if it has none. */
struct dbginfo *side_dbginfo(struct side *side);
/*
 * Closes a unit's debugging information, unless there are pointers into it: a large program would
 * have too much of it. It is opened again when it is asked for.
 */
void unit_close_dbginfo(struct unit *unit);

/*
 * Where a function or variable is declared, "src/proto.c:120"; the unit's source file if that isn't
 * known. The text is put into buf, which must be empty.
 */
const char *sym_srcloc(const struct objsym *sym, struct buf *buf);
/* The same for what begins a section. */
const char *sec_srcloc(const struct objsec *sec, struct buf *buf);

/*
 * Records a refusal that concerns a symbol, or what begins a section: uspl_fail with the place
 * before the sentence.
 */
int sym_refuse(const struct objsym *sym, struct uspl_err *err, enum uspl_code code, const char *fmt,
	       ...) uspl_printf(4, 5);
int sec_refuse(const struct objsec *sec, struct uspl_err *err, enum uspl_code code, const char *fmt,
	       ...) uspl_printf(4, 5);

/* What a section is called in messages: its function or variable, else its own name. */
const char *sec_title(const struct objsec *sec);
/*
 * Appends what a reference of a section means to people: the text of a string constant in quotes,
 * else the name of what is referred to.
 */
void rel_show(const struct objsec *from, const struct objrel *rel, struct buf *buf);

#endif
