// SPDX-License-Identifier: GPL-3.0-or-later
// confined.c - x86-64: code of a user's that is to run within the program's, looked at before it is
// loaded
/*
 * The code runs where only the general registers have been saved, on a stack of which it isn't
 * known how much is left. So it may use general registers only, and where it goes, and where its
 * stack pointer is, must be known at each instruction.
 *
 * A function is followed along all ways through it, with two facts: how far its stack pointer is
 * from where it was at the entry, and what %rbp is, since `leave` makes that the stack pointer.
 * Where two ways meet they must agree on the stack pointer. A function returns with both as it
 * found them; so what holds of a callee holds behind its call. (Memory isn't followed: code that
 * writes to a stack's word by an address that it has computed may change its own return address.)
 */

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/probe_code.h"
#include "arch/x86_64/x86_64.h"

/* What %rbp is: the caller's, unknown, or, 0 and more, so far below the stack pointer's origin. */
enum { RBP_CALLERS = -1, RBP_OTHER = -2, DEPTH_LIMIT = 1 << 20 };

/* What is known before an instruction is run. */
struct frame {
	bool seen;
	int32_t depth; /* bytes between the return address and the stack pointer */
	int32_t rbp;
	int32_t saved; /* the depth behind the push of the caller's %rbp; 0: it isn't there */
};

struct look {
	const uint8_t *code;
	size_t len;
	struct frame *frames; /* of the instruction that begins there */
	size_t *open;         /* where to go on from */
	size_t n_open;
	int64_t deepest;
};

/* A decoded instruction. */
struct line {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static const char stack_unknown[] = "", way_unknown[] = "calls or jumps to what can't be known";

static bool is_general(const struct line *line)
{
	switch (line->insn.meta.isa_set) {
	case ZYDIS_ISA_SET_I86:
	case ZYDIS_ISA_SET_I186:
	case ZYDIS_ISA_SET_I286REAL:
	case ZYDIS_ISA_SET_I386:
	case ZYDIS_ISA_SET_I486REAL:
	case ZYDIS_ISA_SET_PENTIUMREAL:
	case ZYDIS_ISA_SET_LONGMODE:
	case ZYDIS_ISA_SET_CMOV:
	case ZYDIS_ISA_SET_FAT_NOP:
	case ZYDIS_ISA_SET_PPRO:
	case ZYDIS_ISA_SET_CMPXCHG16B:
	case ZYDIS_ISA_SET_PAUSE:
	case ZYDIS_ISA_SET_POPCNT:
	case ZYDIS_ISA_SET_BMI1:
	case ZYDIS_ISA_SET_BMI2:
	case ZYDIS_ISA_SET_LZCNT:
	case ZYDIS_ISA_SET_CET:
		break;
	default:
		return false;
	}
	/* Their moves are of the base set, too. */
	for (size_t i = 0; i < line->insn.operand_count; i++) {
		ZydisRegisterClass class = ZYDIS_REGCLASS_INVALID;

		if (line->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			class = ZydisRegisterGetClass(line->operands[i].reg.value);
		if (class == ZYDIS_REGCLASS_SEGMENT || class == ZYDIS_REGCLASS_CONTROL ||
		    class == ZYDIS_REGCLASS_DEBUG)
			return false;
	}
	return true;
}

/* Why it may not run there, whatever comes before it; NULL if it may. */
static const char *why_not(const struct line *line)
{
	const ZydisDecodedInstruction *insn = &line->insn;
	bool is_branch = insn->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;

	if (insn->meta.category == ZYDIS_CATEGORY_SYSCALL ||
	    insn->meta.category == ZYDIS_CATEGORY_SYSTEM ||
	    insn->meta.category == ZYDIS_CATEGORY_SYSRET ||
	    insn->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
	    insn->meta.category == ZYDIS_CATEGORY_IO || insn->meta.category == ZYDIS_CATEGORY_SEGOP)
		return "asks the kernel, or changes what only the kernel should";
	if (!is_general(line))
		return "uses other registers than the general ones";
	if (insn->mnemonic == ZYDIS_MNEMONIC_CPUID)
		return "may stop a virtual machine";
	if (insn->meta.category == ZYDIS_CATEGORY_RET)
		return insn->opcode == 0xc3 ? NULL : way_unknown;
	if (is_branch && (line->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
			  (insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)))
		return way_unknown;
	return NULL;
}

static bool is_register(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == reg;
}

/* True if it writes to the register, or to a part of it. */
static bool does_write(const struct line *line, ZydisRegister reg)
{
	for (size_t i = 0; i < line->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &line->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operand->reg.value) == reg)
			return true;
	}
	return false;
}

static void pop_rbp(struct frame *frame)
{
	frame->rbp = frame->saved && frame->saved == frame->depth ? RBP_CALLERS : RBP_OTHER;
}

/* lea of a constant distance from the stack pointer, or from a frame. false: of something else. */
static bool load_stack(const ZydisDecodedOperand *from, struct frame *frame)
{
	int64_t depth = from->mem.base == ZYDIS_REGISTER_RSP ? frame->depth : frame->rbp;

	if ((from->mem.base != ZYDIS_REGISTER_RSP && from->mem.base != ZYDIS_REGISTER_RBP) ||
	    from->mem.index != ZYDIS_REGISTER_NONE || depth < 0 ||
	    from->mem.disp.value > DEPTH_LIMIT || from->mem.disp.value < -DEPTH_LIMIT)
		return false;
	frame->depth = (int32_t)(depth - from->mem.disp.value);
	return true;
}

/* Moves the stack pointer as the instruction does. false: that can't be told. */
static bool move_stack(const struct line *line, struct frame *frame)
{
	const ZydisDecodedOperand *to = &line->operands[0], *from = &line->operands[1];
	bool constant = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE,
	     whole = is_register(to, ZYDIS_REGISTER_RSP);

	switch (line->insn.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		frame->depth += 8;
		if (is_register(to, ZYDIS_REGISTER_RBP) && frame->rbp == RBP_CALLERS)
			frame->saved = frame->depth;
		return line->insn.operand_width == 64;
	case ZYDIS_MNEMONIC_POP:
		if (is_register(to, ZYDIS_REGISTER_RBP))
			pop_rbp(frame);
		frame->depth -= 8;
		return line->insn.operand_width == 64 && !whole;
	case ZYDIS_MNEMONIC_LEAVE:
		if (frame->rbp < 0 || line->insn.operand_width != 64)
			return false;
		frame->depth = frame->rbp;
		pop_rbp(frame);
		frame->depth -= 8;
		return true;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return true;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (!whole || !constant || from->imm.value.s > DEPTH_LIMIT ||
		    from->imm.value.s < -DEPTH_LIMIT)
			return false;
		frame->depth +=
			(int32_t)(line->insn.mnemonic == ZYDIS_MNEMONIC_SUB ? from->imm.value.s
									    : -from->imm.value.s);
		return true;
	case ZYDIS_MNEMONIC_LEA:
		return whole && load_stack(from, frame);
	case ZYDIS_MNEMONIC_MOV:
		if (!whole || !is_register(from, ZYDIS_REGISTER_RBP) || frame->rbp < 0)
			return false;
		frame->depth = frame->rbp;
		return true;
	default:
		return false;
	}
}

/* What is known behind the instruction. Why it may not run there; NULL if it may. */
static const char *step(const struct line *line, struct frame *frame)
{
	bool rbp = does_write(line, ZYDIS_REGISTER_RBP) &&
		   line->insn.mnemonic != ZYDIS_MNEMONIC_POP &&
		   line->insn.mnemonic != ZYDIS_MNEMONIC_LEAVE;

	if (line->insn.meta.category == ZYDIS_CATEGORY_RET &&
	    (frame->depth || frame->rbp != RBP_CALLERS))
		return "returns to what can't be known";
	if (rbp && line->insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
	    is_register(&line->operands[0], ZYDIS_REGISTER_RBP) &&
	    is_register(&line->operands[1], ZYDIS_REGISTER_RSP))
		frame->rbp = frame->depth;
	else if (rbp)
		frame->rbp = RBP_OTHER;
	if (does_write(line, ZYDIS_REGISTER_RSP) && !move_stack(line, frame))
		return stack_unknown;
	if (frame->depth < 0 || frame->depth > DEPTH_LIMIT)
		return stack_unknown;
	if (frame->saved > frame->depth)
		frame->saved = 0;
	return NULL;
}

/* A way leads to `at`. Why it may not; NULL if it may. */
static const char *go_on(struct look *look, size_t at, const struct frame *frame)
{
	struct frame *there = &look->frames[at];
	bool rbp = there->rbp != RBP_OTHER && there->rbp != frame->rbp,
	     saved = there->saved && there->saved != frame->saved;

	if (!there->seen) {
		*there = *frame;
		there->seen = true;
		look->open[look->n_open++] = at;
		return NULL;
	}
	if (there->depth != frame->depth)
		return stack_unknown;
	if (rbp)
		there->rbp = RBP_OTHER;
	if (saved)
		there->saved = 0;
	if (rbp || saved)
		look->open[look->n_open++] = at;
	return NULL;
}

static bool decode(const struct look *look, size_t at, struct line *ret)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, look->code + at, look->len - at,
						   &ret->insn, ret->operands));
}

/* What is put before it for a moment (bounded.c) may take so much of the stack. */
static int32_t stack_of_count(const struct look *look, const struct line *line, size_t at,
			      const struct insn *insn)
{
	size_t to = at + insn->len + (size_t)insn->rel;
	bool repeats = line->insn.attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	bool back = insn->rel_size && to <= at;

	return repeats || (back && !x86_64_ignores_flags(look->code + to, look->len - to))
		       ? BOUNDED_STACK
		       : 0;
}

/* Where the function goes from an instruction, and what is known there. */
static const char *follow(struct look *look, size_t at)
{
	struct frame frame = look->frames[at];
	const char *why;
	struct insn insn;
	struct line line;
	size_t next, to;
	int32_t counted;

	if (!decode(look, at, &line) || !x86_64_insn_decode(look->code + at, look->len - at, &insn))
		return "isn't understood";
	next = at + insn.len;
	to = next + (size_t)insn.rel;
	counted = frame.depth + stack_of_count(look, &line, at, &insn);
	if (counted > look->deepest)
		look->deepest = counted;
	why = step(&line, &frame);
	if (why)
		return why;
	if (frame.depth > look->deepest)
		look->deepest = frame.depth;
	if (insn.flow == INSN_JUMP || insn.flow == INSN_COND_JUMP) {
		why = to < look->len                             ? go_on(look, to, &frame)
		      : !frame.depth && frame.rbp == RBP_CALLERS ? NULL
								 : "leaves its function with "
								   "something on the stack";
		if (why)
			return why;
	}
	if (insn.flow == INSN_JUMP || insn.flow == INSN_RETURN || insn.flow == INSN_TRAP)
		return NULL;
	return next < look->len ? go_on(look, next, &frame) : "runs on behind its end";
}

/* All of it, one instruction behind the other, be it reached or not. */
static const char *check_lines(const struct look *look, size_t *at)
{
	struct line line;

	for (*at = 0; *at < look->len; *at += line.insn.length) {
		const char *why = "isn't understood";

		if (decode(look, *at, &line))
			why = why_not(&line);
		if (why)
			return why;
	}
	return NULL;
}

int confined_check(const uint8_t *code, size_t len, uint64_t *ret_stack, struct uspl_err *err)
{
	auto_free struct frame *frames = calloc(len + 1, sizeof(*frames));
	/* Each fact is lost once, at most. */
	auto_free size_t *open = calloc(3 * len + 1, sizeof(*open));
	struct look look = { .code = code, .len = len, .frames = frames, .open = open };
	const char *why;
	size_t at;

	if (!frames || !open)
		return uspl_fail_nomem(err);
	look.deepest = x86_64_ignores_flags(code, len) ? 0 : BOUNDED_STACK;
	why = check_lines(&look, &at);
	if (!why)
		why = go_on(&look, 0, &(struct frame){ .rbp = RBP_CALLERS });
	while (!why && look.n_open) {
		at = look.open[--look.n_open];
		why = follow(&look, at);
	}
	if (why == stack_unknown)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "how much stack it takes can't be told, at +0x%zx", at);
	if (why)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "its code at +0x%zx %s", at, why);
	*ret_stack = (uint64_t)look.deepest + sizeof(taddr);
	return 0;
}
