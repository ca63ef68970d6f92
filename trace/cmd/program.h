/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - a user's probe in C: compiled, checked, and ready to be linked into the target */
#ifndef USPL_TRACE_CMD_PROGRAM_H
#define USPL_TRACE_CMD_PROGRAM_H

#include "arch/probe_code.h"
#include "base/vec.h"
#include "objfile/objfile.h"
#include "trace/probe/marks.h"

struct program {
	struct mark_program base; /* what trace/probe wants; `link` finds the rest from it */
	struct objfile *obj;
	struct program_piece *pieces; /* of each section */
	size_t code_len;              /* as it was linked: base.entry is that of its copy */
	size_t entry;
	VEC(struct bounded_function) functions;
};

/*
 * Reads FILE.o, or compiles FILE.c first. USPL_E_BUILD: it doesn't compile. USPL_E_UNSUPPORTED,
 * naming what: it may not run in the middle of a program. program_release must follow in any case.
 */
int program_open(const char *path, struct program *ret, struct uspl_err *err) uspl_must_check;
void program_release(struct program *program);
DEFINE_AUTO_RELEASE(program, struct program, program_release)
#define auto_program __attribute__((cleanup(cleanup_program_)))

#endif
