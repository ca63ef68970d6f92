/* SPDX-License-Identifier: GPL-3.0-or-later */
/* series.h - lists of patches, as quilt and Debian keep them */
#ifndef USPL_CREATE_PATCH_SERIES_H
#define USPL_CREATE_PATCH_SERIES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

/* A patch of a series; the strings are its own. */
struct series_patch {
	char *path;
	char *option; /* "-p0", NULL if none is given */
};

typedef VEC(struct series_patch) series_patches;

/*
 * Reads a series: a file in the format of quilt, with a patch to a line, its name seen from the
 * file's folder; or a folder with a file `series`, or with patches that count as sorted by name.
 * Those that quilt has applied to the source (SOURCE/.pc/applied-patches) are left out. USPL_E_FILE
 * if nothing is left, or a line has options other than -p.
 */
int series_read(const char *path, const char *source, series_patches *ret,
		struct uspl_err *err) uspl_must_check;
void series_release(series_patches *patches);
DEFINE_AUTO_RELEASE(series, series_patches, series_release)
#define auto_series __attribute__((cleanup(cleanup_series_)))

#endif
