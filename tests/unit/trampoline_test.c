// SPDX-License-Identifier: GPL-3.0-or-later
// trampoline_test.c - trampolines, punned trampolines and moved instructions, executed

#include <pthread.h>

#include "arch/arch.h"
#include "arch/trampoline.h"
#include "tests/unit/near_code.h"
#include "tests/unit/tap.h"
#include "uspl/abi.h"

/* What is mapped within reach of this program's code. */
static struct stage {
	_Alignas(4096) uint8_t code[PAGE];
	union {
		_Alignas(4096) struct uspl_selector selector;
		uint8_t page[PAGE];
	};
} * stage;

/* What the code below refers to. */
extern uint64_t trampoline_test_value;
extern void (*trampoline_test_pointer)(void);
uint64_t trampoline_test_value = 1001;
void (*trampoline_test_pointer)(void);

CODE(callee, "lea 100(%rdi), %rax");
CODE(new_code, "mov $-1, %rax");
/* Functions that begin with the instruction in question. */
CODE(old_push, "push %rdi; pop %rax");
CODE(old_endbr, "endbr64; lea (%rdi,%rsi), %rax");
CODE(old_load, "mov trampoline_test_value(%rip), %rax");
CODE(old_compare, "cmpq $1001, trampoline_test_value(%rip); sete %al; movzbl %al, %eax");
CODE(old_jump_short, ".byte 0xeb, 1, 0xcc; lea (%rdi,%rsi), %rax");
CODE(old_jump_near, "jmp callee");
CODE(old_jump_memory, "jmp *trampoline_test_pointer(%rip)");
CODE(old_call, "call callee; add %rsi, %rax");
CODE(old_call_pop, "call 1f; 1: pop %rax");
CODE(old_call_memory, "call *trampoline_test_pointer(%rip); add %rsi, %rax");
CODE(old_call_register, "call *%rcx; add %rsi, %rax");
CODE(old_call_through, "call *8(%r8,%r9); add %rsi, %rax");
CODE(old_return, "ret");
CODE(old_long, "movabs $0x1122334455667788, %rax");
CODE(old_jrcxz, "jrcxz 1f; mov $1, %eax; ret; 1: mov $2, %eax");
CODE(old_jecxz, "jecxz 1f; mov $1, %eax; ret; 1: mov $2, %eax");
CODE(old_loop, "loop 1f; mov $1, %eax; ret; 1: lea (%rcx,%rcx), %rax");
CODE(old_jcc_short, "js 1f; mov $1, %eax; ret; 1: mov $2, %eax");
CODE(old_jcc_near, "js callee; mov $1, %eax");
/* What can't be moved. */
CODE(bad_xbegin, "xbegin .");
CODE(bad_breakpoint, "int3");
CODE(bad_call_stack, "call *8(%rsp)");
CODE(bad_call_far, "lcall *(%rax)");
CODE(bad_call_prefix, ".byte 0x66, 0xe8, 0, 0, 0, 0");
CODE(bad_eip, "lea 8(%eip), %rax");
CODE(bad_bytes, ".byte 0x06");

static const struct {
	const char *what;
	const uint8_t *code;
	enum { ANY, CODE_IN_RCX, READS_FLAGS } kind;
} samples[] = {
	{ "push", old_push, ANY },
	{ "endbr64", old_endbr, ANY },
	{ "a load relative to the pc", old_load, ANY },
	{ "a compare relative to the pc, with an immediate", old_compare, ANY },
	{ "a short jump", old_jump_short, ANY },
	{ "a near jump", old_jump_near, ANY },
	{ "a jump through memory", old_jump_memory, ANY },
	{ "a call", old_call, ANY },
	{ "a call whose return address is looked at", old_call_pop, ANY },
	{ "a call through memory", old_call_memory, ANY },
	{ "a call through a register", old_call_register, CODE_IN_RCX },
	{ "a call through memory at a register", old_call_through, ANY },
	{ "a return", old_return, ANY },
	{ "ten bytes", old_long, ANY },
	{ "jrcxz", old_jrcxz, ANY },
	{ "jecxz", old_jecxz, ANY },
	{ "loop", old_loop, ANY },
	{ "a short conditional jump", old_jcc_short, READS_FLAGS },
	{ "a near conditional jump", old_jcc_near, READS_FLAGS },
};

static const struct {
	const char *what;
	const uint8_t *code;
} unmovable[] = {
	{ "xbegin", bad_xbegin },
	{ "a breakpoint", bad_breakpoint },
	{ "a call through the stack", bad_call_stack },
	{ "a far call", bad_call_far },
	{ "a call with an operand size prefix", bad_call_prefix },
	{ "an operand relative to eip", bad_eip },
	{ "no instruction", bad_bytes },
};

/* A thread's registers at a function's entry and after its return, in the processor's order. */
struct registers {
	uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi, high[8], flags;
};

/* Calls `to` with these registers, and puts there what it leaves in them; not the flags. */
void trampoline_test_call(uint64_t to, struct registers *regs);
__asm__(".pushsection .text\n"
	"trampoline_test_call:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rsi; push %rdi\n"
	"push 120(%rsi); popf\n"
	"mov 0(%rsi), %rax; mov 8(%rsi), %rcx; mov 16(%rsi), %rdx; mov 24(%rsi), %rbx\n"
	"mov 32(%rsi), %rbp; mov 48(%rsi), %rdi; mov 56(%rsi), %r8; mov 64(%rsi), %r9\n"
	"mov 72(%rsi), %r10; mov 80(%rsi), %r11; mov 88(%rsi), %r12; mov 96(%rsi), %r13\n"
	"mov 104(%rsi), %r14; mov 112(%rsi), %r15; mov 40(%rsi), %rsi\n"
	"call *(%rsp)\n"
	"push %rsi; mov 16(%rsp), %rsi\n"
	"mov %rax, 0(%rsi); mov %rcx, 8(%rsi); mov %rdx, 16(%rsi); mov %rbx, 24(%rsi)\n"
	"mov %rbp, 32(%rsi); mov %rdi, 48(%rsi); mov %r8, 56(%rsi); mov %r9, 64(%rsi)\n"
	"mov %r10, 72(%rsi); mov %r11, 80(%rsi); mov %r12, 88(%rsi); mov %r13, 96(%rsi)\n"
	"mov %r14, 104(%rsi); mov %r15, 112(%rsi); pop %rax; mov %rax, 40(%rsi)\n"
	"add $16, %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
	".popsection");

static struct registers some_registers(uint64_t rcx, uint64_t flags)
{
	static uint64_t table[4];
	struct registers regs = { .rax = 77,
				  .rcx = rcx,
				  .rdx = 3,
				  .rbx = 4,
				  .rbp = 5,
				  .rsi = 6,
				  .rdi = 40,
				  .flags = 0x202 | flags };

	table[1] = address(callee);
	for (size_t i = 0; i < ARRAY_SIZE(regs.high); i++)
		regs.high[i] = 100 + i;
	regs.high[0] = address(table);
	regs.high[1] = 0;
	return regs;
}

/* Of an update that changes one module: the selector decides itself. */
static void set_selector(struct uspl_selector selector)
{
	selector.leader = address(&stage->selector);
	stage->selector = selector;
}

static int encode(const uint8_t *old, struct uspl_err *err)
{
	const struct trampoline_code trampoline = { .at = address(stage->code),
						    .selector = address(&stage->selector),
						    .entry = address(old),
						    .new_addr = address(new_code),
						    .old = old,
						    .old_len = TRAMPOLINE_OLD_MAX };

	return trampoline_encode(&trampoline, stage->code, err);
}

/* Calls old code directly and by way of the stage; true if nobody could tell. */
static bool same_by_stage(const uint8_t *old, uint64_t rcx, uint64_t flags)
{
	struct registers direct = some_registers(rcx, flags), staged = direct;

	trampoline_test_pointer = (void (*)(void))callee;
	trampoline_test_call(address(old), &direct);
	trampoline_test_call(address(stage->code), &staged);
	return !memcmp(&direct, &staged, sizeof(direct));
}

/* Puts the first instruction of old there alone, with the jump back. */
static bool move(const uint8_t *old)
{
	taddr at = address(stage->code);
	size_t n;
	int len = insn_move(address(old), old, TRAMPOLINE_OLD_MAX, at, stage->code, &n, NULL);

	return len > 0 &&
	       arch_native()->jump_encode(at + n, address(old) + (taddr)len, stage->code + n);
}

static void test_moved(void)
{
	enum { SIGN = 0x80 };

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const uint8_t *old = samples[i].code;
		uint64_t other = samples[i].kind == CODE_IN_RCX ? address(new_code) : 0;

		ok(move(old) && same_by_stage(old, address(callee), 0) &&
			   same_by_stage(old, other, 0) && same_by_stage(old, other, SIGN),
		   "%s, moved", samples[i].what);
		stage->selector.value = USPL_SELECTOR_OLD;
		/* Flags aren't live at a function's entry. */
		if (samples[i].kind != READS_FLAGS)
			ok(encode(old, NULL) == 0 && same_by_stage(old, address(callee), 0) &&
				   same_by_stage(old, other, 0),
			   "%s, in a trampoline", samples[i].what);
	}
}

static void test_unmovable(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(unmovable); i++) {
		struct uspl_err err = { 0 };

		ok(encode(unmovable[i].code, &err) == -USPL_E_UNSUPPORTED && err.msg[0],
		   "%s is refused: %s", unmovable[i].what, err.msg);
	}
}

/* True if the trampoline leads to new code with all registers as they were. */
static bool leads_to_new(void)
{
	struct registers before = some_registers(1, 0), after = before;

	trampoline_test_call(address(stage->code), &after);
	before.rax = UINT64_MAX;
	return !memcmp(&before, &after, sizeof(before));
}

static void test_states(void)
{
	ok(encode(old_push, NULL) == 0, "a trampoline");
	set_selector((struct uspl_selector){ .value = USPL_SELECTOR_NEW });
	ok(leads_to_new(), "NEW leads to the new code, registers untouched");
	set_selector((struct uspl_selector){
		.value = USPL_SELECTOR_HOLD_NEW, .turns = 1000, .all_turns = 5000 });
	ok(leads_to_new() && stage->selector.value == USPL_SELECTOR_NEW,
	   "HOLD_NEW waits, falls back to NEW, and leads there");
	set_selector((struct uspl_selector){
		.value = USPL_SELECTOR_HOLD_OLD, .turns = 1000, .all_turns = 5000 });
	ok(same_by_stage(old_push, 1, 0) && stage->selector.value == USPL_SELECTOR_OLD,
	   "HOLD_OLD waits, falls back to OLD, and leads there");
	set_selector((struct uspl_selector){
		.value = USPL_SELECTOR_HOLD_OLD, .turns = 0, .all_turns = 5000 });
	ok(same_by_stage(old_push, 1, 0) && stage->selector.value == USPL_SELECTOR_OLD,
	   "with no turns at all, too");
	set_selector(
		(struct uspl_selector){ .value = USPL_SELECTOR_HOLD_OLD, .turns = UINT32_MAX });
	ok(same_by_stage(old_push, 1, 0) && stage->selector.value == USPL_SELECTOR_OLD,
	   "and when all together have waited long enough");
}

/* Goes through the trampoline again and again; ends when it comes to the new code. */
static void *goes_through(void *olds)
{
	struct registers regs;

	do {
		regs = some_registers(1, 0);
		trampoline_test_call(address(stage->code), &regs);
		__atomic_add_fetch((uint64_t *)olds, regs.rax != UINT64_MAX, __ATOMIC_SEQ_CST);
	} while (regs.rax != UINT64_MAX);
	return NULL;
}

/* A trampoline whose selector says that another one decides, which is anywhere. */
static void test_follow(void)
{
	struct uspl_selector leader = { .value = USPL_SELECTOR_OLD,
					.turns = 1000,
					.all_turns = 5000 };

	stage->selector =
		(struct uspl_selector){ .value = USPL_SELECTOR_FOLLOW, .leader = address(&leader) };
	ok(same_by_stage(old_push, 1, 0), "FOLLOW leads to the old code where the other word does");
	leader.value = USPL_SELECTOR_NEW;
	ok(leads_to_new(), "and to the new code, registers untouched");
	leader.value = USPL_SELECTOR_HOLD_NEW;
	ok(leads_to_new() && leader.value == USPL_SELECTOR_NEW,
	   "it waits while the other word holds, and lets that fall back");
	leader.value = USPL_SELECTOR_HOLD_OLD;
	ok(same_by_stage(old_push, 1, 0) && leader.value == USPL_SELECTOR_OLD, "to OLD, too");
	ok(stage->selector.value == USPL_SELECTOR_FOLLOW, "its own word is left alone");
}

/* Between HOLD and the commit nobody passes; after it nobody enters old code. */
static void test_commit(bool follow)
{
	struct uspl_selector other, *leader = follow ? &other : &stage->selector;
	pthread_t threads[3];
	uint64_t olds = 0, held;
	uint8_t want = USPL_SELECTOR_HOLD_OLD;
	const struct timespec pause = { .tv_nsec = 2000000 };
	const char *which = follow ? "that follows another's word" : "of its own word";

	stage->selector =
		(struct uspl_selector){ .value = USPL_SELECTOR_FOLLOW, .leader = address(leader) };
	*leader = (struct uspl_selector){ .value = USPL_SELECTOR_OLD,
					  .turns = UINT32_MAX,
					  .all_turns = INT32_MAX,
					  .leader = address(leader) };
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, goes_through, &olds);
	while (__atomic_load_n(&olds, __ATOMIC_SEQ_CST) < 1000)
		nanosleep(&pause, NULL);
	__atomic_store_n(&leader->value, USPL_SELECTOR_HOLD_OLD, __ATOMIC_SEQ_CST);
	nanosleep(&pause, NULL); /* for those who had read OLD */
	held = __atomic_load_n(&olds, __ATOMIC_SEQ_CST);
	nanosleep(&pause, NULL);
	ok(__atomic_load_n(&olds, __ATOMIC_SEQ_CST) <= held + ARRAY_SIZE(threads),
	   "no thread passes a trampoline %s while that holds", which);
	ok(__atomic_compare_exchange_n(&leader->value, &want, USPL_SELECTOR_NEW, false,
				       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST),
	   "the word still held");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	ok(leader->value == USPL_SELECTOR_NEW, "all threads came to the new code");
}

/* The parts of a kind in order, and each with a jump that acts on what was read, or behind one. */
static bool in_order(const struct trampoline_part *parts)
{
	for (size_t i = 0; i < TRAMPOLINE_N_PARTS; i++)
		if (parts[i].start >= parts[i].end || (i && parts[i].start < parts[i - 1].end))
			return false;
	return true;
}

static bool are_apart(const struct trampoline_part *one, const struct trampoline_part *other)
{
	return one->end <= other->start || other->end <= one->start;
}

static void test_parts(void)
{
	const struct trampoline_part *old = trampoline_old_parts, *new = trampoline_new_parts;
	bool apart = true;

	for (size_t i = 0; i < TRAMPOLINE_N_PARTS; i++)
		for (size_t j = 0; j < TRAMPOLINE_N_PARTS; j++)
			apart &= are_apart(&old[i], &new[j]);
	ok(in_order(old) && in_order(new) && apart &&
		   old[TRAMPOLINE_N_PARTS - 1].end == trampoline_either_parts[0][1].start &&
		   trampoline_either_parts[0][1].end <= TRAMPOLINE_LEN &&
		   old[TRAMPOLINE_N_PARTS - 1].end == trampoline_either_parts[1][1].start &&
		   trampoline_either_parts[1][1].end <= TRAMPOLINE_LEN_BY_THREAD,
	   "the parts lie in order and apart");
	ok(stage->code[old[0].start] == 0x74 && stage->code[new[0].start] == 0x0f &&
		   stage->code[new[0].start + 1] == 0x84 && stage->code[old[1].start] == 0x74 &&
		   stage->code[new[1].start] == 0x74,
	   "each begins with the jump that acts on what was read");
	for (size_t i = 0; i < 2; i++) {
		const struct trampoline_part *part = i ? &new[1] : &old[1],
					     *to = i ? &new[2] : &old[2];

		ok(part->start + 2 + stage->code[part->start + 1] == to->start,
		   "or where such a jump leads");
	}
}

static void test_punned(void)
{
	uint8_t bytes[5], punned[PUNNED_MAX];
	static const uint8_t entry[] = { 0x55, 0x10, 0, 0, 0 };
	static const uint8_t jump[] = { 0xe9, 0x10, 0, 0, 0 };
	static const uint8_t back[] = { 0x55, 0, 0, 0, 0xff };
	struct registers regs = some_registers(1, 0);
	taddr to;

	ok(trampoline_pun_jump(0x400000, entry, bytes, &to) && to == 0x400015 &&
		   !memcmp(bytes, jump, sizeof(jump)),
	   "the bytes that stay are the jump's distance");
	ok(!trampoline_pun_jump(0x400000, jump, bytes, &to), "not where a jump stands already");
	ok(!trampoline_pun_jump(0x400000, back, bytes, &to), "not out of the address space");
	ok(trampoline_encode_punned(0x10000, 0x20000, punned) == 5, "a short pad within reach");
	ok(trampoline_encode_punned(address(stage->page), address(new_code) + (1ul << 40),
				    punned) == PUNNED_MAX,
	   "a long one beyond");
	ok(trampoline_encode_punned(0, address(new_code), stage->code) == PUNNED_MAX,
	   "for the next test");
	trampoline_test_call(address(stage->code), &regs);
	ok(regs.rax == UINT64_MAX, "a long pad leads there");
}

/* The jump of that form, led to a punned trampoline at its highest place on the page, is run. */
static bool run_short(size_t own, unsigned int form)
{
	uint8_t *entry = stage->code + 16;
	struct registers regs = some_registers(1, 0);
	struct short_jump jump;
	taddr to, most = address(stage->code) + PAGE - PUNNED_MAX;

	memset(stage->code, 0, PAGE);
	if (!trampoline_short_form(address(entry), entry, own, form, &jump) ||
	    jump.lowest > jump.highest)
		return false;
	to = jump.highest < most ? jump.highest : most;
	trampoline_short_aim(&jump, to);
	memcpy(entry, jump.bytes, jump.len);
	trampoline_encode_punned(to, address(new_code), stage->code + (to - address(stage->code)));
	trampoline_test_call(address(entry), &regs);
	return regs.rax == UINT64_MAX && jump.len <= own;
}

static void test_short(void)
{
	static const uint8_t far[SHORT_JUMP_MAX] = { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t taken[SHORT_JUMP_MAX] = { 0xe9 };
	struct short_jump jump;

	for (size_t own = 1; own <= 4; own++)
		for (unsigned int form = 0; form <= own; form++)
			ok(run_short(own, form), "form %u of a jump over %zu bytes", form, own);
	ok(!trampoline_short_form(0x400000, far, 3, 4, &jump), "there are no more forms");
	ok(trampoline_short_form(0x400000, far, 1, 0, &jump) && jump.lowest > jump.highest,
	   "none that leads below the lowest address");
	ok(trampoline_short_form(0x400000, taken, 4, 0, &jump) && jump.lowest > jump.highest,
	   "no pun where a jump stands already");
	ok(trampoline_short_form(0x70000000, far, 3, 1, &jump) &&
		   jump.highest - jump.lowest == 0xffff,
	   "two bytes of three are free behind the opcode");
}

int main(void)
{
	stage = map_near(callee, sizeof(*stage));
	if (!stage)
		tap_skip_all("no memory near the code");
	test_moved();
	test_unmovable();
	test_states();
	test_parts();
	test_follow();
	test_commit(false);
	test_commit(true);
	test_punned();
	test_short();
	return tap_done();
}
