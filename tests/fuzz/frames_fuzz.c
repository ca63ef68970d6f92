// SPDX-License-Identifier: GPL-3.0-or-later
// frames_fuzz.c - call frame information that is put together as the bytes say, and stacks
/*
 * A hostile process's CFI isn't only parsed: its rules are evaluated, over its registers and its
 * memory. A CIE and an FDE are made whose instructions are the input's, from a list of those that
 * do anything; then stacks of any contents are unwound by them.
 */

#include <dwarf.h>

#include "tests/fuzz/target.h"
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x200000, CODE_LEN = 0x1000, FRAME_AT = 0x100000, FRAME_LEN = 512, VISITS = 2000 };

struct maker {
	uint8_t bytes[FRAME_LEN];
	size_t n;
	struct input *in;
};

static void put(struct maker *m, const void *value, size_t len)
{
	if (len > sizeof(m->bytes) - m->n)
		return;
	memcpy(m->bytes + m->n, value, len);
	m->n += len;
}

static void put_byte(struct maker *m, uint8_t value)
{
	put(m, &value, 1);
}

static void put_word(struct maker *m, uint32_t value)
{
	put(m, &value, sizeof(value));
}

/* Operations of expressions that lib/unwind/expr.c knows, and any others. */
static void put_expression(struct maker *m)
{
	static const uint8_t ops[] = {
		DW_OP_breg7, DW_OP_breg6, DW_OP_plus_uconst, DW_OP_deref,   DW_OP_lit8,
		DW_OP_plus,  DW_OP_minus, DW_OP_and,         DW_OP_shl,     DW_OP_dup,
		DW_OP_swap,  DW_OP_over,  DW_OP_drop,        DW_OP_const8u, DW_OP_stack_value,
		DW_OP_bregx, DW_OP_ge,    DW_OP_mul,         DW_OP_neg,     DW_OP_call_frame_cfa,
		DW_OP_regx,  DW_OP_reg3,  DW_OP_shr,         DW_OP_not,     DW_OP_nop,
	};
	uint8_t text[64];
	size_t n = 0;

	for (size_t left = input_below(m->in, 8); left && n < 48; left--) {
		uint8_t op = ops[input_below(m->in, ARRAY_SIZE(ops))];
		size_t more = op == DW_OP_const8u ? 8
			      : op == DW_OP_bregx ? 2
			      : (op >= DW_OP_breg0 && op <= DW_OP_breg31) ||
					      op == DW_OP_plus_uconst || op == DW_OP_regx
				      ? 1
				      : 0;

		text[n++] = input_below(m->in, 32) == 1 ? (uint8_t)input_number(m->in, 1) : op;
		while (more--)
			text[n++] =
				(uint8_t)input_number(m->in, 1) & (op == DW_OP_const8u ? 255 : 127);
	}
	put_byte(m, (uint8_t)n);
	put(m, text, n);
}

static void put_instruction(struct maker *m)
{
	uint8_t reg = (uint8_t)input_below(m->in, 18), value = (uint8_t)input_below(m->in, 128);

	switch (input_below(m->in, 14)) {
	case 0:
		return put_byte(m, DW_CFA_nop);
	case 1:
		return put(m, (uint8_t[]){ DW_CFA_def_cfa, reg, value }, 3);
	case 2:
		return put(m, (uint8_t[]){ DW_CFA_def_cfa_register, reg }, 2);
	case 3:
		return put(m, (uint8_t[]){ DW_CFA_def_cfa_offset, value }, 2);
	case 4:
		return put(m, (uint8_t[]){ (uint8_t)(DW_CFA_offset | reg), value }, 2);
	case 5:
		return put(m, (uint8_t[]){ DW_CFA_val_offset, reg, value }, 3);
	case 6:
		return put(m, (uint8_t[]){ DW_CFA_register, reg, value }, 3);
	case 7:
		return put(m, (uint8_t[]){ DW_CFA_undefined, reg }, 2);
	case 8:
		return put_byte(m, DW_CFA_remember_state);
	case 9:
		return put_byte(m, DW_CFA_restore_state);
	case 10:
		return put(m, (uint8_t[]){ (uint8_t)(DW_CFA_advance_loc | value % 64) }, 1);
	case 11:
		put_byte(m, DW_CFA_def_cfa_expression);
		return put_expression(m);
	case 12:
		put(m, (uint8_t[]){ value & 1 ? DW_CFA_expression : DW_CFA_val_expression, reg },
		    2);
		return put_expression(m);
	default:
		return put_byte(m, (uint8_t)input_number(m->in, 1));
	}
}

/* Sets the length that stands in front of the entry once it is known. */
static void close_entry(struct maker *m, size_t start)
{
	uint32_t len;

	while ((m->n - start) % 8 && m->n < sizeof(m->bytes))
		put_byte(m, DW_CFA_nop);
	len = (uint32_t)(m->n - start - 4);
	if (input_below(m->in, 64) == 1)
		len = (uint32_t)input_number(m->in, 4);
	memcpy(m->bytes + start, &len, sizeof(len));
}

static void make_frames(struct maker *m)
{
	static const char *const augmentations[] = { "zR", "zRS", "zPLR", "", "eh", "z" };
	const char *augmentation = augmentations[input_below(m->in, ARRAY_SIZE(augmentations))];
	bool strange = input_below(m->in, 16) == 1;

	put_word(m, 0);
	put_word(m, 0);
	put_byte(m, 1);
	put(m, augmentation, strlen(augmentation) + 1);
	put(m, (uint8_t[]){ 1, 0x78, strange ? (uint8_t)input_below(m->in, 128) : 16 }, 3);
	put(m, (uint8_t[]){ 1, strange ? (uint8_t)input_number(m->in, 1) : 0x1b }, 2);
	put(m, (uint8_t[]){ DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 }, 5);
	close_entry(m, 0);
	for (size_t n = 1 + input_below(m->in, 3); n; n--) {
		size_t start = m->n;

		put_word(m, 0);
		put_word(m, (uint32_t)(m->n));
		put_word(m, (uint32_t)(CODE - (FRAME_AT + m->n)));
		put_word(m, CODE_LEN);
		put_byte(m, 0);
		for (size_t left = input_below(m->in, 24); left; left--)
			put_instruction(m);
		close_entry(m, start);
	}
	put_word(m, 0);
}

static bool visit(void *ctx, const struct unwind_frame *frame)
{
	(void)frame;
	return ++*(int *)ctx < VISITS;
}

static void unwind_all(struct unwinder *unwinder, struct input *in)
{
	for (int i = 0; i < 4; i++) {
		struct some_regs regs = { .known = (uint32_t)input_number(in, 2) };
		int visits = 0;
		taddr sp;

		for (int reg = 0; reg < DWARF_REGS; reg++)
			regs.value[reg] = 0x200000 + input_number(in, 2);
		regs.value[DWARF_SP] = 2 * TARGET_STEP + 8 * input_number(in, 1);
		regs.value[DWARF_PC] = CODE + input_number(in, 1);
		regs.known |= 1u << DWARF_SP | 1u << DWARF_PC;
		(void)unwind(unwinder, &regs, visit, &visits, &sp);
		(void)unwinder_leaves_signal(unwinder, regs.value[DWARF_PC]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Two mappings of four pages. */
	static const uint8_t maps[] = { 1, 0, 3, 0, 0, 0, 0, 3, 0, 0, 0 };
	const struct unwind_code code = { CODE, CODE + CODE_LEN, FRAME_AT, FRAME_LEN };
	struct input in = { data, size };
	struct maker maker = { .in = &in };
	module_vec modules = { 0 };
	auto_unwinder struct unwinder *unwinder = NULL;
	auto_proc struct proc *proc = NULL;
	uint64_t stack[64];

	make_frames(&maker);
	input_take(&in, stack, sizeof(stack));
	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		if (stack[i] & 1)
			stack[i] = CODE + stack[i] % CODE_LEN;
	proc = target_open(&(struct input){ maps, sizeof(maps) });
	if (pwrite(proc->mem_fd, maker.bytes, FRAME_LEN, FRAME_AT) < 0 ||
	    pwrite(proc->mem_fd, stack, sizeof(stack), 2 * TARGET_STEP) < 0)
		abort();
	if (unwinder_new(proc, &modules, &unwinder, NULL) == 0 &&
	    unwinder_add_code(unwinder, &code, NULL) == 0)
		unwind_all(unwinder, &in);
	return 0;
}
