/* SPDX-License-Identifier: GPL-3.0-or-later */
/* still.h - sites that are exchanged in stops */
#ifndef USPL_TRACE_ENGINE_STILL_H
#define USPL_TRACE_ENGINE_STILL_H

#include "safety/safety.h"
#include "text/site.h"

struct batch_input;
struct batch_result;

/* Sites that can't be exchanged while somebody runs. */
struct still {
	const struct batch_input *in;
	const site_vec *sites; /* sorted by address */
	struct safety bytes;   /* in which no thread may stand then */
};

/* The input and the sites must outlive it. The target isn't looked at. */
int still_init(struct still *still, const struct batch_input *in, const site_vec *sites,
	       struct uspl_err *err) uspl_must_check;
void still_release(struct still *still);
/*
 * Follows the stacks of those that run, without stopping them, unless that has been done in this
 * switch: else it would be done for the first time in the first stop, which would be twice as long
 * for it. Some milliseconds.
 */
void still_rehearse(struct still *still, struct batch_result *result);
/*
 * Exchanges them in as many stops as nobody has to wait long in. Adds to result->stop_us.
 * USPL_E_BUSY: a thread stays between two of a site's instructions.
 */
int still_exchange(struct still *still, struct batch_result *result,
		   struct uspl_err *err) uspl_must_check;
/* All three. */
int still_exchange_once(const struct batch_input *in, const site_vec *sites,
			struct batch_result *result, struct uspl_err *err) uspl_must_check;

#endif
