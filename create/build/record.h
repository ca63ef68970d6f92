/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record.h - what the compiler wrapper noted (create/wrapper/record_write.h is the format) */
#ifndef USPL_CREATE_BUILD_RECORD_H
#define USPL_CREATE_BUILD_RECORD_H

#include "base/strmap.h"
#include "base/strvec.h"
#include "create/tree/tree.h"

struct uspl_err;

/* What an object holds for link-time optimisation. */
enum record_lto {
	LTO_NONE,
	LTO_FAT,  /* the compiler's own form of the source, and code beside it */
	LTO_SLIM, /* that form alone: the object has no code */
};

enum record_kind { RECORD_COMPILE, RECORD_LTO, RECORD_PARTIAL, RECORD_LINK };

/* A line of create/wrapper/record_write.h. */
struct record {
	enum record_kind kind;
	char *output; /* of a compilation: the object; of link-time optimisation "PROGRAM:lto" */
	char *source; /* of a compilation; of link-time optimisation CWD/<artificial> */
	char *cwd;    /* of these two: the folder the compiler ran in */
	char *saved;  /* the copy of an object; of a program, NULL if there is none */
	char *deps;   /* of a compilation: the list of what it included; NULL if none */
	/* The compiler and its options; of a link the linker's options, NULL if there are none. */
	char *command;
	strvec inputs;
	struct strmap kept;  /* an input that may be removed -> another name of it */
	uint64_t size;       /* of the saved copy */
	enum record_lto lto; /* what the object of a compilation holds */
	bool altered;        /* another tool has changed the object since it was compiled */
	unsigned step;       /* the build that it is of: 0 is the one before the patch */
};

typedef VEC(struct record *) record_list;

/*
 * Appends a phase's record to the list. No file is an empty record; a line that isn't one is
 * refused (USPL_E_FILE).
 */
int record_read(const char *work, const char *phase, record_list *ret,
		struct uspl_err *err) uspl_must_check;
void record_release(record_list *records);
DEFINE_AUTO_RELEASE(record, record_list, record_release)
#define auto_record __attribute__((cleanup(cleanup_record_)))

typedef int (*record_visit)(const char *path, void *ctx, struct uspl_err *err);
/*
 * Calls visit for the source of a compilation and for what its list of dependencies names, until it
 * fails.
 */
int record_each_file(const struct record *record, record_visit visit, void *ctx,
		     struct uspl_err *err) uspl_must_check;
/* True if the list of dependencies of a compilation names one of the files (absolute paths). */
int record_depends(const struct record *record, const strvec *files, bool *ret,
		   struct uspl_err *err) uspl_must_check;

#endif
