// SPDX-License-Identifier: GPL-3.0-or-later
// unwind.c - the frames of a thread that doesn't run, from call frame information
/*
 * libdw finds and interprets the CFI of one address; what it says is compiled once into a rule
 * (unwind_rule.h), and kept.
 *
 * Of a thread that sleeps only some registers are known. What a frame has saved becomes known on
 * the way outwards. The unwind is lost at a frame whose place needs an unknown register.
 */

#include "unwind/unwind.h"

#include <string.h>

#include "arch/context.h"
#include "unwind/expr.h"
#include "unwind/unwind_priv.h"

/*
 * No sane stack is deeper; a corrupt one must not keep the tool busy while the target stands still.
 */
#define FRAMES_MAX 100000

static void widen(struct unwinder *unwinder, const struct cfi *cfi)
{
	if (!unwinder->high || cfi->start < unwinder->low)
		unwinder->low = cfi->start;
	if (cfi->end > unwinder->high)
		unwinder->high = cfi->end;
}

int unwinder_new(const struct proc *proc, const module_vec *modules, struct unwinder **ret,
		 struct uspl_err *err)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	const struct module *module;
	int rc = 0;

	if (!unwinder)
		return uspl_fail_nomem(err);
	unwinder->proc = proc;
	vec_for_each (modules, module) {
		struct cfi *cfi = vec_push(&unwinder->cfis);

		rc = cfi ? cfi_open_module(cfi, proc, module, err) : uspl_fail_nomem(err);
		if (rc) {
			unwinder_free(unwinder);
			return rc;
		}
		widen(unwinder, cfi);
	}
	*ret = unwinder;
	return 0;
}

int unwinder_add_code(struct unwinder *unwinder, const struct unwind_code *code,
		      struct uspl_err *err)
{
	struct cfi *cfi = vec_push(&unwinder->cfis);
	int rc = cfi ? cfi_open_memory(cfi, unwinder->proc, code, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	widen(unwinder, cfi);
	return 0;
}

int unwinder_add_tracer(struct unwinder *unwinder, const struct unwind_tracer *tracer,
			struct uspl_err *err)
{
	struct unwind_code thunks = { tracer->thunks, tracer->thunks_end, tracer->eh_frame,
				      tracer->eh_frame_len };
	struct unwind_tracer *item;

	if (!tracer->eh_frame)
		return 0;
	item = vec_push(&unwinder->tracers);
	if (!item)
		return uspl_fail_nomem(err);
	*item = *tracer;
	return unwinder_add_code(unwinder, &thunks, err);
}

int unwinder_add_mould(struct unwinder *unwinder, const struct unwind_mould *mould,
		       struct uspl_err *err)
{
	struct unwind_mould *item = vec_push(&unwinder->moulds);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *mould;
	return 0;
}

void unwinder_free(struct unwinder *unwinder)
{
	struct cfi *cfi;

	if (!unwinder)
		return;
	for (size_t i = 0; i < UNWIND_CACHE_SLOTS; i++) {
		if (unwinder->cache[i])
			free(unwinder->cache[i]->frame);
		free(unwinder->cache[i]);
	}
	vec_for_each (&unwinder->cfis, cfi)
		cfi_close(cfi);
	vec_release(&unwinder->cfis);
	vec_release(&unwinder->tracers);
	vec_release(&unwinder->moulds);
	vec_release(&unwinder->runtimes);
	free(unwinder->depths);
	free(unwinder);
}

/* What describes the code at pc, or NULL. */
static const struct cfi *cfi_at(const struct unwinder *unwinder, taddr pc)
{
	const struct cfi *cfi;

	if (pc < unwinder->low || pc >= unwinder->high)
		return NULL;
	vec_for_each (&unwinder->cfis, cfi)
		if (pc >= cfi->start && pc < cfi->end)
			return cfi->cfi ? cfi : NULL;
	return NULL;
}

/*
 * The rule for an address; NULL only when out of memory. A rule that isn't known is cached as well.
 */
static const struct unwind_rule *rule_at(struct unwinder *unwinder, taddr pc)
{
	struct unwind_rule **slot = &unwinder->cache[(pc ^ pc >> 12) & (UNWIND_CACHE_SLOTS - 1)];
	const struct unwind_mould *mould;
	const struct cfi *cfi;
	Dwarf_Frame *frame;
	int depth;

	if (*slot && (*slot)->pc == pc)
		return *slot;
	if (!*slot)
		*slot = malloc(sizeof(**slot));
	else
		free((*slot)->frame);
	if (!*slot)
		return NULL;
	memset(*slot, 0, sizeof(**slot));
	(*slot)->pc = pc;
	cfi = cfi_at(unwinder, pc);
	if (cfi) {
		(*slot)->known = dwarf_cfi_addrframe(cfi->cfi, pc - cfi->bias, &frame) == 0 &&
				 unwind_rule_compile(*slot, frame);
		return *slot;
	}
	vec_for_each (&unwinder->moulds, mould) {
		if (pc < mould->start || pc >= mould->end)
			continue;
		depth = mould->depth((pc - mould->start) % mould->unit);
		if (depth < 0)
			continue;
		unwind_rule_plain(*slot, depth);
		(*slot)->known = true;
		break;
	}
	return *slot;
}

/*
 * The caller's value of a register whose place the rule tells. False if it can't be found out, as
 * in a frame whose place needs a register that isn't known.
 */
static bool caller_register(struct unwinder *unwinder, const struct unwind_reg_rule *rule,
			    const struct expr_state *state, uint64_t *value)
{
	switch (rule->where) {
	case WHERE_SAME:
	case WHERE_UNDEFINED:
		return false;
	case WHERE_AT_CFA:
		return unwinder_read_word(unwinder, state->cfa + (uint64_t)rule->offset, value);
	case WHERE_CFA_PLUS:
		*value = state->cfa + (uint64_t)rule->offset;
		return true;
	case WHERE_EXPR:
		return expr_value(rule->ops, rule->n_ops, state, value);
	}
	return false;
}

/* One frame outwards: regs become the caller's. */
static bool step(struct unwinder *unwinder, const struct unwind_rule *rule, struct some_regs *regs)
{
	struct expr_state state = { .regs = regs,
				    .read_word = unwinder_read_word,
				    .ctx = unwinder };
	struct some_regs caller;

	if (rule->cfa_reg >= 0 && some_regs_know(regs, rule->cfa_reg))
		state.cfa = regs->value[rule->cfa_reg] + (uint64_t)rule->cfa_offset;
	else if (rule->cfa_reg >= 0 ||
		 !expr_address(rule->cfa_ops, rule->n_cfa_ops, &state, &state.cfa))
		return false;
	/* Stacks grow down; only a signal may have come on another stack. */
	if (state.cfa <= regs->value[DWARF_SP] && !rule->signal_frame)
		return false;
	/* The caller's registers, all that can be known of them. */
	caller = *regs;
	caller.value[DWARF_SP] = state.cfa;
	for (int reg = 0; reg < DWARF_REGS; reg++) {
		const struct unwind_reg_rule *how = &rule->regs[reg];

		if (how->where == WHERE_SAME)
			continue;
		if (caller_register(unwinder, how, &state, &caller.value[reg]))
			caller.known |= 1u << reg;
		else
			caller.known &= ~(1u << reg);
	}
	if (!some_regs_know(&caller, rule->ra_reg) || !some_regs_know(&caller, DWARF_SP))
		return false;
	caller.value[DWARF_PC] = caller.value[rule->ra_reg];
	caller.known |= 1u << DWARF_PC;
	*regs = caller;
	return true;
}

enum unwind_end unwind(struct unwinder *unwinder, const struct some_regs *start,
		       bool (*visit)(void *ctx, const struct unwind_frame *frame), void *ctx,
		       taddr *ret_sp)
{
	struct some_regs regs = *start;
	struct unwind_frame frame = { .pc = regs.value[DWARF_PC], .sp = regs.value[DWARF_SP] };
	uint8_t base[CONTEXT_BASE_LEN];

	unwinder->window.len = 0;
	for (size_t i = 0; i < FRAMES_MAX; i++) {
		const struct unwind_rule *rule;

		*ret_sp = regs.value[DWARF_SP];
		if (!visit(ctx, &frame))
			return UNWIND_ENOUGH;
		if (unwinder_leave_runtime(unwinder, &frame, &regs))
			continue;
		rule = rule_at(unwinder, frame.is_call ? frame.pc - 1 : frame.pc);
		if (!rule || !rule->known) {
			/* What returns to where a stack of makecontext begins has no caller. */
			if (frame.is_call &&
			    context_is_base(base, proc_read_some(unwinder->proc, frame.pc, base,
								 sizeof(base))))
				return UNWIND_COMPLETE;
			return UNWIND_LOST;
		}
		if (rule->regs[rule->ra_reg].where == WHERE_UNDEFINED)
			return UNWIND_COMPLETE;
		if (!step(unwinder, rule, &regs))
			return UNWIND_LOST;
		frame.pc = regs.value[DWARF_PC];
		frame.sp = regs.value[DWARF_SP];
		frame.is_call = !rule->signal_frame;
	}
	return UNWIND_LOST;
}

void unwinder_lend_stack(struct unwinder *unwinder, taddr start, const uint8_t *bytes, size_t len)
{
	unwinder->lent_start = start;
	unwinder->lent = bytes;
	unwinder->lent_len = len;
	unwinder->ran_out = unwinder->strayed = false;
}

bool unwinder_ran_out(const struct unwinder *unwinder)
{
	return unwinder->ran_out;
}

bool unwinder_kept_to_copy(const struct unwinder *unwinder)
{
	return unwinder->lent && !unwinder->ran_out && !unwinder->strayed;
}

bool unwinder_leaves_signal(struct unwinder *unwinder, taddr pc)
{
	const struct unwind_rule *rule = cfi_at(unwinder, pc) ? rule_at(unwinder, pc) : NULL;

	return rule && rule->known && rule->signal_frame;
}
