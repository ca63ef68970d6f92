// SPDX-License-Identifier: GPL-3.0-or-later
// detour.c - x86-64: an instruction whose operand has to be looked up first
/*
 * The instruction gives way to a jump, and is done elsewhere with its operand in a register that it
 * doesn't use itself (%s below):
 *
 *     op  var(%rip), ...       becomes   jmp  detour; nop...
 *                              detour:   lea  -128(%rsp), %rsp      the red zone
 *                                        push %s
 *                                        (look up)
 *                                        op   (%s), ...
 *                                        pop  %s
 *                                        lea  128(%rsp), %rsp
 *                                        jmp  back
 *
 * Looking up is `mov slot(%rip), %s` for an address, and for a distance, which only a function of
 * the runtime knows, `push $offset; call helper; pop %s`. Neither changes another register or the
 * flags, nor do push, pop and lea. A distance replaces the displacement of a memory operand (it is
 * added to the operand's base), an immediate, or the contents of a slot of the GOT.
 *
 * Those that jump, call or push have a form of their own. Their operand is put on the stack, behind
 * the red zone, and taken from there with no register changed:
 *
 *     jmp *var(%rip)           becomes   jmp  detour; nop...
 *                              detour:   lea  -128(%rsp), %rsp
 *                                        push %s; push %s         room for the address; save
 *                                        (look up)
 *                                        mov  (%s), %s
 *                                        mov  %s, 8(%rsp)
 *                                        pop  %s
 *                                        ret  $128                the red zone goes, too
 *     call *var(%rip)          becomes   nop...; call detour      the same return address
 *                              detour:   as above
 *     push var(%rip)           becomes   jmp  detour; nop...
 *                              detour:   lea  -136(%rsp), %rsp    with room for what is pushed
 *                                        push %s
 *                                        (look up)
 *                                        mov  (%s), %s
 *                                        mov  %s, 136(%rsp)
 *                                        pop  %s
 *                                        lea  128(%rsp), %rsp
 *                                        jmp  back
 *
 * Any other instruction that uses the stack pointer has no such form. Nothing jumps into the middle
 * of an instruction, so that its bytes are free.
 */

#include <Zydis/Zydis.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

enum { OP_NOP = 0x90, OP_PUSH = 0x50, OP_POP = 0x58, OP_CALL = 0xe8, RED_ZONE = 128 };

/* What becomes of the operand. */
enum use { USE_PLAIN, USE_JUMP, USE_CALL, USE_PUSH };

/* An instruction taken apart, and how it is to be put together again. */
struct form {
	enum use use;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisEncoderRequest request;
	unsigned int scratch; /* the register that it doesn't use, by number */
	bool has_base;        /* to be added to the scratch register first */
	unsigned int base;
};

static ZydisRegister wide(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

/* The set of general registers that it uses, bits by number. */
static uint32_t used_registers(const struct form *form, bool *ret_high_byte)
{
	uint32_t used = 0;

	int n = form->use == USE_PLAIN ? form->insn.operand_count
				       : form->insn.operand_count_visible;

	for (int i = 0; i < n; i++) {
		const ZydisDecodedOperand *op = &form->ops[i];
		ZydisRegister regs[3] = { ZYDIS_REGISTER_NONE };

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			regs[0] = op->reg.value;
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			regs[1] = op->mem.base;
			regs[2] = op->mem.index;
		}
		for (size_t j = 0; j < ARRAY_SIZE(regs); j++) {
			ZydisRegister reg = wide(regs[j]);

			*ret_high_byte |=
				regs[j] >= ZYDIS_REGISTER_AH && regs[j] <= ZYDIS_REGISTER_BH;
			if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
				used |= 1u << (reg - ZYDIS_REGISTER_RAX);
		}
	}
	return used;
}

static bool choose_scratch(struct form *form)
{
	const unsigned int rsp = ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX;
	bool high_byte = false;
	uint32_t used = used_registers(form, &high_byte);

	if (used & 1u << rsp)
		return false;
	used |= 1u << rsp;
	/* With %ah and its like no register that needs a prefix can be encoded. */
	for (unsigned int reg = 0; reg < (high_byte ? 8 : 16); reg++) {
		if (used & 1u << reg)
			continue;
		form->scratch = reg;
		return true;
	}
	return false;
}

/* The scratch register as wide as an operand of so many bits. */
static ZydisRegister scratch_of(const struct form *form, unsigned int bits)
{
	static const ZydisRegister first[] = { ZYDIS_REGISTER_AX, ZYDIS_REGISTER_EAX,
					       ZYDIS_REGISTER_RAX };

	return first[bits == 64 ? 2 : bits == 32] + form->scratch;
}

static bool replace_memory(struct form *form, enum detour_kind kind, int i)
{
	const ZydisDecodedOperandMem *mem = &form->ops[i].mem;
	ZydisEncoderOperand *out = &form->request.operands[i];
	bool relative = mem->base == ZYDIS_REGISTER_RIP;

	if (kind == DETOUR_DISTANCE ? relative : kind == DETOUR_SLOT_DISTANCE && !relative)
		return false;
	if (kind == DETOUR_SLOT_DISTANCE) {
		*out = (ZydisEncoderOperand){ .type = ZYDIS_OPERAND_TYPE_REGISTER };
		out->reg.value = scratch_of(form, form->ops[i].size);
		return form->ops[i].size == 64;
	}
	form->has_base = !relative && mem->base != ZYDIS_REGISTER_NONE;
	if (form->has_base)
		form->base = mem->base - ZYDIS_REGISTER_RAX;
	if (form->has_base && (mem->base < ZYDIS_REGISTER_RAX || mem->base > ZYDIS_REGISTER_R15))
		return false;
	out->mem.base = scratch_of(form, 64);
	out->mem.displacement = 0;
	return true;
}

/*
 * A constant of 32 bits that stands for 64. Of the instructions that work on 32 bits only `mov` to
 * a register means that.
 */
static bool replace_immediate(struct form *form, enum detour_kind kind, int i)
{
	ZydisEncoderOperand *first = &form->request.operands[0];

	if (kind == DETOUR_SLOT_DISTANCE || i == 0)
		return false;
	if (form->ops[0].size == 32 && form->insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
	    form->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		first->reg.value = wide(form->ops[0].reg.value);
	else if (form->ops[0].size != 64)
		return false;
	form->request.operands[i] = (ZydisEncoderOperand){ .type = ZYDIS_OPERAND_TYPE_REGISTER };
	form->request.operands[i].reg.value = scratch_of(form, 64);
	return true;
}

/* Instead of what is done with it: the operand's value into the scratch register. */
static bool replace_use(struct form *form, enum detour_kind kind)
{
	ZydisEncoderRequest load = { .machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
				     .mnemonic = ZYDIS_MNEMONIC_MOV,
				     .prefixes = form->request.prefixes & ZYDIS_ATTRIB_HAS_SEGMENT,
				     .operand_count = 2 };

	if (form->insn.operand_width != 64 || kind == DETOUR_SLOT_DISTANCE)
		return false;
	if (form->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY && !replace_memory(form, kind, 0))
		return false;
	load.operands[0].type = ZYDIS_OPERAND_TYPE_REGISTER;
	load.operands[0].reg.value = scratch_of(form, 64);
	load.operands[1] = form->request.operands[0];
	/* A constant that is pushed is what has been looked up. */
	if (form->ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		load.operands[1] = load.operands[0];
	form->request = load;
	return true;
}

static bool parse(enum detour_kind kind, const uint8_t *code, uint8_t len, uint8_t field,
		  struct form *form)
{
	ZydisOperandType type = ZYDIS_OPERAND_TYPE_UNUSED;
	ZydisDecoder decoder;
	int i = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (len < X86_64_JUMP_LEN ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, len, &form->insn, form->ops)) ||
	    form->insn.length != len || form->insn.raw.imm[0].is_relative)
		return false;
	form->has_base = false;
	form->use = form->insn.mnemonic == ZYDIS_MNEMONIC_JMP    ? USE_JUMP
		    : form->insn.mnemonic == ZYDIS_MNEMONIC_CALL ? USE_CALL
		    : form->insn.mnemonic == ZYDIS_MNEMONIC_PUSH ? USE_PUSH
								 : USE_PLAIN;
	/* The operand that the field belongs to. */
	if (form->insn.raw.disp.size == 32 && form->insn.raw.disp.offset == field)
		type = ZYDIS_OPERAND_TYPE_MEMORY;
	else if (form->insn.raw.imm[0].size == 32 && form->insn.raw.imm[0].offset == field)
		type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
	while (i < form->insn.operand_count_visible && form->ops[i].type != type)
		i++;
	if (i == form->insn.operand_count_visible || !choose_scratch(form) ||
	    !ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
		    &form->insn, form->ops, form->insn.operand_count_visible, &form->request)))
		return false;
	if (form->use != USE_PLAIN)
		return replace_use(form, kind);
	if (form->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return replace_memory(form, kind, i);
	return replace_immediate(form, kind, i);
}

static size_t put(uint8_t *code, const void *bytes, size_t len)
{
	memcpy(code, bytes, len);
	return len;
}

static size_t put_push_or_pop(uint8_t *code, uint8_t op, unsigned int reg)
{
	size_t n = 0;

	if (reg >= 8)
		code[n++] = 0x41;
	code[n++] = (uint8_t)(op | (reg & 7));
	return n;
}

/* mov slot(%rip), %scratch */
static size_t put_load(uint8_t *code, const struct form *form, taddr at, taddr slot)
{
	uint8_t insn[] = { (uint8_t)(form->scratch >= 8 ? 0x4c : 0x48), 0x8b,
			   (uint8_t)(0x05 | (form->scratch & 7) << 3) };
	int32_t rel = (int32_t)(slot - (at + sizeof(insn) + sizeof(rel)));
	size_t n = put(code, insn, sizeof(insn));

	return n + put(code + n, &rel, sizeof(rel));
}

/* lea 0(%base, %scratch), %scratch */
static size_t put_add_base(uint8_t *code, const struct form *form)
{
	unsigned int s = form->scratch, b = form->base;
	uint8_t insn[] = { (uint8_t)(0x48 | (s >= 8 ? 6 : 0) | (b >= 8 ? 1 : 0)), 0x8d,
			   (uint8_t)(0x44 | (s & 7) << 3), (uint8_t)((s & 7) << 3 | (b & 7)), 0 };

	return put(code, insn, sizeof(insn));
}

static size_t put_look_up(uint8_t *code, const struct form *form, const struct detour *detour,
			  taddr at, bool *ret_fits)
{
	size_t n = 0;

	*ret_fits = true;
	if (detour->kind == DETOUR_ADDRESS) {
		n += put_load(code, form, at, detour->slot);
	} else {
		code[n++] = 0x68;
		n += put(code + n, &detour->offset, sizeof(detour->offset));
		*ret_fits = x86_64_jump_encode(at + n, detour->helper, code + n);
		code[n] = OP_CALL;
		n += X86_64_JUMP_LEN;
		n += put_push_or_pop(code + n, OP_POP, form->scratch);
	}
	return form->has_base ? n + put_add_base(code + n, form) : n;
}

bool x86_64_detour_possible(enum detour_kind kind, const uint8_t *insn, uint8_t len, uint8_t field)
{
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZyanUSize code_len = sizeof(code);
	struct form form;

	return parse(kind, insn, len, field, &form) &&
	       ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&form.request, code, &code_len));
}

/* mov %scratch, off(%rsp) */
static size_t put_store(uint8_t *code, const struct form *form, uint32_t off)
{
	uint8_t insn[] = { (uint8_t)(form->scratch >= 8 ? 0x4c : 0x48), 0x89,
			   (uint8_t)(0x84 | (form->scratch & 7) << 3), 0x24 };
	size_t n = put(code, insn, sizeof(insn));

	return n + put(code + n, &off, sizeof(off));
}

/* lea off(%rsp), %rsp */
static size_t put_move_stack(uint8_t *code, int32_t off)
{
	static const uint8_t insn[] = { 0x48, 0x8d, 0xa4, 0x24 };
	size_t n = put(code, insn, sizeof(insn));

	return n + put(code + n, &off, sizeof(off));
}

/* What begins a detour: up to the saved scratch register. */
static size_t put_enter(uint8_t *code, const struct form *form)
{
	size_t n = put_move_stack(code, form->use == USE_PUSH ? -RED_ZONE - 8 : -RED_ZONE);

	if (form->use == USE_JUMP || form->use == USE_CALL)
		n += put_push_or_pop(code + n, OP_PUSH, form->scratch);
	return n + put_push_or_pop(code + n, OP_PUSH, form->scratch);
}

/* What ends one, with everything as it was; back is where it goes on, unless it jumps. */
static size_t put_leave(uint8_t *code, const struct form *form, taddr at, taddr back,
			bool *ret_fits)
{
	static const uint8_t ret_red_zone[] = { 0xc2, RED_ZONE, 0 };
	bool jumps = form->use == USE_JUMP || form->use == USE_CALL;
	size_t n = 0;

	if (form->use != USE_PLAIN)
		n += put_store(code, form, jumps ? 8 : RED_ZONE + 8);
	n += put_push_or_pop(code + n, OP_POP, form->scratch);
	*ret_fits = true;
	if (jumps)
		return n + put(code + n, ret_red_zone, sizeof(ret_red_zone));
	n += put_move_stack(code + n, RED_ZONE);
	*ret_fits = x86_64_jump_encode(at + n, back, code + n);
	return n + X86_64_JUMP_LEN;
}

/*
 * In the instruction's place: a jump, or a call that returns to where the instruction would have.
 */
static bool put_way_in(uint8_t *insn, const struct form *form, const struct detour *detour)
{
	size_t nops = detour->insn_len - X86_64_JUMP_LEN, at = form->use == USE_CALL ? nops : 0;

	memset(insn, OP_NOP, detour->insn_len);
	if (!x86_64_jump_encode(detour->insn_addr + at, detour->code_addr, insn + at))
		return false;
	if (form->use == USE_CALL)
		insn[at] = OP_CALL;
	return true;
}

bool x86_64_detour_encode(const struct detour *detour, uint8_t *insn, uint8_t *code)
{
	ZyanUSize len = ZYDIS_MAX_INSTRUCTION_LENGTH;
	struct form form;
	bool finds, fits;
	size_t n;

	if (!parse(detour->kind, insn, detour->insn_len, detour->field, &form))
		return false;
	n = put_enter(code, &form);
	n += put_look_up(code + n, &form, detour, detour->code_addr + n, &finds);
	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&form.request, code + n, &len)))
		return false;
	n += len;
	n += put_leave(code + n, &form, detour->code_addr + n, detour->insn_addr + detour->insn_len,
		       &fits);
	return finds && fits && put_way_in(insn, &form, detour);
}
