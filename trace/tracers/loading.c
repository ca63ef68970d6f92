// SPDX-License-Identifier: GPL-3.0-or-later
// loading.c - how long the dynamic linker takes for each library

#include "trace/tracers/loading.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* A step is over; what is measured from now on belongs to the next one. */
static void take_step(struct loading *loading)
{
	struct loading_step *step = vec_push(&loading->steps);

	if (step)
		*step = loading->now;
	else
		loading->oom = true;
	loading->now = (struct loading_step){ 0 };
}

/* It was for no module of its own: finding libraries, setting up the first thread. */
static void take_other(struct loading *loading)
{
	loading->other_ns += loading->now.ns;
	loading->other_stops += loading->now.stops;
	loading->now = (struct loading_step){ 0 };
}

static void take_call(struct loading *loading, const struct child_stop *stop)
{
	switch (stop->nr) {
	case SYS_mmap:
		/* Code of a file. */
		if (stop->args[2] & PROT_EXEC && (int)stop->args[4] >= 0 && stop->result > 0)
			loading->now.at = (taddr)stop->result;
		break;
	case SYS_close:
		if (loading->now.at)
			take_step(loading);
		else
			take_other(loading);
		break;
	case SYS_set_tid_address:
		loading->settled = true;
		take_other(loading);
		break;
	case SYS_arch_prctl:
	case SYS_set_robust_list:
	case SYS_rseq:
		take_other(loading);
		break;
	case SYS_mprotect:
		if (!loading->settled || stop->args[2] != PROT_READ || stop->result)
			break;
		loading->now.at = stop->args[0];
		loading->now.relocated = true;
		take_step(loading);
		break;
	default:
		break;
	}
}

void loading_stop(void *ctx, const struct child_stop *stop)
{
	struct loading *loading = ctx;

	if (!loading->least_ns || stop->ran_ns < loading->least_ns)
		loading->least_ns = stop->ran_ns;
	loading->now.ns += stop->ran_ns;
	loading->now.stops++;
	if (stop->returned)
		take_call(loading, stop);
}

static double in_us(const struct loading *loading, int64_t ns, unsigned stops)
{
	return (double)(ns - loading->least_ns * stops) / 1e3;
}

static struct loading_time *time_of(loading_vec *all, const struct module *module)
{
	struct loading_time *time;

	vec_for_each (all, time)
		if (time->module == module)
			return time;
	time = vec_push(all);
	if (time)
		*time = (struct loading_time){ module, -1, -1 };
	return time;
}

int loading_times(const struct loading *loading, const module_vec *modules, loading_vec *ret,
		  double *ret_sum_us, struct uspl_err *err)
{
	double sum = in_us(loading, loading->other_ns + loading->now.ns,
			   loading->other_stops + loading->now.stops);
	loading_vec all = { 0 };
	const struct loading_step *step;
	bool oom = loading->oom;

	vec_for_each (&loading->steps, step) {
		double us = in_us(loading, step->ns, step->stops);
		const struct module *module = module_at(modules, step->at);
		struct loading_time *time = module ? time_of(&all, module) : NULL;
		double *part;

		sum += us;
		oom |= module && !time;
		if (!time)
			continue;
		/* It may not have begun. */
		part = step->relocated ? &time->relocated_us : &time->mapped_us;
		*part = (*part < 0 ? 0 : *part) + us;
	}
	if (oom) {
		vec_release(&all);
		return uspl_fail_nomem(err);
	}
	*ret = all;
	*ret_sum_us = sum;
	return 0;
}

void loading_release(struct loading *loading)
{
	vec_release(&loading->steps);
}
