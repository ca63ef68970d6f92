/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - the command line of uspl-create */
#ifndef USPL_CREATE_OPTIONS_H
#define USPL_CREATE_OPTIONS_H

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/strvec.h"
#include "create/against.h"
#include "create/package/package.h"
#include "create/patch/series.h"
#include "create/squash.h"
#include "create/targets.h"
#include "create/tree/build.h"

enum { OPTIONS_ID_LEN = 8, OPTIONS_NUMBER_LEN = 4 };

/* What the user asked for. The strings are argv's, or those of the series. */
struct create_options {
	struct build_options build;
	const char *id, *description, *output; /* description, output: NULL if not given */
	const char *sign;                      /* a secret key's file; NULL: no signature */
	const char *fixed_in;                  /* the package's version that has it; NULL */
	int64_t created;                       /* seconds since the epoch */
	struct targets_wanted wanted;
	struct against_options against; /* programs as they were shipped */
	bool explain, suggest, dry_run, adopt_data, by_thread, debug_file;
	const char
		*shadow; /* "auto": new members become shadow variables; NULL: they are refused */
	const char *package_spec, *package_to;  /* NULL: not given */
	const char *package_series;             /* its changes one by one; NULL: its own patches */
	struct package package;                 /* what options_fetch has fetched by them */
	char *package_id, *package_description; /* what id and description point to then */
	series_patches series;
	char made_id[OPTIONS_ID_LEN + 1]; /* what id points to if none was given */
	strvec replaced;                  /* those whose place the new one takes */
	struct squash squash;             /* those that it is made of, instead of a diff */
};

/* Parses argv into options, which are zeroed before. Returns as cli_parse does. */
int options_parse(int argc, char **argv, struct create_options *options,
		  struct uspl_err *err) uspl_must_check;
void options_release(struct create_options *options);
DEFINE_AUTO_RELEASE(options, struct create_options, options_release)
#define auto_options __attribute__((cleanup(cleanup_options_)))

/*
 * Fetches the package that the options name, if they do, and takes source, patch and files from it.
 * Errors of package_fetch.
 */
int options_fetch(struct create_options *options, struct uspl_err *err) uspl_must_check;

/*
 * The id of the update that is made of the patch with this index (from 0): the one that was given,
 * in a series with the patch's number. The caller frees it; NULL when out of memory.
 */
char *options_id(const struct create_options *options, size_t index);

/*
 * Where the update with this id goes; the caller frees it. Whether it can be written is found out
 * now, not after two builds. In a series it must be a folder.
 */
int options_output(const struct create_options *options, const char *id, char **ret,
		   struct uspl_err *err) uspl_must_check;

#endif
