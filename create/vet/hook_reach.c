// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * hook_reach.c - what the hooks of a patch may call
 *
 * From each hook the calls are followed, in new code, in the rest of the changed sources, and, for
 * hooks that run at a standstill, in the program's other sources. Only calls and jumps count: a
 * hook may take the address of any function, to put it into a table.
 *
 * While all threads stand still one of them may hold any lock. What takes none, waits for nothing
 * and allocates nothing can be called then; of the C library these are a few functions that only
 * look at memory and write it.
 */

#include "create/vet/hook_reach.h"

#include <string.h>

#include "arch/arch.h"
#include "base/hook_kind.h"
#include "base/text.h"
#include "create/diff/quiet_units.h"
#include "create/unit/diff_unit.h"
#include "create/unit/normalise.h"
#include "create/unit/reference.h"
#include "create/unit/srcloc.h"

/* Calls within calls that are followed. */
enum { DEPTH_MAX = 64 };

/* docs/authors.md has the same list. */
static const char *const harmless[] = {
	"memcpy",       "memmove",       "memset",           "memcmp",       "memchr",
	"strlen",       "strnlen",       "strcmp",           "strncmp",      "strchr",
	"strrchr",      "strcpy",        "strncpy",          "bcmp",         "bzero",
	"abs",          "labs",          "__memcpy_chk",     "__memset_chk", "__memmove_chk",
	"__strcpy_chk", "__strncpy_chk", "__stack_chk_fail",
};

struct reach {
	struct diff *diff;
	const struct diff_hook *hook;
	bool still;
	struct strmap seen; /* functions, by unit and name */
	struct uspl_err *err;
};

/* A function on the way, and the one that it was called by. */
struct step {
	const struct step *caller;
	const struct side *side;
	const struct objsec *code;
	int depth;
};

static int walk_code(struct reach *reach, const struct step *step);

/* ", by way of 'a' and 'b'": the callers between the hook and what it comes to. */
static void add_way(const struct step *step, struct buf *out)
{
	if (!step->caller)
		return;
	add_way(step->caller, out);
	buf_addf(out, "%s'%s'", out->len ? ", " : " by way of ", sec_title(step->code));
}

/* "hook 'x' runs while all threads stand still, and WHAT by way of 'y'" */
static int refuse(const struct reach *reach, const struct step *step, const char *what,
		  const char *name, const char *hint)
{
	const struct objsym *function = reach->hook->function;
	auto_buf struct buf way = { 0 };

	add_way(step, &way);
	sym_refuse(function, reach->err, USPL_E_UNSUPPORTED,
		   "hook '%s' (%s) runs %s, and %s%s%s%s%s", function->name,
		   hook_kind_name(reach->hook->kind),
		   reach->still ? "while all threads stand still" : "before the switch", what,
		   name ? "'" : "", name ? name : "", name ? "'" : "", buf_str(&way));
	uspl_hint(reach->err, "%s", hint);
	return -USPL_E_UNSUPPORTED;
}

static int refuse_still(const struct reach *reach, const struct step *step, const char *what,
			const char *name)
{
	return refuse(reach, step, what, name,
		      hook_kind_is_reverse(reach->hook->kind)
			      ? "do that in a hook that runs while the threads run: USPL_PRE_UNDO "
				"or USPL_POST_UNDO"
			      : "do that in a hook that runs while the threads run: "
				"USPL_PRE_APPLY (allocate there) or USPL_POST_APPLY");
}

/* Code that isn't carried: of the program, as it stays. */
static int walk_into(struct reach *reach, const struct step *from, const struct side *side,
		     const struct objsec *code)
{
	const struct secinfo *secinfo = secinfo_of(code);
	const struct step step = { from, side, code, from->depth + 1 };
	auto_buf struct buf key = { 0 };
	bool seen;

	if (secinfo->carried && secinfo_twin(secinfo))
		return refuse(reach, from, "calls the replaced function ", sec_title(code),
			      "let it call a new function that both use, or run it after the "
			      "switch");
	buf_addf(&key, "%s:%s", side->source, code->name);
	seen = strmap_get(&reach->seen, buf_str(&key)) != NULL;
	if (key.oom || (!seen && !strmap_set(&reach->seen, buf_str(&key), reach)))
		return uspl_fail_nomem(reach->err);
	if (seen)
		return 0;
	if (step.depth > DEPTH_MAX)
		return refuse(reach, from, "calls too many functions within each other", NULL,
			      "let it do less");
	return walk_code(reach, &step);
}

/* A function of a source that the patch doesn't change. */
static int walk_other_unit(struct reach *reach, const struct step *from, const char *name,
			   size_t index)
{
	struct unit unit = { 0 };
	const struct objsym *def;
	int rc = quiet_open_pre(&unit, &reach->diff->inputs[index], reach->err);

	if (!rc)
		rc = normalise(&unit.pre, reach->err);
	def = rc ? NULL : objfile_symbol(unit.pre.obj, name);
	if (!rc && def && def->sec && sym_is_function(def))
		rc = walk_into(reach, from, &unit.pre, def->sec);
	else if (!rc)
		rc = refuse_still(reach, from, "calls ", name);
	unit_release(&unit);
	return rc;
}

/* Does the code use a table of places within itself, as a switch does? */
static bool has_jump_table(const struct objsec *code)
{
	const struct objrel *rel, *entry;

	vec_for_each (&code->rels, rel) {
		if (!rel->sym->sec || secinfo_of(rel->sym->sec)->kind != SECINFO_LITERAL)
			continue;
		vec_for_each (&rel->sym->sec->rels, entry)
			if (entry->sym->sec == code)
				return true;
	}
	return false;
}

/* One instruction that may lead out of its function. */
static int walk_branch(struct reach *reach, const struct step *step, uint64_t at,
		       const struct insn *insn)
{
	const struct objrel *rel = reference_within(step->code, at, insn->len);
	bool indirect = insn->flow == INSN_CALL_INDIRECT || insn->flow == INSN_JUMP_INDIRECT;
	/* call *f@GOTPCREL(%rip) is as good as call f. */
	bool by_got = rel && arch_native()->reloc(rel->type)->kind == RELOC_GOTPCREL;
	size_t index = reach->diff->n_inputs;
	const struct objsym *def;
	const char *name;
	int rc;

	if (reach->still && insn->is_syscall)
		return refuse_still(reach, step, "makes a system call", NULL);
	if (indirect && !by_got) {
		bool within = insn->flow == INSN_JUMP_INDIRECT && has_jump_table(step->code);

		return !reach->still || within
			       ? 0
			       : refuse_still(reach, step, "calls a function by a pointer", NULL);
	}
	if (insn->flow == INSN_PLAIN || insn->flow == INSN_RETURN || insn->flow == INSN_TRAP ||
	    !rel || rel->sym->sec == step->code)
		return 0;
	if (rel->sym->sec && secinfo_of(rel->sym->sec)->kind == SECINFO_CODE)
		return walk_into(reach, step, step->side, rel->sym->sec);
	/* What is called isn't defined in this unit. */
	name = rel->sym->name;
	def = strmap_get(&reach->diff->post_defs, name);
	if (def && def->sec && sym_is_function(def))
		return walk_into(reach, step, syminfo_of(def)->side, def->sec);
	if (!reach->still || TEXT_IS_ONE_OF(name, harmless))
		return 0;
	rc = leave_out_definer(&reach->diff->left_out, name, &index, reach->err);
	if (rc)
		return rc;
	return index < reach->diff->n_inputs && reach->diff->inputs[index].pre_obj
		       ? walk_other_unit(reach, step, name, index)
		       : refuse_still(reach, step, "calls ", name);
}

static int walk_code(struct reach *reach, const struct step *step)
{
	const struct objsec *code = step->code;
	struct insn insn;

	for (uint64_t at = 0; at < code->size; at += insn.len) {
		int rc;

		if (!arch_native()->insn_decode(code->data + at, code->size - at, &insn) ||
		    !insn.len)
			return reach->still ? refuse_still(reach, step,
							   "has bytes that are no code", NULL)
					    : 0;
		rc = walk_branch(reach, step, at, &insn);
		if (rc)
			return rc;
	}
	return 0;
}

int hook_reach_check(struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->hooks.n; i++) {
		const struct diff_hook *hook = &diff->hooks.items[i];
		const struct step first = { NULL, syminfo_of(hook->function)->side,
					    hook->function->sec, 0 };
		struct reach reach = { .diff = diff,
				       .hook = hook,
				       .still = hook_kind_is_still(hook->kind),
				       .err = err };
		int rc = hook_kind_is_before(hook->kind) ? walk_code(&reach, &first) : 0;

		strmap_release(&reach.seen);
		if (rc)
			return rc;
	}
	return 0;
}
