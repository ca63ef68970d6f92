/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marker.h - the markers of a module: USPL_MARK (include/uspl/mark.h), and USDT probes (sys/sdt.h)
 *
 * A marker has one name and as many sites as the compiler has made of it. A site is where a probe's
 * code is jumped to. The sites of a USPL_MARK lie out of line; what leads the program there are its
 * switches (struct marker_switch), which belong to all sites of its name.
 */
#ifndef USPL_TRACE_PROBE_MARKER_H
#define USPL_TRACE_PROBE_MARKER_H

#include "arch/probe_code.h"
#include "base/vec.h"
#include "proc/module.h"
#include "uspl/mark_abi.h"

struct marker_arg {
	struct place place;
	enum uspl_probe_arg_kind kind;
	bool untyped; /* a word whose type isn't known, or no single value */
	bool gone;    /* the compiler doesn't hand it over: the place is the number 0 */
};

/* One site of a marker. */
struct marker {
	char *name;   /* "subsystem:name" */
	char *format; /* NULL: it has none (USDT) */
	bool usdt;
	bool function;   /* a function's entry, */
	bool at_return;  /* and the hit is its return */
	bool untyped;    /* a function of whose arguments nothing is known */
	taddr site;      /* where the jump goes */
	taddr semaphore; /* of a USDT probe, 0 if it has none */
	size_t n_args;
	struct marker_arg args[USPL_PROBE_ARGS_MAX];
	uint8_t old[USPL_MARK_OLD_MAX]; /* what the program has there, */
	uint8_t old_len;                /* up to the end of an instruction */
	uint8_t before;                 /* bytes of these that run before the probe */
	uint8_t skip;                   /* bytes behind them that need not be done: a NOP */
	uint8_t guard; /* bytes at the site in which no thread may stand, but at the first */
	char why[160]; /* why no probe can be put there; "" if one can */
};

struct marker_switch {
	char *name;
	taddr site, on;
};

struct markers {
	VEC(struct marker) sites;
	VEC(struct marker_switch) switches;
};

/*
 * Appends the markers of one module, and of the updates that are laid over its image. The image is
 * without jumps of tracers. What is damaged is left out.
 */
int markers_find(const struct proc *proc, const struct module *module, const struct image *image,
		 struct markers *markers, struct uspl_err *err) uspl_must_check;
/*
 * From the image of a module without any tool's jumps appends the entries of functions whose names
 * match, as markers of these names. Or their returns, as "NAME:exit", whose argument is what they
 * return (marker_set_args).
 */
int markers_add_functions(const struct proc *proc, const struct image *image, const char *glob,
			  bool returns, struct markers *markers,
			  struct uspl_err *err) uspl_must_check;
/*
 * Fills in the arguments of a function's entry, or of its return, and a format with their names: as
 * the debugging information has them, the first USPL_PROBE_ARGS_MAX. Without it they are the six
 * registers that a function's first whole-number arguments are in, or the one that it returns one
 * in.
 */
int marker_set_args(const struct image *image, struct marker *marker,
		    struct uspl_err *err) uspl_must_check;
void markers_release(struct markers *markers);
DEFINE_AUTO_RELEASE(markers, struct markers, markers_release)
#define auto_markers __attribute__((cleanup(cleanup_markers_)))

/* The letter of uspl/probe.h for an argument's type. */
char marker_arg_letter(const struct marker_arg *arg);
/* The number of the argument with that name, by the words in front of "%" in the format, or as
 * "arg1"; -1 if there is none. */
int marker_arg_named(const struct marker *marker, const char *name, size_t len);

#endif
