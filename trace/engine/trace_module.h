/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_module.h - a session's part in one module: thunks, the runtime's copy, the record */
#ifndef USPL_TRACE_ENGINE_TRACE_MODULE_H
#define USPL_TRACE_ENGINE_TRACE_MODULE_H

#include "trace/engine/candidate.h"
#include "uspl/trace_abi.h"

struct module;
struct trace_region;
struct trace_request;

/*
 * Loads thunks for the candidates of one module: maps, links, writes, the record last. `shared` has
 * what trace_buffers_map noted. The region is LOADED then.
 */
int trace_module_load(struct proc *proc, const struct module *module,
		      const candidate_vec *candidates, const struct trace_request *request,
		      const struct uspl_trace_region *shared, struct trace_region *ret,
		      struct uspl_err *err) uspl_must_check;
/*
 * *ret: the part that was made for this module, when it lay in the same place before it was
 * unloaded, is what would be made for it now.
 */
int trace_module_fits(struct proc *proc, const struct module *module,
		      const candidate_vec *candidates, const struct trace_request *request,
		      const struct trace_region *region, bool *ret,
		      struct uspl_err *err) uspl_must_check;
/*
 * Unmaps memory that has got no record; on failure the log says that `what` stays mapped.
 * shared_maps_sweep finds it then.
 */
void trace_module_give_back(const struct proc *proc, taddr map, uint64_t len, const char *what);
/* Writes the state into the target. */
int trace_module_write_state(const struct proc *proc, struct trace_region *region,
			     enum uspl_trace_state state, struct uspl_err *err) uspl_must_check;
/* The jump of a site. */
void trace_module_site_jump(const struct trace_region *region, size_t i, uint8_t *ret_bytes);

#endif
