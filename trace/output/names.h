/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - ids and addresses as the names of functions */
#ifndef USPL_TRACE_OUTPUT_NAMES_H
#define USPL_TRACE_OUTPUT_NAMES_H

#include "base/strvec.h"
#include "record/region.h"
#include "trace/log/saved.h"

/* What the records of a session mean. */
struct trace_names {
	strvec by_id; /* by id - 1; NULL where no name is known */
	strvec lines; /* of a trace that was saved: places in the source, likewise */
	char *line;   /* that names_line has returned */
	const struct trace_session *session;
	const struct proc *proc; /* NULL: a trace that was saved */
	const module_vec *proc_modules;
	VEC(struct image *) images; /* for names of callers; by module, NULL until asked for */
	region_vec updates;         /* likewise */
	bool updates_read;
	trace_callers callers; /* of a trace that was saved */
};

/* Finds the names of all sites of the session. proc, modules and session must outlive it. */
int names_find(const struct proc *proc, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret,
	       struct uspl_err *err) uspl_must_check;
/* More parts have come to the session, and its modules were read again. */
int names_grow(struct trace_names *names, struct uspl_err *err) uspl_must_check;
/* The same for a trace that was saved; modules and session must outlive it. */
int names_take(struct trace_saved *saved, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret,
	       struct uspl_err *err) uspl_must_check;
void names_release(struct trace_names *names);
DEFINE_AUTO_RELEASE(names, struct trace_names, names_release)
#define auto_names __attribute__((cleanup(cleanup_names_)))
/* The function's name, or its address in buf. */
const char *names_of(const struct trace_names *names, uint32_t id, char *buf, size_t len);
/*
 * The function that a return address with this low half lies in, by all modules and updates; its
 * address in buf if nothing is known.
 */
const char *names_of_caller(struct trace_names *names, uint32_t low, char *buf, size_t len);

/*
 * The source file in which the function begins, with its folder, and the line; allocated. NULL if
 * that isn't known, or of a trace that was saved. Costs a search in debugging information.
 */
char *names_source(struct trace_names *names, uint32_t id, int *ret_line);
/*
 * Where the function begins in the source, "limit.c:12"; NULL if that isn't known. Good until the
 * next call. Costs a search in debugging information.
 */
const char *names_line(struct trace_names *names, uint32_t id);
/* The file name of the module that the function is in. */
const char *names_module(const struct trace_names *names, uint32_t id);

#endif
