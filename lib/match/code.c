// SPDX-License-Identifier: GPL-3.0-or-later
// code.c - the instructions of the pre code against the running ones
//
// Most functions are the same byte for byte outside relocations: that is tried first and needs no
// decoding. The following, too, may happen between the compiler's object and the running program,
// and is no difference:
//
//	- a relocated field holds a value; that is read, see data.c;
//	- nops, which align loops, are other nops or elsewhere: they are skipped on each side;
//	- a jump is short on one side and near on the other: the operation and the target count. Pre
//	  code has a section for each function, so that the assembler could not know how far a tail
//	  jump goes; the running code may come from one section, where it could;
//	- an access through the GOT became a direct one (arch: insn_relaxed), one to a thread-local
//	  variable by a call became one that counts from the thread pointer (tls_relaxed);
//	- a profiler's call became a nop, by uspl-trace.
//
// Since all of these move what follows, a map tells where each instruction of the pre code went. A
// jump within the function must lead to the instruction that its counterpart leads to; this is
// looked at when the map is complete (trial.c).

#include <string.h>

#include "arch/mcount_name.h"
#include "match/match_internal.h"

/* One side's current instruction. */
struct cursor {
	const uint8_t *code; /* of the whole side */
	size_t len, at;
	struct insn insn;
};

/* Goes to the next instruction that does something; false at the end or where there is none. */
static bool next_insn(const struct trial *trial, struct cursor *cursor)
{
	const struct arch *arch = trial->match->arch;

	while (cursor->at < cursor->len &&
	       arch->insn_decode(cursor->code + cursor->at, cursor->len - cursor->at,
				 &cursor->insn)) {
		if (!cursor->insn.is_nop)
			return true;
		cursor->at += cursor->insn.len;
	}
	return false;
}

static uint8_t field_size(const struct match *match, const struct objrel *rel)
{
	return match->arch->reloc(rel->type)->size;
}

/*
 * The same bytes except in fields with relocations: every instruction lies where it lies in the pre
 * code.
 */
static bool same_layout(const struct match *match, const struct objsec *sec, const uint8_t *run,
			size_t run_len)
{
	const struct objrel *rel;
	uint64_t at = 0;

	if (run_len < sec->size)
		return false;
	vec_for_each (&sec->rels, rel) {
		if (rel->offset > at && memcmp(sec->data + at, run + at, rel->offset - at))
			return false;
		at = rel->offset + field_size(match, rel);
	}
	return sec->size <= at || !memcmp(sec->data + at, run + at, sec->size - at);
}

/* Notes that the branch to `off` of this func leads to `addr` in the running code. */
static bool own_branch(struct trial *trial, uint64_t off, taddr addr)
{
	struct ref_hint *own = vec_push(&trial->own);

	if (!own)
		return trial_fail_oom(trial);
	own->off = off;
	own->addr = addr;
	return true;
}

static bool compare_branch(struct trial *trial, const struct cursor *pre, const struct cursor *run,
			   const struct objrel *rel)
{
	uint64_t end = pre->at + pre->insn.len;
	taddr target = trial->addr + run->at + run->insn.len + (uint64_t)run->insn.rel;
	struct reference ref = { .addr = target, .branch = true };

	if (run->insn.flow != pre->insn.flow || run->insn.op != pre->insn.op)
		return trial_fail_code(trial);
	if (!rel)
		return own_branch(trial, end + (uint64_t)pre->insn.rel, target);
	if (!rel->sym)
		return trial_fail_code(trial);
	ref.sym = rel->sym;
	ref.off = (uint64_t)rel->addend + (end - rel->offset);
	return trial_refer(trial, &ref);
}

/* The instruction that the linker made of one with a relocation in its displacement. */
static bool compare_relaxed(struct trial *trial, const struct cursor *run, const struct objrel *rel,
			    const struct relaxed_insn *relaxed)
{
	struct reference ref = { .sym = rel->sym, .branch = run->insn.flow != INSN_PLAIN };
	taddr place = trial->addr + run->at + relaxed->off;
	int32_t value;

	if (image_meaning(trial->match->image, place, &ref.addr))
		return trial_refer(trial, &ref);
	memcpy(&value, run->code + run->at + relaxed->off, sizeof(value));
	ref.addr = (taddr)(int64_t)value;
	if (relaxed->kind == RELOC_PCREL)
		ref.addr += trial->addr + run->at + run->insn.len;
	return trial_refer(trial, &ref);
}

/*
 * True if the bytes are the same but for the fields of rels and, relative to the pc, a displacement
 * without one.
 */
static bool same_bytes(const struct trial *trial, const struct cursor *pre,
		       const struct cursor *run, const struct objrel *rels, size_t n)
{
	bool skip[16] = { false };

	if (pre->insn.len != run->insn.len || pre->insn.len > sizeof(skip))
		return false;
	for (size_t i = 0; i < n; i++)
		memset(skip + (rels[i].offset - pre->at), true, field_size(trial->match, &rels[i]));
	if (pre->insn.pc_relative_mem)
		memset(skip + pre->insn.disp_off, true, pre->insn.disp_size);
	for (size_t i = 0; i < pre->insn.len; i++)
		if (!skip[i] && pre->code[pre->at + i] != run->code[run->at + i])
			return false;
	return true;
}

/* A displacement relative to the pc without a relocation: what it refers to lies in this func. */
static bool compare_own_operand(struct trial *trial, const struct cursor *pre,
				const struct cursor *run)
{
	taddr place = trial->addr + run->at + run->insn.disp_off;
	int32_t pre_disp, run_disp;
	uint64_t meaning;

	if (image_meaning(trial->match->image, place, &meaning))
		return trial_fail_code(trial);

	memcpy(&pre_disp, pre->code + pre->at + pre->insn.disp_off, sizeof(pre_disp));
	memcpy(&run_disp, run->code + run->at + run->insn.disp_off, sizeof(run_disp));
	return own_branch(trial, pre->at + pre->insn.len + (uint64_t)(int64_t)pre_disp,
			  trial->addr + run->at + run->insn.len + (uint64_t)(int64_t)run_disp);
}

/* Compares one instruction of each side; rels are the n relocations of the pre one. */
static bool compare_insn(struct trial *trial, const struct cursor *pre, const struct cursor *run,
			 const struct objrel *rels, size_t n)
{
	const struct arch *arch = trial->match->arch;
	bool disp_has_rel = false;
	struct relaxed_insn relaxed;

	if (pre->insn.flow == INSN_CALL || pre->insn.flow == INSN_JUMP ||
	    pre->insn.flow == INSN_COND_JUMP)
		return compare_branch(trial, pre, run, n ? rels : NULL);
	if (n == 1 && rels->sym && rels->offset == pre->at + pre->insn.disp_off &&
	    arch->insn_relaxed(rels->type, pre->code + pre->at, &pre->insn, run->code + run->at,
			       &run->insn, &relaxed))
		return compare_relaxed(trial, run, rels, &relaxed);
	/*
	 * A field must not reach beyond its instruction: then neither does one in the running code.
	 */
	for (size_t i = 0; i < n; i++)
		if (rels[i].offset + field_size(trial->match, &rels[i]) > pre->at + pre->insn.len)
			return trial_fail_code(trial);
	if (!same_bytes(trial, pre, run, rels, n))
		return trial_fail_code(trial);
	for (size_t i = 0; i < n; i++) {
		size_t in_insn = rels[i].offset - pre->at;
		struct site site = { (uint8_t)(pre->insn.len - in_insn), (uint8_t)pre->insn.flow };

		disp_has_rel |= in_insn == pre->insn.disp_off;
		if (!data_read_field(trial, &rels[i], run->code + run->at + in_insn,
				     trial->addr + run->at + in_insn, &site))
			return false;
	}
	if (pre->insn.pc_relative_mem && !disp_has_rel)
		return compare_own_operand(trial, pre, run);
	return true;
}

/*
 * An access to a thread-local variable that the linker has rewritten, as a whole. Sets both
 * instructions' lengths to that of what was compared.
 */
static bool is_tls_relaxed(const struct trial *trial, struct cursor *pre, struct cursor *run,
			   const struct objrel *rel, struct tls_form *form)
{
	if (trial->match->arch->reloc(rel->type)->kind == RELOC_TLSDESC_CALL &&
	    run->insn.flow != INSN_CALL_INDIRECT) {
		/* It became a nop, which was skipped. */
		*form = (struct tls_form){ 0 };
		run->insn.len = 0;
		return true;
	}
	if (!trial->match->arch->tls_relaxed(rel->type, pre->code + pre->at, pre->len - pre->at,
					     run->code + run->at, run->len - run->at, form))
		return false;
	pre->insn.len = run->insn.len = form->len;
	return true;
}

/*
 * A profiler's call that uspl-trace has turned into one nop (trace/engine/nop_mcount.c), which was
 * skipped: the function does the same but for the profiler.
 */
static bool is_quietened(const struct trial *trial, const struct cursor *pre,
			 const struct cursor *run, const struct objrel *rels, size_t n)
{
	struct insn nop;

	return n == 1 && rels->sym && rels->sym->name && is_mcount_name(rels->sym->name) &&
	       (pre->insn.flow == INSN_CALL || pre->insn.flow == INSN_CALL_INDIRECT) &&
	       run->at >= pre->insn.len &&
	       trial->match->arch->insn_decode(run->code + run->at - pre->insn.len, pre->insn.len,
					       &nop) &&
	       nop.is_nop && nop.len == pre->insn.len;
}

static bool compare_tls(struct trial *trial, const struct cursor *run, const struct objrel *rel,
			const struct tls_form *form)
{
	struct objrel whole = *rel;
	taddr end = trial->addr + run->at + run->insn.len;
	uint64_t meaning;
	int32_t value;

	if (!form->off)
		return true;
	/* The addend was for the distance of what is no longer there. */
	whole.addend = 0;
	if (image_meaning(trial->match->image, trial->addr + run->at + form->off, &meaning))
		return data_refer_meant(trial, &whole, form->kind, NULL, meaning);
	memcpy(&value, run->code + run->at + form->off, sizeof(value));
	return data_refer_tls(trial, &whole, form->kind, (uint64_t)(int64_t)value, end);
}

/* Where the first byte tells more than the first difference would. */
static bool check_entry(struct trial *trial, const struct cursor *pre, const struct cursor *run)
{
	const struct arch *arch = trial->match->arch;
	taddr target = arch->jump_target(trial->addr, run->code, run->len);

	if (run->insn.flow == pre->insn.flow)
		return true;
	if (target)
		return trial_fail(trial,
				  "it begins with a jump to 0x%llx, it may be patched already",
				  (unsigned long long)target);
	if (run->insn.flow == INSN_TRAP)
		return trial_fail(trial, "it begins with a breakpoint");
	return true;
}

static bool lockstep(struct trial *trial)
{
	const struct objsec *sec = trial->func->pub.sec;
	struct cursor pre = { .code = sec->data, .len = sec->size };
	struct cursor run = { .code = trial->run, .len = trial->run_len };
	size_t next_rel = 0;

	while (next_insn(trial, &pre)) {
		const struct objrel *rels;
		struct tls_form form;
		bool run_ok = next_insn(trial, &run), same;
		size_t first, n;

		trial->at = pre.at;
		trial->run_at = trial->addr + run.at;
		if (!run_ok)
			return trial_fail_code(trial);
		/* The instruction's own relocations. */
		while (next_rel < sec->rels.n && sec->rels.items[next_rel].offset < pre.at)
			next_rel++;
		first = next_rel;
		while (next_rel < sec->rels.n &&
		       sec->rels.items[next_rel].offset < pre.at + pre.insn.len)
			next_rel++;
		n = next_rel - first;
		rels = n ? sec->rels.items + first : NULL;
		if (is_quietened(trial, &pre, &run, rels, n)) {
			trial->map[pre.at] = (uint32_t)(run.at - pre.insn.len);
			pre.at += pre.insn.len;
			continue;
		}
		if (pre.at == 0 && !check_entry(trial, &pre, &run))
			return false;
		trial->map[pre.at] = (uint32_t)run.at;
		if (n && rels->sym && is_tls_relaxed(trial, &pre, &run, rels, &form))
			same = compare_tls(trial, &run, rels, &form);
		else
			same = compare_insn(trial, &pre, &run, rels, n);
		if (!same)
			return false;
		pre.at += pre.insn.len;
		run.at += run.insn.len;
		trial->used = run.at;
	}
	trial->map[sec->size] = (uint32_t)trial->used;
	return pre.at == sec->size || trial_fail(trial, "the update's own copy can't be decoded");
}

bool code_compare(struct trial *trial)
{
	const struct objsec *sec = trial->func->pub.sec;
	size_t len = (sec->size + 1) * sizeof(*trial->map);

	if (same_layout(trial->match, sec, trial->run, trial->run_len)) {
		trial->used = sec->size;
		for (size_t i = 0; i < sec->rels.n; i++) {
			const struct objrel *rel = &sec->rels.items[i];

			trial->at = rel->offset;
			trial->run_at = trial->addr + rel->offset;
			if (!data_read_field(trial, rel, trial->run + rel->offset, trial->run_at,
					     &trial->func->sites[i]))
				return false;
		}
		return true;
	}
	trial->map = malloc(len);
	if (!trial->map)
		return trial_fail_oom(trial);
	memset(trial->map, 0xff, len);
	return lockstep(trial);
}

size_t code_count_places(const struct match *match, const struct func *func)
{
	const struct objsec *sec = func->pub.sec;
	const taddr *start;
	size_t n = 0;

	vec_for_each (&match->image->starts, start) {
		const uint8_t *run = image_bytes(match->image, *start, sec->size);

		n += run && same_layout(match, sec, run, sec->size);
	}
	return n;
}
