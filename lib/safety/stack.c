// SPDX-License-Identifier: GPL-3.0-or-later
// stack.c - an unwinder that knows the code of updates and of the tracer, too

#include "safety/stack.h"

#include "arch/trampoline.h"
#include "record/probe_records.h"
#include "record/region.h"
#include "record/trace_records.h"

static int add_regions(struct unwinder *unwinder, const region_vec *regions, struct uspl_err *err)
{
	const struct region *region;

	vec_for_each (regions, region) {
		struct unwind_code code = { region->text, region->text + region->text_len,
					    region->eh_frame, region->eh_frame_len };
		struct unwind_mould trampolines = { region->trampolines,
						    region->trampolines + region->trampolines_len,
						    TRAMPOLINE_LEN, trampoline_depth };
		int rc = code.eh_frame ? unwinder_add_code(unwinder, &code, err) : 0;

		if (!rc && region->trampolines)
			rc = unwinder_add_mould(unwinder, &trampolines, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A thunk that traces entries only has nothing on the stack, wherever a thread is in it. */
static int entry_depth(size_t offset)
{
	(void)offset;
	return 0;
}

/* The runtime's copy, and what unwinders don't know of the thunks by their own information. */
static int add_runtime(struct unwinder *unwinder, const struct uspl_trace_region *head,
		       struct uspl_err *err)
{
	const struct unwind_mould entries = { head->thunks, head->thunks + head->thunks_len,
					      USPL_TRACE_THUNK, entry_depth };
	int rc = unwinder_add_runtime(unwinder, head->code, head->thunks + USPL_TRACE_THUNK_PUSHED,
				      err);

	return rc || !head->entries ? rc : unwinder_add_mould(unwinder, &entries, err);
}

static int add_tracers(struct unwinder *unwinder, const struct trace_session *session,
		       struct uspl_err *err)
{
	const struct trace_region *region;
	int rc = 0;

	vec_for_each (&session->regions, region) {
		const struct uspl_trace_region *head = &region->head;
		struct unwind_tracer tracer = {
			.thunks = head->thunks,
			.thunks_end = head->thunks + head->thunks_len,
			.code = head->code,
			.code_end = head->thunks + head->text_len,
			.eh_frame = head->entries ? 0 : head->eh_frame,
			.eh_frame_len = USPL_TRACE_FRAMES,
			.shadow = head->shadow,
		};

		rc = rc ? rc : unwinder_add_tracer(unwinder, &tracer, err);
		rc = rc ? rc : add_runtime(unwinder, head, err);
	}
	return rc;
}

/* Returns that probes of markers wait for. */
static int add_marks(struct unwinder *unwinder, const struct marks *marks, struct uspl_err *err)
{
	const struct mark_region *region;
	int rc = 0;

	vec_for_each (&marks->regions, region) {
		const struct uspl_mark_region *head = &region->head;
		struct unwind_tracer tracer = {
			.thunks = head->thunks,
			.thunks_end = head->thunks + head->thunks_len,
			.code = head->code,
			.code_end = head->text + head->text_len,
			.eh_frame = head->eh_frame,
			.eh_frame_len = USPL_TRACE_FRAMES,
			.shadow = head->shared.shadow,
		};

		rc = rc ? rc : unwinder_add_tracer(unwinder, &tracer, err);
		if (!rc && head->eh_frame)
			rc = unwinder_add_runtime(unwinder, head->code,
						  head->thunks + USPL_TRACE_THUNK_PUSHED, err);
	}
	return rc;
}

int stack_unwinder_new(const struct proc *proc, const module_vec *modules, struct unwinder **ret,
		       struct uspl_err *err)
{
	auto_unwinder struct unwinder *unwinder = NULL;
	auto_session struct trace_session session = { 0 };
	auto_marks struct marks marks = { 0 };
	region_vec regions = { 0 };
	int rc = unwinder_new(proc, modules, &unwinder, err);

	if (!rc)
		rc = regions_read(proc, &regions, err);
	if (!rc)
		rc = add_regions(unwinder, &regions, err);
	if (!rc)
		rc = trace_session_read(proc, &session, err);
	if (!rc)
		rc = add_tracers(unwinder, &session, err);
	if (!rc)
		rc = marks_read(proc, &marks, err);
	if (!rc)
		rc = add_marks(unwinder, &marks, err);
	regions_release(&regions);
	if (rc)
		return rc;
	*ret = take_ptr(unwinder);
	return 0;
}
