/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_lines.h - the deepest stack of a thread, and how it is printed */
#ifndef USPL_TRACE_WATCH_STACK_LINES_H
#define USPL_TRACE_WATCH_STACK_LINES_H

#include "base/buf.h"
#include "base/vec.h"
#include "trace/watch/symbols.h"

/* A frame of a stack. */
struct frame {
	const struct symbol *symbol;
	taddr sp;
	bool known; /* which function it is, and so the two below */
	uint64_t offset, size;
};

/* The deepest stack of a thread. */
struct stack {
	pid_t tid;
	const struct symbol *thread;
	taddr bottom, top; /* how far it may go, and where it begins */
	taddr sp;          /* the deepest that was seen */
	taddr touched;     /* the lowest word that was used, seen or not */
	bool unlimited;    /* `bottom` is only how far we look */
	bool alarmed;
	VEC(struct frame) frames; /* innermost first */
};

/* How much of what it may have was ever used; 0 for a stack without a limit. */
double stack_percent(const struct stack *stack);
/* Appends it as ftrace prints the kernel's: depth, size and place of each frame. */
void stack_add_text(struct buf *out, const struct stack *stack);
/* Appends it as one JSON object, on a line. */
void stack_add_json(struct buf *out, const struct stack *stack);

#endif
