// SPDX-License-Identifier: GPL-3.0-or-later
// tracers.c - the table of tracers

#include <string.h>

#include "trace/trace.h"

static const struct tracer *const tracers[] = {
	&tracer_graph,
	&tracer_function,
};

int tracer_find(const char *name, const struct tracer **ret, struct uspl_err *err)
{
	auto_buf struct buf all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++) {
		if (!strcmp(tracers[i]->name, name)) {
			*ret = tracers[i];
			return 0;
		}
		buf_addf(&all, "%s'%s'", i ? ", " : "", tracers[i]->name);
	}
	uspl_fail(err, USPL_E_USAGE, "there is no tracer '%s'", name);
	uspl_hint(err, "there are %s", buf_str(&all));
	return -USPL_E_USAGE;
}

const struct tracer *tracer_of(const struct trace_session *session)
{
	return session->regions.items[0].head.entries ? &tracer_function : &tracer_graph;
}
