// SPDX-License-Identifier: GPL-3.0-or-later
// unwind_shadow.c - return addresses that the tracer's thunks keep in a shadow of the stack

#include "unwind/unwind_priv.h"
#include "uspl/trace_abi.h"

static taddr slot_of(const struct unwind_tracer *tracer, taddr at)
{
	return USPL_TRACE_SHADOW(at) ^ tracer->shadow;
}

/* What a shadow has of a return address at stack address `at`; 0 if there is no shadow. */
static taddr shadow_at(const struct unwinder *unwinder, const struct unwind_tracer *tracer,
		       taddr at)
{
	taddr pc;

	return proc_read_some(unwinder->proc, slot_of(tracer, at), &pc, sizeof(pc)) == sizeof(pc)
		       ? pc
		       : 0;
}

/* The tracer that has a thunk with this return address; NULL if there is none. */
static const struct unwind_tracer *tracer_of(const struct unwinder *unwinder, uint64_t word)
{
	const struct unwind_tracer *tracer;

	vec_for_each (&unwinder->tracers, tracer)
		if (word >= tracer->thunks && word < tracer->thunks_end &&
		    (word - tracer->thunks) % USPL_TRACE_THUNK == USPL_TRACE_THUNK_RETURN)
			return tracer;
	return NULL;
}

taddr unwinder_shadowed(const struct unwinder *unwinder, taddr at, uint64_t word)
{
	const struct unwind_tracer *tracer = tracer_of(unwinder, word);

	return tracer ? shadow_at(unwinder, tracer, at) : 0;
}

taddr unwinder_kept_at(const struct unwinder *unwinder, taddr at, uint64_t word)
{
	const struct unwind_tracer *tracer = tracer_of(unwinder, word);

	return tracer ? slot_of(tracer, at) : 0;
}

bool unwinder_is_runtime(const struct unwinder *unwinder, taddr pc)
{
	const struct unwind_tracer *tracer;

	vec_for_each (&unwinder->tracers, tracer)
		if (pc > tracer->code && pc <= tracer->code_end)
			return !tracer_of(unwinder, pc);
	return false;
}

bool unwinder_thunks(const struct unwinder *unwinder, taddr *ret_start, taddr *ret_end)
{
	const struct unwind_tracer *tracer;
	taddr start = UINT64_MAX, end = 0;

	vec_for_each (&unwinder->tracers, tracer) {
		start = tracer->thunks < start ? tracer->thunks : start;
		end = tracer->thunks_end > end ? tracer->thunks_end : end;
	}
	if (!end)
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}

size_t unwinder_shadow_near(const struct unwinder *unwinder, taddr pc, taddr sp, taddr *ret,
			    size_t max)
{
	const struct unwind_tracer *tracer;
	size_t n = 0;

	vec_for_each (&unwinder->tracers, tracer)
		if (pc >= tracer->code && pc < tracer->code_end)
			while (n < max) {
				ret[n] = shadow_at(unwinder, tracer, (sp & ~7ull) + 8 * n);
				n++;
			}
	return n;
}
