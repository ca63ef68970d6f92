/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_warn.h - what uspl-create tells besides its result: warnings, and the explanation of an
 * update
 *
 * The steps of the differ only collect; the command prints.
 */
#ifndef USPL_CREATE_UNIT_REPORT_WARN_H
#define USPL_CREATE_UNIT_REPORT_WARN_H

#include "base/buf.h"
#include "base/strvec.h"
#include "create/tree/lines_map.h"
#include "create/unit/patched_lines.h"

/* A structure whose new members the compiler is to keep in a shadow variable (shadow_auto.h). */
struct shadowed_type {
	char *name; /* of `struct NAME`, or of the typedef */
	bool tagless;
	struct buf members; /* their names, with blanks */
	struct buf places;  /* where it has room for them: "new>old", with blanks; empty: nowhere */
};

struct report {
	struct patched_lines *patched; /* the source lines that change; NULL: they aren't known */
	strvec warnings;               /* one line each, in the order in which they came up */
	bool explain;                  /* fill in the explanation */
	bool adopt_data;               /* initial values may change where that is sound */
	bool debug;                    /* keep the debugging information of the new code */
	lines_map map;                 /* for that */
	char *debug_tree;              /* the tree's root, as that has it; NULL: unknown */
	struct buf explanation;        /* lines for people */
	/* What the author could write where a member is refused (vet/suggest.h). */
	bool suggest;
	const char *patch, *tree; /* for that: the diff, and the source tree before it */
	struct buf suggestion;    /* lines for people */
	/* Structures that get new members are noted where they are refused. */
	bool shadow;
	VEC(struct shadowed_type) shadowed;
};

/*
 * Adds a warning, unless it is there already; without memory for it, it is lost. Names of C++ in
 * quotes are shown as people write them.
 */
void report_warn(struct report *report, const char *fmt, ...) uspl_printf(2, 3);
/* Frees what the report holds. */
void report_release(struct report *report);
DEFINE_AUTO_RELEASE(report, struct report, report_release)
#define auto_report __attribute__((cleanup(cleanup_report_)))

#endif
