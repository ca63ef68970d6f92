/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.h - folders with random names that tools of the build have made and removed */
#ifndef USPL_CREATE_BUILD_SCRATCH_H
#define USPL_CREATE_BUILD_SCRATCH_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strmap.h"

/* Zero-initialise; one for the records of one build. */
struct scratch {
	struct strmap names; /* the path of such a folder -> what stands for its name, ours */
};

/* Exchanges, in a text on the heap, the names of such folders that aren't there any more. */
int scratch_rename(struct scratch *scratch, char **text, struct uspl_err *err) uspl_must_check;
void scratch_release(struct scratch *scratch);
DEFINE_AUTO_RELEASE(scratch, struct scratch, scratch_release)
#define auto_scratch __attribute__((cleanup(cleanup_scratch_)))

#endif
