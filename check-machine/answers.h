/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answers.h - what was asked of the machine, and what it answered */
#ifndef USPL_CHECK_MACHINE_ANSWERS_H
#define USPL_CHECK_MACHINE_ANSWERS_H

#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"

enum verdict {
	VERDICT_OK,
	VERDICT_LIMITED, /* it works, with less */
	VERDICT_NO,
};

struct answer {
	const char *name; /* stable, for scripts; never freed */
	enum verdict verdict;
	bool vital; /* a "no" means that no update can be applied */
	char text[512];
	char way_out[512]; /* "" if there is none, or none is needed */
};

struct answers {
	VEC(struct answer) items;
	VEC(pid_t) trials; /* their ids say nothing to a user, and are left out of texts */
	bool oom;          /* one could not be kept */
};

/* Adds an answer; what is too long is cut. The other functions are about the answer added last. */
void answers_add(struct answers *answers, const char *name, enum verdict verdict, const char *fmt,
		 ...) uspl_printf(4, 5);
/* The way out. */
void answers_way_out(struct answers *answers, const char *fmt, ...) uspl_printf(2, 3);
/*
 * Adds an answer for a failure of ours: what follows from it, then the failure's message, and its
 * hint as the way out.
 */
void answers_add_err(struct answers *answers, const char *name, enum verdict verdict,
		     const char *follows, const struct uspl_err *why);
/* The answer of that name, or NULL. */
const struct answer *answers_find(const struct answers *answers, const char *name);
/* Without the thing asked for no update can be applied. */
void answers_mark_vital(struct answers *answers);
/* True if no vital answer is "no". */
bool answers_allow(const struct answers *answers);
void answers_release(struct answers *answers);

/* A line for each answer. */
void answers_show(const struct answers *answers, struct buf *out);
/* An array of {"name","answer","text","way_out"}. */
void answers_json(const struct answers *answers, const char *key, struct json *json);

#endif
