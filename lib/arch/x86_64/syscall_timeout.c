// SPDX-License-Identifier: GPL-3.0-or-later
// syscall_timeout.c - x86-64: system calls with a time-out, and whether the register that holds it
// is dead
/*
 * The kernel keeps the registers of arguments, so the code behind the system call may use them
 * again. All of it is looked at, from there along every jump, until the register is written or the
 * function returns: r8, r10 and rdx needn't be kept for the caller (System V ABI, 3.2.1). (rdx is
 * the second half of a result of two words; code that returns the pointer it has just passed to the
 * kernel as that half isn't reckoned with.)
 *
 * A call is followed, too, if its target is known, since arguments may have been left in their
 * registers for it; what the callee does to the register doesn't count, for it may write it on one
 * way only. r10 carries no argument to a function, so there the callee doesn't matter, and an
 * unknown one is no harm. Everything else that leads to an unknown place ends the proof: the answer
 * is "no" then.
 */

#include "arch/syscall_timeout.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <sys/syscall.h>

#include "arch/x86_64/x86_64.h"

/* How many instructions are looked at. */
#define WALK_MAX 256
#define INSN_MAX 15

/* The registers of arguments, and where a tracer has them. */
static const struct {
	ZydisRegister name;
	size_t offset;
} arg_registers[] = {
	{ ZYDIS_REGISTER_RDI, offsetof(struct user_regs_struct, rdi) },
	{ ZYDIS_REGISTER_RSI, offsetof(struct user_regs_struct, rsi) },
	{ ZYDIS_REGISTER_RDX, offsetof(struct user_regs_struct, rdx) },
	{ ZYDIS_REGISTER_R10, offsetof(struct user_regs_struct, r10) },
	{ ZYDIS_REGISTER_R8, offsetof(struct user_regs_struct, r8) },
	{ ZYDIS_REGISTER_R9, offsetof(struct user_regs_struct, r9) },
};

bool syscall_timeout(long nr, struct syscall_timeout *ret)
{
	static const struct {
		long nr;
		struct syscall_timeout timeout;
	} calls[] = {
		{ SYS_epoll_wait, { 3, TIMEOUT_MS } },
		{ SYS_epoll_pwait, { 3, TIMEOUT_MS } },
		{ SYS_epoll_pwait2, { 3, TIMEOUT_TIMESPEC } },
		{ SYS_semtimedop, { 3, TIMEOUT_TIMESPEC } },
		{ SYS_rt_sigtimedwait, { 2, TIMEOUT_TIMESPEC } },
		{ SYS_io_getevents, { 4, TIMEOUT_TIMESPEC } },
		{ SYS_io_pgetevents, { 4, TIMEOUT_TIMESPEC } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr) {
			*ret = calls[i].timeout;
			return true;
		}
	return false;
}

struct walk {
	ZydisRegister reg;
	code_reader *read;
	void *ctx;
	ZydisDecoder decoder;
	taddr places[WALK_MAX]; /* instructions that are reached with the value in the register */
	size_t n, done;
};

enum use { USE_NONE, USE_READ, USE_WRITTEN };

static bool is_part_of(ZydisRegister part, ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part) == reg;
}

/* xor and sub of a register with itself make zero of it, whatever it held. */
static bool makes_zero(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops)
{
	return (insn->mnemonic == ZYDIS_MNEMONIC_XOR || insn->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ops[1].reg.value &&
	       ops[0].size >= 32;
}

/* A write of 8 or 16 bits, or one under a condition, leaves something of the old value. */
static enum use use_of(const struct walk *walk, const ZydisDecodedInstruction *insn,
		       const ZydisDecodedOperand *ops)
{
	enum use use = USE_NONE;

	if (makes_zero(insn, ops))
		return is_part_of(ops[0].reg.value, walk->reg) ? USE_WRITTEN : USE_NONE;
	for (int i = 0; i < insn->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];
		bool whole = op->size >= 32;

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (is_part_of(op->mem.base, walk->reg) || is_part_of(op->mem.index, walk->reg)))
			return USE_READ;
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !is_part_of(op->reg.value, walk->reg))
			continue;
		if (!whole || (op->actions & ~ZYDIS_OPERAND_ACTION_WRITE))
			return USE_READ;
		use = USE_WRITTEN;
	}
	return use;
}

static bool go_on_from(struct walk *walk, taddr at)
{
	for (size_t i = 0; i < walk->n; i++)
		if (walk->places[i] == at)
			return true;
	if (walk->n == WALK_MAX)
		return false;
	walk->places[walk->n++] = at;
	return true;
}

static bool follow(struct walk *walk, const struct insn *insn, taddr next)
{
	bool may_be_argument = walk->reg != ZYDIS_REGISTER_R10;

	switch (insn->flow) {
	case INSN_PLAIN:
		return go_on_from(walk, next);
	case INSN_COND_JUMP:
		return go_on_from(walk, next) && go_on_from(walk, next + (uint64_t)insn->rel);
	case INSN_JUMP:
		return go_on_from(walk, next + (uint64_t)insn->rel);
	case INSN_CALL:
		return go_on_from(walk, next) &&
		       (!may_be_argument || go_on_from(walk, next + (uint64_t)insn->rel));
	case INSN_CALL_INDIRECT:
		return !may_be_argument && go_on_from(walk, next);
	case INSN_RETURN:
	case INSN_TRAP:
		return true;
	default:
		return false;
	}
}

static bool step(struct walk *walk, taddr at)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zydis;
	uint8_t code[INSN_MAX];
	struct insn insn;
	size_t len = walk->read(walk->ctx, at, code, sizeof(code));

	if (!x86_64_insn_decode(code, len, &insn) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&walk->decoder, code, len, &zydis, ops)))
		return false;
	/* Another system call may take the register for an argument. */
	if (zydis.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return false;
	switch (use_of(walk, &zydis, ops)) {
	case USE_WRITTEN:
		return true;
	case USE_NONE:
		return follow(walk, &insn, at + insn.len);
	default:
		return false;
	}
}

bool syscall_arg_is_dead(uint8_t arg, taddr pc, code_reader *read, void *ctx)
{
	struct walk walk = { .reg = arg_registers[arg].name, .read = read, .ctx = ctx };

	ZydisDecoderInit(&walk.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	go_on_from(&walk, pc);
	while (walk.done < walk.n)
		if (!step(&walk, walk.places[walk.done++]))
			return false;
	return true;
}

static unsigned long long *arg_of(struct arch_regs *regs, size_t arg)
{
	return (unsigned long long *)((char *)&regs->user + arg_registers[arg].offset);
}

bool regs_are_interrupted_at(const struct arch_regs *regs, const struct blocked_place *place)
{
	struct arch_regs have = *regs;

	if (place->nr < 0 || regs_syscall(regs) != place->nr || regs_sp(regs) != place->sp ||
	    regs_pc(regs) != place->pc || (int64_t)regs->user.rax != -EINTR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(place->args); i++)
		if (*arg_of(&have, i) != place->args[i])
			return false;
	return true;
}

void regs_set_syscall_arg(struct arch_regs *regs, uint8_t arg, uint64_t value)
{
	*arg_of(regs, arg) = value;
}
