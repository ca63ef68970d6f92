/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reconfigure.h - a tree that autoconf has configured, configured anew after a patch */
#ifndef USPL_CREATE_BUILD_RECONFIGURE_H
#define USPL_CREATE_BUILD_RECONFIGURE_H

#include "base/error.h"
#include "base/strmap.h"
#include "base/strvec.h"
#include "create/tree/tree.h"

struct buf;
struct build_paths;

/* What came of configuring the tree anew after the patch. */
struct reconfigured {
	bool done;           /* the tree is configured by the patched files */
	struct uspl_err why; /* it was tried and failed; code 0: it wasn't tried */
	/*
	 * Then: the parts of the configuration as it left them; a part that changes later is fine.
	 */
	struct strmap left;
};

/*
 * Appends the shell command that configures anew what the patched files say of a configuration by
 * autoconf; nothing if they say nothing of it, or the tree has none.
 */
int reconfigure_commands(const struct build_paths *paths, const strvec *patched,
			 struct buf *commands, struct uspl_err *err) uspl_must_check;
/*
 * The same before the patch, for what the diffs will change of it: so that both builds are
 * configured alike. Nothing where only what config.status makes is concerned.
 */
int reconfigure_before(const struct build_paths *paths, const char *diffs, struct buf *commands,
		       struct uspl_err *err) uspl_must_check;
/* Notes what an attempt that failed has left: even what it has written isn't the build's. */
int reconfigure_note_failed(const struct build_paths *paths, struct reconfigured *reconfigured,
			    struct uspl_err *err) uspl_must_check;
void reconfigured_release(struct reconfigured *reconfigured);
DEFINE_AUTO_RELEASE(reconfigured, struct reconfigured, reconfigured_release)
#define auto_reconfigured __attribute__((cleanup(cleanup_reconfigured_)))
/*
 * Finds the part of a configuration that a patched file should have changed, and that is older:
 * *ret is its name, for the caller to free, and stays as it is if there is none.
 */
int reconfigure_find_old(const struct build_paths *paths, const char *file,
			 const struct reconfigured *reconfigured, char **ret,
			 struct uspl_err *err) uspl_must_check;

#endif
