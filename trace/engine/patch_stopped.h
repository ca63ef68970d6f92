/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_stopped.h - sites that are exchanged in stops */
#ifndef USPL_TRACE_ENGINE_PATCH_STOPPED_H
#define USPL_TRACE_ENGINE_PATCH_STOPPED_H

#include "safety/safety.h"
#include "text/site.h"

struct patch_input;
struct patch_result;

/* Sites that can't be exchanged while threads run. */
struct patch_stopped {
	const struct patch_input *in;
	const site_vec *sites; /* sorted by address */
	struct safety bytes;   /* in which no thread may stand then */
};

/* The input and the sites must outlive it. The target isn't looked at. */
int patch_stopped_init(struct patch_stopped *stopped, const struct patch_input *in,
		       const site_vec *sites, struct uspl_err *err) uspl_must_check;
void patch_stopped_release(struct patch_stopped *stopped);
DEFINE_AUTO_RELEASE(patch_stopped, struct patch_stopped, patch_stopped_release)
#define auto_patch_stopped __attribute__((cleanup(cleanup_patch_stopped_)))

/*
 * Follows the stacks of threads that run, without stopping them, unless that has been done in this
 * switch: else it would be done for the first time in the first stop, which would be twice as long
 * for it. Some milliseconds.
 */
void patch_stopped_warm(struct patch_stopped *stopped, struct patch_result *result);
/*
 * Makes their pages the process's own, while all threads run: some microseconds each. To be called
 * before any site of the module is exchanged.
 */
int patch_stopped_prepare(const struct patch_stopped *stopped,
			  struct uspl_err *err) uspl_must_check;
/*
 * Exchanges them in so many stops that no thread has to wait long in one. Adds to result->stop_us.
 * USPL_E_BUSY: a thread stays between two of a site's instructions.
 */
int patch_stopped_exchange(struct patch_stopped *stopped, struct patch_result *result,
			   struct uspl_err *err) uspl_must_check;
/* All of it. */
int patch_stopped_once(const struct patch_input *in, const site_vec *sites,
		       struct patch_result *result, struct uspl_err *err) uspl_must_check;

#endif
