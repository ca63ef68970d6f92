/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arg_specs.h - whose arguments and results are recorded: the options -A and -R */
#ifndef USPL_TRACE_CMD_ARG_SPECS_H
#define USPL_TRACE_CMD_ARG_SPECS_H

#include "base/cli.h"
#include "trace/engine/listen_plan.h"

/* A value that is asked for: "arg2", "arg2/s", "name", "name/x"; kind 0: as its type says. */
struct args_value {
	char name[64];
	unsigned number; /* of arg1, arg2, ...; 0: it is asked for by its name */
	char kind;       /* 0 or one of d, u, x, s, f */
};

/* One option: -A 'GLOB@VALUE,...' or, of a result, -R 'GLOB[/KIND]'. */
struct arg_spec {
	char *glob;
	bool result;
	VEC(struct args_value) values; /* empty: all arguments */
	size_t matched;                /* functions */
};

typedef VEC(struct arg_spec) arg_spec_vec;

/* Reads the words of an option. USPL_E_USAGE: one of them can't be understood. */
int arg_specs_parse(const cli_strings *words, bool result, arg_spec_vec *specs,
		    struct uspl_err *err) uspl_must_check;
void arg_specs_release(arg_spec_vec *specs);
/* True if a spec is for a function of these names. */
bool arg_specs_are_wanted(const arg_spec_vec *specs, const char *const *names, size_t n);
/*
 * Fills in a site by all specs for the function; text_max: bytes of a string. *ret is true if
 * there are any. USPL_E_NO_MODULE: a value is asked for that the function doesn't have.
 */
int arg_specs_choose(arg_spec_vec *specs, unsigned text_max, struct listen_plan *plan,
		     const struct listen_function *function, struct uspl_listen_site *site,
		     bool *ret, struct uspl_err *err) uspl_must_check;
/* USPL_E_NO_MODULE if a spec was for no function. */
int arg_specs_check(const arg_spec_vec *specs, struct uspl_err *err) uspl_must_check;

#endif
