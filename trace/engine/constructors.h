/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * constructors.h - the constructors of a program that hasn't begun, and how long they take
 *
 * The dynamic linker and the C library call constructors by pointers: those of DT_PREINIT_ARRAY and
 * DT_INIT_ARRAY, and DT_INIT (System V gABI, "Initialization and Termination Functions"). So no
 * code is changed to take their time, only these pointers, before they are read.
 */
#ifndef USPL_TRACE_ENGINE_CONSTRUCTORS_H
#define USPL_TRACE_ENGINE_CONSTRUCTORS_H

#include "proc/module.h"
#include "uspl/constructor_abi.h"

/* A pointer to a constructor. */
struct constructor {
	const struct module *module;
	taddr function;
	taddr slot;    /* where the pointer is */
	uint64_t bias; /* what its reader adds to it */
};

typedef VEC(struct constructor) constructor_vec;

/*
 * Those of all modules, at most USPL_CONSTRUCTORS; *ret_more: how many there are beyond. The
 * process stands where all libraries are relocated. vec_release frees ret; modules must outlive it.
 */
int constructors_find(const struct proc *proc, const module_vec *modules, constructor_vec *ret,
		      size_t *ret_more, struct uspl_err *err) uspl_must_check;
/*
 * Loads what takes their time, and leads the pointers there. It stays in the process, and needs no
 * tool. *ret_at: where it is. After a failure some pointers may lead there all the same.
 */
int constructors_time(const struct proc *proc, const constructor_vec *all, taddr *ret_at,
		      struct uspl_err *err) uspl_must_check;
/*
 * Reads what has been taken so far: an entry for each. USPL_E_NOT_APPLIED if it isn't there any
 * more, since the process runs another program.
 */
int constructors_read(const struct proc *proc, const constructor_vec *all, taddr at,
		      struct uspl_constructor *ret, struct uspl_err *err) uspl_must_check;

#endif
