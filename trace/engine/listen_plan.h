/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * listen_plan.h - functions whose calls and returns are told to listeners in the target
 *
 * A tracer that wants more than times fills in a plan: the job of the listeners (runtime/listen),
 * and what they are to do at each function. session_start carries it out; what they find out lies
 * in the listener config (include/uspl/listen_abi.h), from where any later command reads it.
 */
#ifndef USPL_TRACE_ENGINE_LISTEN_PLAN_H
#define USPL_TRACE_ENGINE_LISTEN_PLAN_H

#include "base/buf.h"
#include "image/image.h"
#include "proc/module.h"
#include "record/trace_records.h"
#include "trace/engine/candidate.h"
#include "uspl/listen_abi.h"

/* A function that might be listened to. */
struct listen_function {
	const struct module *module;
	const struct image *image;
	const struct candidate *candidate;
	const char *const *names; /* all of them */
	size_t n_names;
};

/*
 * What listeners are to do. Zero-initialise it; what it holds is released by listen_plan_release.
 */
struct listen_plan {
	enum uspl_listen_job job;
	uint64_t own_len, thread_len; /* bytes that the job has: for all, and for each thread */
	uint64_t leaves_len;          /* and behind its own, whole pages; alloc */
	/*
	 * Of a tracer that adds up calls (uspl/sums_abi.h): bytes of a cell, 0 for all others. Or
	 * flag: each function has a byte that its first call sets.
	 */
	uint64_t cell_len;
	bool flag;
	bool halted;    /* nothing is recorded until a trigger starts it */
	bool snapshots; /* a trigger may keep what was recorded */
	bool no_calls;  /* calls themselves leave no records */
	/*
	 * Says of a chosen function whether it is listened to, and fills in how. NULL: none is.
	 */
	int (*choose)(void *ctx, struct listen_plan *plan, const struct listen_function *function,
		      struct uspl_listen_site *site, bool *ret, struct uspl_err *err);
	/* Asked when all functions were: a failure ends the start. NULL: nothing to ask. */
	int (*check)(void *ctx, struct uspl_err *err);
	void *ctx;
	VEC(struct uspl_listen_site) sites; /* that were chosen */
	struct buf texts;                   /* that they refer to, with their NUL; not at 0 */
};

/* Frees what the plan holds. */
void listen_plan_release(struct listen_plan *plan);
/* Adds a text; its offset, for a site. 0 if it is NULL. Sets plan->texts.oom when out of memory. */
uint32_t listen_add_text(struct listen_plan *plan, const char *text);

/* A listener config that was read, without what the job has of its own. */
struct listen_config {
	struct uspl_listen_config head;
	VEC(struct uspl_listen_site) sites; /* by the number of the site */
	char *texts;                        /* texts_len bytes, and a NUL */
};

/*
 * Reads the listener config of a session; an empty one (magic 0) if it has none, as in a child of
 * fork. USPL_E_HOSTILE if
 * it contradicts itself: what comes out can be relied on.
 */
int listen_config_read(const struct proc *proc, const struct trace_session *session,
		       struct listen_config *ret, struct uspl_err *err) uspl_must_check;
void listen_config_release(struct listen_config *config);
DEFINE_AUTO_RELEASE(listen_config, struct listen_config, listen_config_release)
#define auto_listen_config __attribute__((cleanup(cleanup_listen_config_)))

/* The site of the function with that id; NULL if it isn't listened to. */
const struct uspl_listen_site *listen_config_site(const struct listen_config *config, uint32_t id);
/* A text of a site; "" if it has none. */
const char *listen_config_text(const struct listen_config *config, uint32_t offset);
/* Where what the job has of its own begins in the target. */
taddr listen_config_own(const struct trace_session *session, const struct listen_config *config);
/* Where what the job has for the thread of ring number i begins. */
taddr listen_config_thread(const struct trace_session *session, const struct listen_config *config,
			   size_t i);
/* How many rings threads have taken. */
int listen_config_threads(const struct proc *proc, const struct trace_session *session, size_t *ret,
			  struct uspl_err *err) uspl_must_check;

#endif
