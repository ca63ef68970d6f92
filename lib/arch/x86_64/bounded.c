// SPDX-License-Identifier: GPL-3.0-or-later
// bounded.c - x86-64: code of a user's, made such that it ends
/*
 * What confined.c has let pass is copied, one instruction behind the other, and counts what it
 * does: a number that the run begins with gets smaller, and where it would come to nothing the run
 * is over. Code that goes forward comes to its end by itself, so it is counted where it begins and
 * where it goes back:
 *
 *     at a function's beginning       its instructions
 *     at a jump back                  those between where it leads and the jump, both counted
 *     at an instruction that repeats  how often it does
 *
 * Each instruction that is run has been counted before: a function is run through once for having
 * been entered, and each part of it once more for each jump back over it. They are counted in units
 * of eight, rounded up.
 *
 * The number is in a register that the code doesn't use, where no write to memory reaches it: in
 * the lower 16 bits. Above it is the stack pointer of the beginning, to which a run that is cut
 * short goes back, so that one register does for both.
 *
 *     begin: cmpq  $RUNS_CUT, counters(%rip); jae passed
 *            (jump to passed if the stack pointer has more than 48 bits)
 *            push  %rbx, %rbp, %r12 to %r15     ; the code may be cut short before it restores them
 *            push  the shadow stack's pointer, 0 if there is none
 *            number := %rsp << 16 | units
 *            call  the program
 *     end:   pop   %rcx, %r15 to %r12, %rbp, %rbx; ret
 *     cut:   lock incq counters(%rip)
 *            %rsp := number >> 16; the shadow stack as it was; %eax := 0; jmp end
 *     passed: lock incq counters+8(%rip); %eax := 0; ret
 *
 * What counts keeps the flags, unless what is run next is seen to set them before it reads any.
 */

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/trampoline.h"
#include "arch/x86_64/emit.h"
#include "arch/x86_64/x86_64.h"
#include "base/cleanup.h"
#include "base/vec.h"

enum { UNITS = 0xffff, UNIT = BOUNDED_INSNS / UNITS, RUNS_CUT = 100 };

/* Where in the code a distance is, and what it leads to. */
struct bounded_ref {
	size_t field;
	size_t to;   /* in the program, as it was linked */
	bool entry;  /* to where the function that begins there is counted; */
	size_t made; /* not 0: to this place in the code itself */
};

struct bounded {
	const struct bounded_program *program;
	struct buf out;
	uint32_t *moved;   /* where each instruction begins in the code; 0: none begins there */
	uint32_t *entries; /* the same of functions, with what counts them */
	VEC(struct bounded_ref) refs;
	uint8_t reg; /* that counts */
	size_t cut;  /* where a run ends that has been long enough */
};

#define BYTES(bounded, ...)                                                                        \
	buf_add(&(bounded)->out, (const uint8_t[]){ __VA_ARGS__ },                                 \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_32(struct bounded *bounded, uint32_t value)
{
	buf_add(&bounded->out, &value, sizeof(value));
}

/* Room for a distance, to be filled in when all is in its place. */
static int put_ref(struct bounded *bounded, struct bounded_ref ref, struct uspl_err *err)
{
	struct bounded_ref *place = vec_push(&bounded->refs);

	if (!place)
		return uspl_fail_nomem(err);
	ref.field = bounded->out.len;
	*place = ref;
	put_32(bounded, 0);
	return 0;
}

/* The distance to a counter; `behind`: bytes of the instruction that follow. */
static void put_counter(struct bounded *bounded, size_t number, size_t behind)
{
	taddr next = bounded->program->to + bounded->out.len + sizeof(uint32_t) + behind;

	put_32(bounded, (uint32_t)(bounded->program->counters + number * WORD - next));
}

/* REX.B or REX.R for the register that counts, with others. */
static uint8_t rex(const struct bounded *bounded, uint8_t others, uint8_t bit)
{
	return (uint8_t)(0x40 | others | (bounded->reg >= R8 ? bit : 0));
}

/* Subtracts what is in %cx (units 0) or a number of units. */
static void put_subtract(struct bounded *bounded, size_t units)
{
	uint8_t reg = bounded->reg & 7, prefix = rex(bounded, 0, 1);

	if (!units)
		BYTES(bounded, 0x66, prefix, 0x29, (uint8_t)(0xc8 | reg));
	else if (units <= INT8_MAX)
		BYTES(bounded, 0x66, prefix, 0x83, (uint8_t)(0xe8 | reg), (uint8_t)units);
	else
		BYTES(bounded, 0x66, prefix, 0x81, (uint8_t)(0xe8 | reg), (uint8_t)units,
		      (uint8_t)(units >> 8));
}

/* Over the red zone, which belongs to the code, and back. */
static void put_keep_flags(struct bounded *bounded)
{
	BYTES(bounded, 0x48, 0x8d, 0x64, 0x24, (uint8_t)-RED_ZONE, 0x9c);
}

static void put_restore_flags(struct bounded *bounded)
{
	BYTES(bounded, 0x9d, 0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0, 0, 0);
}

enum { CC_AE = 3, CC_BE = 6 };

/* A jump to where the run ends. */
static int put_cut(struct bounded *bounded, uint8_t condition, struct uspl_err *err)
{
	BYTES(bounded, 0x0f, (uint8_t)(0x80 | condition));
	return put_ref(bounded, (struct bounded_ref){ .made = bounded->cut }, err);
}

/* Counts so many instructions, before what begins at `next` in the program is run. */
static int put_count(struct bounded *bounded, size_t insns, const struct bounded_function *function,
		     size_t next, struct uspl_err *err)
{
	const uint8_t *code = bounded->program->code;
	bool keep = !x86_64_ignores_flags(code + next, function->at + function->len - next);
	size_t units = (insns + UNIT - 1) / UNIT;
	int rc;

	if (units >= UNITS)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%zu instructions of it are more than a run may do, %d", insns,
				 BOUNDED_INSNS);
	if (keep)
		put_keep_flags(bounded);
	put_subtract(bounded, units);
	rc = put_cut(bounded, CC_BE, err);
	if (rc)
		return rc;
	if (keep)
		put_restore_flags(bounded);
	return 0;
}

/* How many instructions there are. */
static size_t count_insns(const struct bounded *bounded, size_t at, size_t end)
{
	struct insn insn;
	size_t n = 0;

	for (; at < end; at += insn.len, n++)
		if (!x86_64_insn_decode(bounded->program->code + at, end - at, &insn))
			break;
	return n;
}

static const struct bounded_function *function_at(const struct bounded *bounded, size_t at)
{
	for (size_t i = 0; i < bounded->program->n_functions; i++)
		if (bounded->program->functions[i].at == at)
			return &bounded->program->functions[i];
	return NULL;
}

/*
 * A branch over what follows if the one at `code` isn't taken; where its distance, of one byte, is.
 */
static size_t put_over(struct bounded *bounded, const uint8_t *code, const struct insn *insn)
{
	uint8_t op = code[insn->rel_off - 1];

	if (op >= 0xe0 && op <= 0xe3) { /* loop, jrcxz: no opposites */
		buf_add(&bounded->out, code, insn->rel_off);
		BYTES(bounded, 2, 0xeb, 0);
	} else {
		BYTES(bounded, (uint8_t)(0x70 | ((op & 0x0f) ^ 1)), 0);
	}
	return bounded->out.len - 1;
}

static int put_branch(struct bounded *bounded, const struct bounded_function *function, size_t at,
		      const struct insn *insn, struct uspl_err *err)
{
	const uint8_t *code = bounded->program->code + at;
	size_t to = at + insn->len + (size_t)insn->rel, over = 0;
	bool inside = to - function->at < function->len && insn->flow != INSN_CALL;
	int rc;

	if (!inside && !function_at(bounded, to))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "its code at +0x%zx leads into the middle of a function",
				 at - function->at);
	if (insn->flow == INSN_COND_JUMP)
		over = put_over(bounded, code, insn);
	if (inside && to <= at) {
		rc = put_count(bounded, count_insns(bounded, to, at + insn->len), function, to,
			       err);
		if (rc)
			return rc;
	}
	BYTES(bounded, insn->flow == INSN_CALL ? 0xe8 : 0xe9);
	rc = put_ref(bounded, (struct bounded_ref){ .to = to, .entry = !inside }, err);
	if (rc)
		return rc;
	if (over && !bounded->out.oom)
		bounded->out.data[over] = (char)(bounded->out.len - (over + 1));
	return 0;
}

/* How often an instruction is going to be repeated: what is in %rcx. */
static int put_count_repeats(struct bounded *bounded, struct uspl_err *err)
{
	int rc;

	put_keep_flags(bounded);
	BYTES(bounded, 0x51, 0x48, 0xc1, 0xe9, 3); /* push %rcx; shr $3, %rcx */
	BYTES(bounded, 0x48, 0x81, 0xf9);          /* cmp $UNITS, %rcx */
	put_32(bounded, UNITS);
	rc = put_cut(bounded, CC_AE, err);
	if (rc)
		return rc;
	BYTES(bounded, 0x48, 0x83, 0xc1, 1); /* add $1, %rcx */
	put_subtract(bounded, 0);
	rc = put_cut(bounded, CC_BE, err);
	if (rc)
		return rc;
	BYTES(bounded, 0x59); /* pop %rcx */
	put_restore_flags(bounded);
	return 0;
}

static int put_plain(struct bounded *bounded, const struct bounded_function *function, size_t at,
		     const struct insn *insn, struct uspl_err *err)
{
	const struct bounded_program *program = bounded->program;
	const uint8_t *code = program->code + at;
	uint8_t moved[INSN_MOVED_MAX];
	size_t len;
	int rc;

	if (insn->pc_relative_mem) {
		taddr to;
		int32_t disp;

		memcpy(&disp, code + insn->disp_off, sizeof(disp));
		to = at + insn->len + (taddr)(int64_t)disp;
		if (to < program->len)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "its code at +0x%zx refers to code as to data",
					 at - function->at);
	}
	rc = insn_move(program->from + at, code, insn->len, program->to + bounded->out.len, moved,
		       &len, err);
	if (rc < 0)
		return rc;
	buf_add(&bounded->out, moved, len);
	return 0;
}

static bool does_repeat(const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, len, &insn)) &&
	       (insn.attributes &
		(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
}

static int put_insn(struct bounded *bounded, const struct bounded_function *function, size_t at,
		    const struct insn *insn, struct uspl_err *err)
{
	const uint8_t *code = bounded->program->code + at;
	int rc;

	if (insn->rel_size)
		return put_branch(bounded, function, at, insn, err);
	if (insn->flow == INSN_TRAP) { /* the end of the run, not of the process */
		BYTES(bounded, 0xe9);
		return put_ref(bounded, (struct bounded_ref){ .made = bounded->cut }, err);
	}
	if (does_repeat(code, insn->len)) {
		rc = put_count_repeats(bounded, err);
		if (rc)
			return rc;
	}
	return put_plain(bounded, function, at, insn, err);
}

static int put_function(struct bounded *bounded, const struct bounded_function *function,
			struct uspl_err *err)
{
	size_t end = function->at + function->len;
	struct insn insn;
	int rc;

	bounded->entries[function->at] = (uint32_t)bounded->out.len;
	rc = put_count(bounded, count_insns(bounded, function->at, end), function, function->at,
		       err);
	if (rc)
		return rc;
	for (size_t at = function->at; at < end; at += insn.len) {
		if (!x86_64_insn_decode(bounded->program->code + at, end - at, &insn))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "its code at +0x%zx isn't understood", at - function->at);
		bounded->moved[at] = (uint32_t)bounded->out.len;
		rc = put_insn(bounded, function, at, &insn, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* lock incq counter(%rip) */
static void put_counted(struct bounded *bounded, size_t counter)
{
	BYTES(bounded, 0xf0, 0x48, 0xff, 0x05);
	put_counter(bounded, counter, 0);
}

/* What the probe calls. */
static int put_begin(struct bounded *bounded, struct uspl_err *err)
{
	uint8_t reg = bounded->reg & 7;
	size_t passed[2], end;
	int rc;

	BYTES(bounded, 0x48, 0x83, 0x3d); /* cmpq $RUNS_CUT, counters(%rip) */
	put_counter(bounded, 0, 1);
	BYTES(bounded, RUNS_CUT, 0x73, 0); /* jae passed */
	passed[0] = bounded->out.len - 1;
	BYTES(bounded, 0x48, 0x89, 0xe0, 0x48, 0xc1, 0xe8, 48); /* mov %rsp, %rax; shr $48, %rax */
	BYTES(bounded, 0x75, 0);                                /* jne passed */
	passed[1] = bounded->out.len - 1;
	BYTES(bounded, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57);
	BYTES(bounded, 0xf3, 0x48, 0x0f, 0x1e, 0xc8, 0x50); /* rdsspq %rax; push %rax */
	BYTES(bounded, rex(bounded, 8, 1), 0x89, (uint8_t)(0xe0 | reg));     /* mov %rsp, number */
	BYTES(bounded, rex(bounded, 8, 1), 0xc1, (uint8_t)(0xe0 | reg), 16); /* shl $16, number */
	BYTES(bounded, rex(bounded, 8, 1), 0x81, (uint8_t)(0xc8 | reg));     /* or $UNITS, number */
	put_32(bounded, UNITS);
	BYTES(bounded, 0xe8);
	rc = put_ref(bounded, (struct bounded_ref){ .to = bounded->program->entry, .entry = true },
		     err);
	if (rc)
		return rc;
	end = bounded->out.len;
	BYTES(bounded, 0x59, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3);
	bounded->cut = bounded->out.len;
	put_counted(bounded, 0);
	BYTES(bounded, rex(bounded, 8, 1), 0xc1, (uint8_t)(0xe8 | reg), 16);  /* shr $16, number */
	BYTES(bounded, rex(bounded, 8, 4), 0x89, (uint8_t)(0xc4 | reg << 3)); /* mov number, %rsp */
	BYTES(bounded, 0xfc, 0x31, 0xd2, 0xf3, 0x48, 0x0f, 0x1e,
	      0xca);                                              /* cld; rdsspq to %rdx or 0 */
	BYTES(bounded, 0x48, 0x85, 0xd2, 0x74, 16);               /* test %rdx, %rdx; je */
	BYTES(bounded, 0x48, 0x8b, 0x0c, 0x24, 0x48, 0x29, 0xd1); /* mov (%rsp), %rcx; sub */
	BYTES(bounded, 0x48, 0xc1, 0xe9, 3, 0xf3, 0x48, 0x0f, 0xae,
	      0xe9);                      /* shr $3; incsspq %rcx */
	BYTES(bounded, 0x31, 0xc0, 0xe9); /* xor %eax, %eax; jmp end */
	put_32(bounded, (uint32_t)(end - (bounded->out.len + sizeof(uint32_t))));
	for (size_t i = 0; i < ARRAY_SIZE(passed) && !bounded->out.oom; i++)
		bounded->out.data[passed[i]] = (char)(bounded->out.len - (passed[i] + 1));
	put_counted(bounded, 1);
	BYTES(bounded, 0x31, 0xc0, 0xc3);
	return 0;
}

/* All distances, now that everything has its place. */
static int fill_refs(struct bounded *bounded, struct uspl_err *err)
{
	const struct bounded_ref *ref;

	if (bounded->out.oom)
		return uspl_fail_nomem(err);
	vec_for_each (&bounded->refs, ref) {
		size_t to = ref->made    ? ref->made
			    : ref->entry ? bounded->entries[ref->to]
					 : bounded->moved[ref->to];
		int32_t distance = (int32_t)(to - (ref->field + sizeof(distance)));

		if (!to)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "it jumps into the middle of an instruction");
		memcpy(bounded->out.data + ref->field, &distance, sizeof(distance));
	}
	return 0;
}

/* The general register that one is, or is a part of, as a bit; 0 of others. */
static unsigned bit_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64
		       ? 1u << ZydisRegisterGetId(whole)
		       : 0;
}

/* A register that no instruction names; -1: there is none. */
static int free_register(const struct bounded_program *program)
{
	static const uint8_t choices[] = { 15, 14, 13, 12, RBP, R11, R10, R9, R8, RBX };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	unsigned used = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < program->n_functions; i++) {
		size_t at = program->functions[i].at, end = at + program->functions[i].len;

		for (; at < end; at += insn.length) {
			if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, program->code + at,
								 end - at, &insn, operands)))
				return -1;
			for (size_t k = 0; k < insn.operand_count; k++) {
				const ZydisDecodedOperand *operand = &operands[k];

				if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
					used |= bit_of(operand->reg.value);
				if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
					used |= bit_of(operand->mem.base) |
						bit_of(operand->mem.index);
			}
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		if (!(used & 1u << choices[i]))
			return choices[i];
	return -1;
}

int bounded_encode(const struct bounded_program *program, struct buf *buf, struct uspl_err *err)
{
	auto_free uint32_t *moved = calloc(program->len + 1, sizeof(*moved));
	auto_free uint32_t *entries = calloc(program->len + 1, sizeof(*entries));
	struct bounded bounded = { .program = program, .moved = moved, .entries = entries };
	int reg = free_register(program), rc;

	if (!moved || !entries)
		return uspl_fail_nomem(err);
	if (reg < 0) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "it uses all registers: one is needed to count what it does");
		uspl_hint(err, "an object that gcc compiles with '-ffixed-r15' has one");
		return -USPL_E_UNSUPPORTED;
	}
	bounded.reg = (uint8_t)reg;
	rc = put_begin(&bounded, err);
	for (size_t i = 0; !rc && i < program->n_functions; i++)
		rc = put_function(&bounded, &program->functions[i], err);
	if (!rc)
		rc = fill_refs(&bounded, err);
	if (!rc)
		buf_add(buf, bounded.out.data, bounded.out.len);
	if (!rc && buf->oom)
		rc = uspl_fail_nomem(err);
	vec_release(&bounded.refs);
	buf_release(&bounded.out);
	return rc;
}
