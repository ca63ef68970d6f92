// SPDX-License-Identifier: GPL-3.0-or-later
// stack.c - an unwinder that knows the code of updates and of the tracer, too

#include "safety/stack.h"

#include "arch/trampoline.h"
#include "record/owners.h"
#include "record/region.h"

int stack_unwinder_new(const struct proc *proc, const module_vec *modules, struct unwinder **ret,
		       struct uspl_err *err)
{
	auto_unwinder struct unwinder *unwinder = NULL;
	auto_owners struct owners *owners = NULL;
	auto_regions region_vec regions = { 0 };
	const struct region *region;
	int rc = unwinder_new(proc, modules, &unwinder, err);

	if (rc)
		return rc;
	rc = regions_read(proc, &regions, err);
	if (rc)
		return rc;
	vec_for_each (&regions, region) {
		struct unwind_code code = { region->text, region->text + region->text_len,
					    region->eh_frame, region->eh_frame_len };
		struct unwind_mould trampolines = { region->trampolines,
						    region->trampolines + region->trampolines_len,
						    trampoline_len(region->by_thread),
						    region->by_thread ? trampoline_depth_by_thread
								      : trampoline_depth };

		rc = code.eh_frame ? unwinder_add_code(unwinder, &code, err) : 0;
		if (!rc && region->trampolines)
			rc = unwinder_add_mould(unwinder, &trampolines, err);
		if (rc)
			return rc;
	}
	rc = owners_read(proc, &owners, err);
	if (rc)
		return rc;
	rc = owners_add_to_unwinder(owners, unwinder, err);
	if (rc)
		return rc;
	*ret = take_ptr(unwinder);
	return 0;
}
