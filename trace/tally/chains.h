/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chains.h - call chains that listeners have kept (struct uspl_lock_chain), unwound */
#ifndef USPL_TRACE_TALLY_CHAINS_H
#define USPL_TRACE_TALLY_CHAINS_H

#include "trace/tally/tally.h"

/*
 * Appends a line for each function of the chain, behind `indent`; nothing where none was kept. A
 * chain is as long as the copy of the stack that it is taken from.
 */
int chains_add(struct tally *tally, const struct uspl_lock_chain *chain, const char *indent,
	       struct buf *out, struct uspl_err *err) uspl_must_check;
/* The same as an array of strings in an open object; nothing where none was kept. */
int chains_add_json(struct tally *tally, const struct uspl_lock_chain *chain, const char *key,
		    struct json *json, struct uspl_err *err) uspl_must_check;

#endif
