// SPDX-License-Identifier: GPL-3.0-or-later
// tracers.c - the table of tracers

#include "trace/tracers/tracers.h"

#include <string.h>

#include "record/trace_records.h"
#include "trace/output/mark_lines.h"
#include "trace/output/tracer.h"
#include "trace/tally/tally.h"

/* clang-format off */
static const struct tracer *const tracers[] = {
	&tracer_graph,
	&tracer_function,
	&tracer_profile,
	&tracer_count,
	&tracer_coverage,
	&tracer_alloc,
	&tracer_lock,
	&tracer_pool,
	&tracer_sample,
	&tracer_sched,
	&tracer_sigoff,
	&tracer_stack,
	&tracer_syscall,
	&tracer_wakeup,
	&tracer_branch,
	&tracer_init,
};
/* clang-format on */

int tracer_find(const char *name, const struct tracer **ret, struct uspl_err *err)
{
	auto_buf struct buf all = { 0 };
	struct nearest nearest = { .word = name };

	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++) {
		if (!strcmp(tracers[i]->name, name)) {
			*ret = tracers[i];
			return 0;
		}
		buf_addf(&all, "%s'%s'", i ? ", " : "", tracers[i]->name);
		nearest_try(&nearest, tracers[i]->name);
	}
	uspl_fail(err, USPL_E_USAGE, "there is no tracer '%s'", name);
	if (nearest.name)
		uspl_hint(err, "did you mean '%s'?", nearest.name);
	else
		uspl_hint(err, "there are %s", buf_str(&all));
	return -USPL_E_USAGE;
}

const struct tracer *tracer_of(const struct trace_session *session)
{
	if (!session->regions.n)
		return &tracer_none;
	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++)
		if (tracers[i]->tally &&
		    tracers[i]->tally->job == session->regions.items[0].head.job)
			return tracers[i];
	return session->regions.items[0].head.entries ? &tracer_function : &tracer_graph;
}

int tracer_add_options(const struct tracer *tracer, void *state, cli_option_vec *table,
		       struct uspl_err *err)
{
	for (size_t i = 0; i < tracer->n_options; i++) {
		const struct tracer_option *option = &tracer->options[i];
		const struct cli_option line = {
			.name = option->name,
			.arg = option->arg,
			.kind = option->kind,
			.value = (uint8_t *)state + option->offset,
			.help = option->help,
		};
		int rc = cli_add_options(table, &line, 1, err);

		if (rc)
			return rc;
	}
	return 0;
}

const struct tracer *tracer_at(size_t i)
{
	return i < ARRAY_SIZE(tracers) ? tracers[i] : NULL;
}
