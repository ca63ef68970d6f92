/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.h - which functions of a module are traced, and what they are without updates */
#ifndef USPL_TRACE_ENGINE_CHOOSE_H
#define USPL_TRACE_ENGINE_CHOOSE_H

#include "record/region.h"
#include "trace/engine/candidate.h"

struct module;
struct trace_request;

/*
 * The functions of a module that are wanted, and can be traced as wanted. updates: those that are
 * in the process, which isn't traced yet. Names are the image's and not to be used.
 */
int choose_candidates(const struct proc *proc, const struct module *module,
		      const region_vec *updates, const struct trace_request *request,
		      candidate_vec *ret, struct uspl_err *err) uspl_must_check;

#endif
