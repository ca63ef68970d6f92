// SPDX-License-Identifier: GPL-3.0-or-later
// mark_text.c - the code of one command's probes in one module, for the place where it will lie

#include <string.h>

#include "arch/arch.h"
#include "trace/probe/mark_text.h"

#define CODE_ALIGN 16

void mark_text_release(struct mark_text *made)
{
	buf_release(&made->text);
	buf_release(&made->frames);
}

/* Where the arguments lie in the record: values first, then the strings. */
static void lay_out(const struct marker *marker, uint16_t text_slots, struct uspl_probe *probe)
{
	uint8_t used[USPL_PROBE_ARGS_MAX + 1] = { USPL_MARK_FIRST_ROOM };
	uint16_t slots = 1, slot;

	for (size_t i = 0; i < marker->n_args; i++) {
		struct uspl_probe_arg *arg = &probe->args[i];

		arg->kind = (uint8_t)marker->args[i].kind;
		if (arg->kind == USPL_PROBE_TEXT)
			continue;
		arg->width = marker->args[i].place.size == 8 ? 8 : 4;
		/* In the first slot that has room; a new slot if none has. */
		slot = 0;
		while (used[slot] + arg->width > USPL_MARK_SLOT_ROOM)
			slot++;
		arg->slot = slot;
		arg->offset = used[slot];
		used[slot] = (uint8_t)(used[slot] + arg->width);
		if (slot >= slots)
			slots = (uint16_t)(slot + 1);
	}
	for (size_t i = 0; i < marker->n_args; i++) {
		struct uspl_probe_arg *arg = &probe->args[i];

		if (arg->kind != USPL_PROBE_TEXT)
			continue;
		arg->slot = slots;
		arg->slots = text_slots;
		slots = (uint16_t)(slots + text_slots);
	}
	probe->slots = slots;
	probe->n_args = (uint8_t)marker->n_args;
}

/* The thunk that a probe of a return is reached by, in the room that was kept for it. */
static int put_thunk(struct mark_text *made, size_t i, struct uspl_err *err)
{
	const struct uspl_mark_region *head = made->head;
	struct uspl_probe *probe = &made->probes[i];
	struct thunk thunk = { .at = head->thunks + i * USPL_TRACE_THUNK,
			       .body = probe->chain_slot,
			       .runtime = head->code,
			       .id = USPL_MARK_EXIT + mark_shadow_number(head),
			       .leave = probe->code };
	uint8_t bytes[USPL_TRACE_THUNK];

	if (!arch_native()->thunk_call(&thunk, bytes))
		return uspl_fail(err, USPL_E_OUT_OF_REACH, "a thunk at 0x%llx is out of reach",
				 (unsigned long long)thunk.at);
	if (!made->text.oom)
		memcpy(made->text.data + (thunk.at - head->text), bytes, sizeof(bytes));
	probe->thunk = probe->inner = thunk.at;
	return 0;
}

static int add_code(struct mark_text *made, size_t i, const struct filter *filter,
		    struct uspl_err *err)
{
	const struct marker *marker = made->plan->sites.items[i];
	struct uspl_probe *probe = &made->probes[i];
	struct probe_arg args[USPL_PROBE_ARGS_MAX];
	const struct mark_program *program = made->plan->request->program;
	char types[USPL_PROBE_ARGS_MAX + 1] = "";
	struct probe_parts parts;
	struct probe_code code = {
		.runtime = made->head->code,
		.id = made->head->first_id + (uint32_t)i,
		.slots = probe->slots,
		.args = args,
		.tests = filter->tests.items,
		.n_args = marker->n_args,
		.n_tests = filter->tests.n,
		.program = program ? made->head->text + program->entry : 0,
		.name = marker->name,
		.types = types,
		.careful = marker->function,
		.keep_flags = marker->usdt,
		.site = marker->site,
		.old = marker->old,
		.old_len = marker->old_len,
		.before = marker->before,
		.skip = marker->skip,
		.at_return = marker->at_return,
	};
	int rc;

	for (size_t k = 0; k < marker->n_args; k++) {
		args[k] = (struct probe_arg){ marker->args[k].place, probe->args[k].slot,
					      probe->args[k].offset, probe->args[k].width,
					      probe->args[k].slots };
		types[k] = marker_arg_letter(&marker->args[k]);
	}
	buf_align(&made->text, CODE_ALIGN);
	probe->thunk = probe->code = code.at = made->head->text + made->text.len;
	rc = probe_encode(&code, &made->text, &parts, err);
	if (rc)
		return rc;
	probe->code_len = made->head->text + made->text.len - code.at;
	probe->inner = parts.inner;
	probe->chain_slot = parts.chain_slot;
	probe->end = parts.end;
	return marker->at_return ? put_thunk(made, i, err) : 0;
}

static int add_probe(struct mark_text *made, size_t i, struct uspl_err *err)
{
	const struct marker *marker = made->plan->sites.items[i];
	struct uspl_probe *probe = &made->probes[i];
	auto_filter struct filter filter = { 0 };
	int rc;

	*probe = (struct uspl_probe){ .site = marker->site,
				      .semaphore = marker->semaphore,
				      .old_len = marker->old_len,
				      .guard = marker->guard };
	memcpy(probe->old_bytes, marker->old, marker->old_len);
	lay_out(marker, made->plan->request->text_slots, probe);
	if (made->plan->request->filter) {
		rc = filter_parse(made->plan->request->filter, marker, &filter, err);
		if (rc)
			goto failed;
	}
	rc = add_code(made, i, &filter, err);
	if (rc)
		goto failed;
	return 0;

failed:
	uspl_context(err, "marker '%s'", marker->name);
	return rc;
}

int mark_text_make(struct mark_text *made, struct uspl_err *err)
{
	const struct mark_program *program = made->plan->request->program;
	struct uspl_mark_region *head = made->head;
	int rc;

	mark_text_release(made);
	/* The user's program comes first. */
	if (program) {
		buf_addzero(&made->text, program->text_len);
		memset(made->data, 0, program->data_len);
		if (made->text.oom)
			return uspl_fail_nomem(err);
		rc = program->link(program, head->text, head->data, (uint8_t *)made->text.data,
				   made->data, err);
		if (rc)
			return rc;
	}
	/* Behind it all thunks, which are written when their probes are known. */
	if (made->plan->request->returns) {
		buf_align(&made->text, USPL_TRACE_THUNK);
		head->thunks = head->text + made->text.len;
		head->thunks_len = made->plan->sites.n * USPL_TRACE_THUNK;
		buf_addzero(&made->text, head->thunks_len);
		arch_native()->thunk_frames(&made->frames, head->eh_frame, head->thunks,
					    head->thunks_len, mark_shadow_number(head),
					    head->shared.shadow);
	}
	for (size_t i = 0; i < made->plan->sites.n; i++) {
		rc = add_probe(made, i, err);
		if (rc)
			return rc;
	}
	if (made->text.oom || made->frames.oom)
		return uspl_fail_nomem(err);
	head->text_len = made->text.len;
	return 0;
}
