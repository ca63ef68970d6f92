// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_once.c - initialisers that have run, of static variables of C++ functions, and thread_local
 * ones
 *
 * They are code of the function that uses the variable, behind a test of a guard. New code of a
 * function that is replaced has the new initialiser, but the process has initialised the variable
 * already, as a rule: what changes in it takes no effect. So there is a warning if it changes.
 *
 * What belongs to the initialiser follows from how the code runs: all that is reached by one way
 * out of the guard's test and not by the other one, up to where the guard is released. (Compilers
 * like to give what comes then to each of both ways, as a copy.)
 */

#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "create/unit/equal.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/unit/unit.h"
#include "create/vet/vet_checks.h"

/* A function's code: for each byte, the length of the instruction that begins there. */
struct code {
	const struct objsec *sec;
	uint8_t *lens; /* 0 within an instruction */
};

typedef VEC(struct range) range_vec;

static void code_release(struct code *code)
{
	free(code->lens);
}

DEFINE_AUTO_RELEASE(code, struct code, code_release)
#define auto_code __attribute__((cleanup(cleanup_code_)))
DEFINE_AUTO_RELEASE(ranges, range_vec, vec_release)
#define auto_ranges __attribute__((cleanup(cleanup_ranges_)))

/* Up to the first byte that is no code. */
static bool code_read(struct code *code, const struct objsec *sec)
{
	struct insn insn;

	code->sec = sec;
	code->lens = calloc(1, sec->size + 1);
	for (uint64_t at = 0; code->lens && at < sec->size; at += insn.len) {
		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn))
			break;
		code->lens[at] = insn.len;
	}
	return code->lens != NULL;
}

static void insn_at(const struct code *code, uint64_t at, struct insn *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (at < code->sec->size && code->lens[at])
		arch_native()->insn_decode(code->sec->data + at, code->lens[at], ret);
}

static bool has_reference(const struct objsec *sec, uint64_t at, uint64_t len,
			  const struct objrel **ret)
{
	size_t i = vec_lower_bound(&sec->rels, it, it->offset < at);

	*ret = i < sec->rels.n && sec->rels.items[i].offset < at + len ? &sec->rels.items[i] : NULL;
	return *ret != NULL;
}

/* Where a jump within the section leads; its size if it leads out of it. */
static uint64_t target_of(const struct code *code, uint64_t at, const struct insn *insn)
{
	const struct objrel *rel;
	uint64_t to = at + insn->len + (uint64_t)insn->rel;

	return has_reference(code->sec, at, insn->len, &rel) || to > code->sec->size
		       ? code->sec->size
		       : to;
}

/* Sets a bit in marks for all instructions that are reached from `at`, but not by way of `test`. */
static bool mark_reached(const struct code *code, uint64_t at, uint64_t test, uint8_t bit,
			 uint8_t *marks)
{
	VEC(uint64_t) open = { 0 };
	uint64_t *slot = vec_push(&open);

	if (slot)
		*slot = at;
	while (slot && open.n) {
		const struct objrel *rel;
		struct insn insn;

		at = open.items[--open.n];
		for (; at < code->sec->size && at != test && !(marks[at] & bit); at += insn.len) {
			insn_at(code, at, &insn);
			if (!insn.len)
				break;
			marks[at] |= bit;
			if (insn.flow == INSN_COND_JUMP || insn.flow == INSN_JUMP) {
				slot = vec_push(&open);
				if (!slot)
					break;
				*slot = target_of(code, at, &insn);
			}
			if (insn.flow == INSN_JUMP || insn.flow == INSN_JUMP_INDIRECT ||
			    insn.flow == INSN_RETURN || insn.flow == INSN_TRAP ||
			    (has_reference(code->sec, at, insn.len, &rel) &&
			     !strcmp(rel->sym->name, "__cxa_guard_release")))
				break;
		}
	}
	vec_release(&open);
	return slot != NULL;
}

/* The conditional jump that goes by what the instruction at `at` has read; or the code's size. */
static uint64_t find_test(const struct code *code, uint64_t at)
{
	struct insn insn;

	for (int i = 0; i < 6; i++, at += insn.len) {
		insn_at(code, at, &insn);
		if (insn.len && insn.flow == INSN_COND_JUMP)
			return at;
		if (!insn.len || insn.flow != INSN_PLAIN)
			break;
	}
	return code->sec->size;
}

/* What the instruction refers to, or its constant. */
static bool add_operand(const struct code *code, uint64_t at, range_vec *ret)
{
	struct range operand = { code->sec, 0, 0 }, *slot;
	const struct objrel *rel;
	struct insn insn;

	insn_at(code, at, &insn);
	if (has_reference(code->sec, at, insn.len, &rel))
		operand = (struct range){ code->sec, rel->offset, 4 };
	else if (insn.imm_size && insn.flow == INSN_PLAIN)
		operand = (struct range){ code->sec, at + insn.imm_off, insn.imm_size };
	if (!operand.len)
		return true;
	slot = vec_push(ret);
	if (slot)
		*slot = operand;
	return slot != NULL;
}

/*
 * What the initialiser behind a guard refers to, and its constants. In which registers it does so
 * doesn't count.
 */
static bool collect_operands(const struct code *code, const struct objsym *guard, range_vec *ret)
{
	enum { JUMPS = 1, FALLS = 2, ONCE = 4 };
	auto_free uint8_t *marks = calloc(1, code->sec->size + 1);
	const struct objrel *rel;

	if (!marks)
		return false;
	vec_for_each (&code->sec->rels, rel) {
		uint64_t at = rel->offset, test;
		size_t n[4] = { 0 };
		struct insn insn;

		if (rel->sym != guard)
			continue;
		while (at && !code->lens[at])
			at--;
		test = find_test(code, at);
		insn_at(code, test, &insn);
		if (!insn.len)
			continue;
		if (!mark_reached(code, target_of(code, test, &insn), test, JUMPS, marks) ||
		    !mark_reached(code, test + insn.len, test, FALLS, marks))
			return false;
		for (uint64_t i = 0; i < code->sec->size; i++)
			n[marks[i] & (JUMPS | FALLS)]++;
		for (uint64_t i = 0; i < code->sec->size; i++)
			marks[i] = marks[i] & ONCE || (marks[i] & (JUMPS | FALLS)) ==
							      (n[JUMPS] > n[FALLS] ? JUMPS : FALLS)
					   ? ONCE
					   : 0;
	}
	for (uint64_t i = 0; i < code->sec->size; i++)
		if (marks[i] && !add_operand(code, i, ret))
			return false;
	return true;
}

/* Are there the same ones in both, in whatever order? */
static bool same_operands(const range_vec *pre, range_vec *post)
{
	if (pre->n != post->n)
		return false;
	for (size_t i = 0; i < pre->n; i++) {
		size_t k = i;

		while (k < post->n && (pre->items[i].len != post->items[k].len ||
				       !equal_ranges(&pre->items[i], &post->items[k], 0)))
			k++;
		if (k == post->n)
			return false;
		post->items[k] = post->items[i];
	}
	return true;
}

/*
 * The variable that a guard belongs to: _ZZ4lookiE1m of _ZGVZ4lookiE1m. NULL if it guards all
 * thread-local ones of the source.
 */
static const struct objsym *find_guarded(const struct side *side, const struct objsym *guard)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (sym_is_variable(sym) && text_starts_with(sym->name, "_Z") &&
		    text_starts_with(guard->name, "_ZGV") &&
		    !strcmp(sym->name + strlen("_Z"), guard->name + strlen("_ZGV")))
			return sym;
	}
	return NULL;
}

static int check_function(const struct diff *diff, const struct objsec *sec,
			  const struct objsec *old, struct uspl_err *err)
{
	auto_code struct code pre = { 0 }, post = { 0 };
	const struct objsym *last = NULL;
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel) {
		const struct objsym *guard = rel->sym, *variable;
		auto_ranges range_vec was = { 0 }, is = { 0 };
		auto_buf struct buf place = { 0 };

		if (guard == last || !guard->sec ||
		    (!text_starts_with(sym_pair_name(guard), "_ZGV") &&
		     strcmp(guard->name, "__tls_guard")) ||
		    !syminfo_of(guard)->twin)
			continue;
		last = guard;
		if ((!pre.lens && !code_read(&pre, old)) ||
		    (!post.lens && !code_read(&post, sec)) ||
		    !collect_operands(&pre, syminfo_of(guard)->twin, &was) ||
		    !collect_operands(&post, guard, &is))
			return uspl_fail_nomem(err);
		if (!was.n || !is.n || same_operands(&was, &is))
			continue;
		variable = find_guarded(secinfo_of(sec)->side, guard);
		if (variable)
			report_warn(diff->report,
				    "%s: '%s' initialises '%s' in another way: that is done at the "
				    "first use%s, and isn't done again",
				    sym_srcloc(variable, &place), sec_title(sec), variable->name,
				    guard->type == STT_TLS ? " by a thread" : "");
		else
			report_warn(diff->report,
				    "%s: '%s' initialises thread-local variables in another way: "
				    "that is done at the first use by a thread, and isn't done "
				    "again",
				    sec_srcloc(sec, &place), sec_title(sec));
	}
	return 0;
}

int vet_warn_initialised(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		int rc;

		if (secinfo->kind != SECINFO_CODE || !secinfo->reason || secinfo->is_cold ||
		    !twin || !sec->data || !twin->sec->data)
			continue;
		rc = check_function(diff, sec, twin->sec, err);
		if (rc)
			return rc;
	}
	return 0;
}
