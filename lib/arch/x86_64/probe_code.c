// SPDX-License-Identifier: GPL-3.0-or-later
// probe_code.c - x86-64: the code of a probe
/*
 *            what stood at the site before its NOP
 *     inner: lea   -128(%rsp), %rsp        ; over the red zone
 *            push  %rax, %rcx, %rdx, %rsi, %rdi
 *            (lahf; seto %al; push %rax)   ; the flags, where they may be in use
 *            tests                         ; each: the argument into %rsi, compare, jump
 *            (the user's program is called with the arguments on the stack, and may say no)
 *            mov   $bytes, %ecx
 *            call  uspl_mark_take          ; %rax: the ring's records, %rcx: the record's place;
 *                                          ; or %rax is 0
 *            arguments                     ; each: its slot into %rdx, its value by way of %rsi
 *            the id                        ; last: from here on the record is whole
 *            pop ...
 *     chain_slot: jmp end
 *     end:   what stood at the site behind its NOP; jmp back
 *
 * At a function's return all up to `chain_slot` is run by a thunk (thunk.c) that the site leads to.
 * The thunk's body is the chain slot; what comes before it ends with a jump to uspl_mark_return.
 *
 * The probe changes no register but these five (and what a program may change, which is saved as
 * well), so an argument is in its own register, or on the stack.
 */

#include "arch/probe_code.h"

#include <string.h>

#include "arch/trampoline.h"
#include "arch/x86_64/emit.h"
#include "arch/x86_64/x86_64.h"
#include "uspl/mark_abi.h"
#include "uspl/probe.h"
#include "uspl/trace_abi.h"

_Static_assert(offsetof(struct uspl_hit, args) == HIT_ARGS &&
		       USPL_HIT_ARGS_MAX == USPL_PROBE_ARGS_MAX,
	       "the hit is made by pushes");

/* A jump's distance: a test, or what follows them; filled in at the end. */
static void put_target(struct emit *emit, int target)
{
	emit->jumps[emit->n_jumps++] = emit->out.len;
	emit_32(emit, (uint32_t)target);
}

static void put_jcc(struct emit *emit, uint8_t condition, int target)
{
	PUT(emit, 0x0f, (uint8_t)(0x80 | condition));
	put_target(emit, target);
}

enum { CC_B = 2, CC_E = 4, CC_NE = 5, CC_BE = 6, CC_A = 7, CC_L = 12, CC_LE = 14 };

/* The condition under which the relation holds. */
static uint8_t condition_of(const struct probe_test *test, bool is_signed)
{
	uint8_t less = is_signed ? CC_L : CC_B, less_equal = is_signed ? CC_LE : CC_BE;

	switch (test->relation) {
	case PROBE_EQUAL:
		return CC_E;
	case PROBE_UNEQUAL:
	case PROBE_BITS:
		return CC_NE;
	case PROBE_LESS:
		return less;
	case PROBE_LESS_EQUAL:
		return less_equal;
	case PROBE_GREATER:
		return less_equal ^ 1;
	case PROBE_GREATER_EQUAL:
		return less ^ 1;
	}
	return CC_E;
}

/* A text's address into rdi. It lies in the code, and is jumped over. */
static void put_text_address(struct emit *emit, const char *text)
{
	size_t len = strlen(text) + 1;

	PUT(emit, 0x48, 0x8d, 0x3d, JUMP_LEN, 0, 0, 0); /* lea text(%rip), %rdi */
	PUT(emit, 0xe9);
	emit_32(emit, (uint32_t)len);
	emit_bytes(emit, text, len);
}

/* lea by(%rsp), %rsp: keeps flags. */
static void put_lea_stack(struct emit *emit, int32_t by)
{
	PUT(emit, 0x48, 0x8d, 0xa4, 0x24);
	emit_32(emit, (uint32_t)by);
}

/*
 * The string at rsi, which may lead to where nothing is, copied onto the stack: the first len bytes
 * with a NUL behind; rsi leads to the copy. What it takes of the stack is returned, and to be given
 * back. Changes rdx, rdi.
 */
static int32_t put_fetch(struct emit *emit, size_t len)
{
	int32_t room = emit->code->careful ? (int32_t)((len + 1 + 15) & ~15ul) : 0;

	if (!room)
		return 0;
	put_lea_stack(emit, -room);
	PUT(emit, 0xbf); /* mov $len, %edi */
	emit_32(emit, (uint32_t)len);
	emit_call(emit, uspl_mark_fetch);
	return room;
}

static void compare_text(struct emit *emit, const char *text)
{
	/* One byte more than is equal, which tells longer strings. */
	int32_t room = put_fetch(emit, strlen(text) + 1);

	put_text_address(emit, text);
	emit_call(emit, uspl_mark_same);
	if (room)
		put_lea_stack(emit, room);
}

/*
 * Compares the floating-point number in rsi, without the registers and flags of such numbers, which
 * the program may be using. For what is no number it jumps to where the test is not true.
 */
static void compare_real(struct emit *emit, const struct probe_test *test)
{
	bool is_float = emit->code->args[test->arg].place.size == sizeof(float);
	/* The infinities without their sign, shifted by one; what isn't a number is above. */
	uint64_t infinity = is_float ? 0xffull << 56 : 0x7ffull << 53;
	int64_t order = (int64_t)(is_float ? test->value << 32 : test->value);

	/*
	 * A number's bits as a whole number with a sign that is in the same order. Both zeros are
	 * 0.
	 */
	order = (uint64_t)order << 1 ? order ^ (int64_t)((uint64_t)(order >> 63) >> 1) : 0;

	if (is_float)
		PUT(emit, 0x48, 0xc1, 0xe6, 32); /* shl $32, %rsi */
	PUT(emit, 0x48, 0xbf);                   /* mov $infinity, %rdi */
	emit_64(emit, infinity);
	PUT(emit, 0x48, 0x8d, 0x14, 0x36); /* lea (%rsi,%rsi), %rdx */
	PUT(emit, 0x48, 0x39, 0xfa);       /* cmp %rdi, %rdx */
	put_jcc(emit, CC_A, test->relation == PROBE_UNEQUAL ? test->if_true : test->if_false);
	PUT(emit, 0x48, 0x85, 0xd2);       /* test %rdx, %rdx */
	PUT(emit, 0x48, 0x0f, 0x44, 0xf2); /* cmovz %rdx, %rsi */
	PUT(emit, 0x48, 0x89, 0xf2);       /* mov %rsi, %rdx */
	PUT(emit, 0x48, 0xc1, 0xfa, 63);   /* sar $63, %rdx */
	PUT(emit, 0x48, 0xd1, 0xea);       /* shr %rdx */
	PUT(emit, 0x48, 0x31, 0xd6);       /* xor %rdx, %rsi */
	PUT(emit, 0x48, 0xbf);             /* mov $order, %rdi */
	emit_64(emit, (uint64_t)order);
	PUT(emit, 0x48, 0x39, 0xfe); /* cmp %rdi, %rsi */
}

static void put_test(struct emit *emit, const struct probe_test *test)
{
	const struct place *place = &emit->code->args[test->arg].place;

	emit_load(emit, place);
	if (test->text) {
		compare_text(emit, test->text);
	} else if (place->is_float) {
		compare_real(emit, test);
	} else {
		PUT(emit, 0x48, 0xbf); /* mov $value, %rdi */
		emit_64(emit, test->value);
		if (test->relation == PROBE_BITS)
			PUT(emit, 0x48, 0x85, 0xfe); /* test %rdi, %rsi */
		else
			PUT(emit, 0x48, 0x39, 0xfe); /* cmp %rdi, %rsi */
	}
	put_jcc(emit, condition_of(test, place->is_signed || place->is_float), test->if_true);
	PUT(emit, 0xe9);
	put_target(emit, test->if_false);
}

static void put_tests(struct emit *emit)
{
	for (size_t i = 0; i < emit->code->n_tests; i++) {
		emit->test_at[i] = emit->out.len;
		put_test(emit, &emit->code->tests[i]);
	}
	emit->pass = emit->out.len;
}

/* Sets the jumps' distances, whose places hold a test's number or what it stands for. */
static void resolve_tests(struct emit *emit)
{
	for (size_t i = 0; i < emit->n_jumps; i++) {
		uint8_t *field = (uint8_t *)emit->out.data + emit->jumps[i];
		int32_t target, distance;
		size_t to;

		memcpy(&target, field, sizeof(target));
		to = target == PROBE_PASS   ? emit->pass
		     : target == PROBE_SKIP ? emit->skip
					    : emit->test_at[target];
		distance = (int32_t)(to - (emit->jumps[i] + sizeof(distance)));
		memcpy(field, &distance, sizeof(distance));
	}
}

/* The address of a slot of the record into rdx. */
static void put_slot(struct emit *emit, uint16_t slot)
{
	PUT(emit, 0x48, 0x8d, 0x91); /* lea 16 * slot(%rcx), %rdx */
	emit_32(emit, slot * (uint32_t)USPL_TRACE_RECORD);
	PUT(emit, 0x48, 0x23, 0x15); /* and ring_mask(%rip), %rdx */
	emit_distance(emit, emit->code->runtime + USPL_TRACE_CONTROL + TC_RING_MASK);
	PUT(emit, 0x48, 0x01, 0xc2); /* add %rax, %rdx */
}

/* A slot's last four bytes, its sign or id; the slot is in rdx. */
static void put_sign(struct emit *emit, uint32_t sign)
{
	PUT(emit, 0xc7, 0x42, USPL_TRACE_RECORD - 4);
	emit_32(emit, sign);
}

/* push or pop */
static void put_stack(struct emit *emit, uint8_t op, uint8_t reg)
{
	if (reg >= R8)
		PUT(emit, 0x41);
	PUT(emit, (uint8_t)(op | (reg & 7)));
}

/* An argument's value into rsi: from the program's hit, or from where it was. */
static void load_arg(struct emit *emit, size_t i)
{
	if (!emit->hit) {
		emit_load(emit, &emit->code->args[i].place);
		return;
	}
	PUT(emit, 0x48, 0x8b, 0xb4, 0x24); /* mov args[i](%rsp), %rsi */
	emit_32(emit, (uint32_t)(HIT_ARGS + i * WORD));
}

static void put_text(struct emit *emit, size_t i)
{
	const struct probe_arg *arg = &emit->code->args[i];
	int32_t room;

	load_arg(emit, i);
	room = put_fetch(emit, arg->slots * (size_t)USPL_MARK_SLOT_ROOM);
	PUT(emit, 0x48, 0x8d, 0x91); /* lea 16 * slot(%rcx), %rdx */
	emit_32(emit, arg->slot * (uint32_t)USPL_TRACE_RECORD);
	PUT(emit, 0xbf); /* mov $slots, %edi */
	emit_32(emit, arg->slots);
	emit_call(emit, uspl_mark_text);
	if (room)
		put_lea_stack(emit, room);
}

static void put_slot_values(struct emit *emit, uint16_t slot)
{
	const struct probe_code *code = emit->code;
	bool began = false;

	for (size_t i = 0; i < code->n_args; i++) {
		if (code->args[i].slot != slot)
			continue;
		if (!code->args[i].width) {
			put_text(emit, i);
			continue;
		}
		if (!began)
			put_slot(emit, slot);
		began = true;
		load_arg(emit, i);
		if (code->args[i].width == 8) /* mov %rsi, offset(%rdx) */
			PUT(emit, 0x48, 0x89, 0x72, code->args[i].offset);
		else
			PUT(emit, 0x89, 0x72, code->args[i].offset);
	}
	if (began && slot)
		put_sign(emit, USPL_MARK_MORE);
}

/* A forward jump, to be filled in by land(). Returns where its distance is. */
static size_t put_forward_jcc(struct emit *emit, uint8_t condition)
{
	PUT(emit, 0x0f, (uint8_t)(0x80 | condition));
	emit_32(emit, 0);
	return emit->out.len - sizeof(int32_t);
}

static void land(struct emit *emit, size_t at)
{
	int32_t distance = (int32_t)(emit->out.len - (at + sizeof(distance)));

	if (!emit->out.oom)
		memcpy(emit->out.data + at, &distance, sizeof(distance));
}

/*
 * Calls the user's program with a struct uspl_hit on the stack. Returns the jump that is taken if
 * it says no.
 */
static size_t put_program(struct emit *emit)
{
	const struct probe_code *code = emit->code;

	/* All that it has room for: a program may write what isn't recorded. */
	emit->hit = (USPL_HIT_ARGS_MAX - code->n_args) * WORD;
	put_lea_stack(emit, -(int32_t)emit->hit);
	for (size_t i = code->n_args; i > 0; i--) {
		emit_load(emit, &code->args[i - 1].place);
		put_stack(emit, 0x50, RSI);
		emit->hit += WORD;
	}
	put_text_address(emit, code->types);
	put_stack(emit, 0x50, RDI);
	put_text_address(emit, code->name);
	put_stack(emit, 0x50, RDI);
	PUT(emit, 0x6a, (uint8_t)code->n_args); /* push $n_args */
	emit->hit += HIT_ARGS;
	PUT(emit, 0x48, 0x89, 0xe7);       /* mov %rsp, %rdi */
	PUT(emit, 0x48, 0x89, 0xe3);       /* mov %rsp, %rbx */
	PUT(emit, 0x48, 0x83, 0xe4, 0xf0); /* and $-16, %rsp */
	PUT(emit, 0xe8);
	emit_distance(emit, code->program);
	PUT(emit, 0x48, 0x89, 0xdc); /* mov %rbx, %rsp */
	PUT(emit, 0x85, 0xc0);       /* test %eax, %eax */
	return put_forward_jcc(emit, CC_E);
}

static void put_record(struct emit *emit)
{
	const struct probe_code *code = emit->code;
	size_t refused = code->program ? put_program(emit) : 0, nowhere;

	PUT(emit, 0xb9); /* mov $bytes, %ecx */
	emit_32(emit, code->slots * (uint32_t)USPL_TRACE_RECORD);
	emit_call(emit, uspl_mark_take);
	PUT(emit, 0x48, 0x85, 0xc0); /* test %rax, %rax */
	nowhere = put_forward_jcc(emit, CC_E);
	for (uint16_t slot = 0; slot < code->slots; slot++)
		put_slot_values(emit, slot);
	put_slot(emit, 0);
	put_sign(emit, code->id);
	land(emit, nowhere);
	if (code->program) {
		land(emit, refused);
		put_lea_stack(emit, (int32_t)emit->hit);
		emit->hit = 0;
	}
	emit->skip = emit->out.len;
}

static void put_begin(struct emit *emit)
{
	put_lea_stack(emit, -RED_ZONE);
	for (size_t i = 0; i < emit_n_saved(emit); i++)
		put_stack(emit, 0x50, emit_saved[i]);
	if (emit->code->keep_flags)
		PUT(emit, 0x9f, 0x0f, 0x90, 0xc0, 0x50); /* lahf; seto %al; push %rax */
}

static void put_end(struct emit *emit)
{
	if (emit->code->keep_flags)
		PUT(emit, 0x58, 0x04, 0x7f, 0x9e); /* pop %rax; add $127, %al; sahf */
	for (size_t i = emit_n_saved(emit); i > 0; i--)
		put_stack(emit, 0x58, emit_saved[i - 1]);
	put_lea_stack(emit, RED_ZONE);
}

/* The instructions [at, end) of what stood at the site, moved. */
static int put_old(struct emit *emit, size_t at, size_t end, struct uspl_err *err)
{
	const struct probe_code *code = emit->code;
	uint8_t moved[INSN_MOVED_MAX];
	size_t len;

	while (at < end) {
		int n = insn_move(code->site + at, code->old + at, end - at,
				  code->at + emit->out.len, moved, &len, err);

		if (n < 0)
			return n;
		emit_bytes(emit, moved, len);
		at += (size_t)n;
	}
	return 0;
}

int probe_encode(const struct probe_code *code, struct buf *buf, struct probe_parts *ret,
		 struct uspl_err *err)
{
	auto_free size_t *test_at = calloc(code->n_tests + 1, sizeof(*test_at));
	auto_free size_t *jumps = calloc(code->n_tests + 1, TEST_JUMPS * sizeof(*jumps));
	struct emit emit = { .code = code, .test_at = test_at, .jumps = jumps };
	size_t inner, chain_slot;
	int rc;

	if (!test_at || !jumps)
		return uspl_fail_nomem(err);
	rc = put_old(&emit, 0, code->before, err);
	inner = emit.out.len;
	put_begin(&emit);
	put_tests(&emit);
	put_record(&emit);
	if (!emit.out.oom)
		resolve_tests(&emit);
	put_end(&emit);
	if (code->at_return) {
		PUT(&emit, 0xe9);
		emit_distance(&emit, emit_runtime_part(&emit, uspl_mark_return));
	}
	while (!emit.out.oom && (code->at + emit.out.len) % WORD > WORD - JUMP_LEN)
		PUT(&emit, 0x90);
	chain_slot = emit.out.len;
	PUT(&emit, 0xe9);
	emit_32(&emit, 0);
	if (!rc)
		rc = put_old(&emit, code->before + code->skip, code->old_len, err);
	PUT(&emit, 0xe9);
	emit_distance(&emit, code->site + code->old_len);
	if (!rc && emit.out.oom)
		rc = uspl_fail_nomem(err);
	if (!rc && (emit.failed || emit.out.len > CODE_MAX))
		rc = uspl_fail(err, USPL_E_OUT_OF_REACH, "a probe at 0x%llx is out of reach",
			       (unsigned long long)code->at);
	if (!rc) {
		*ret = (struct probe_parts){ code->at + inner, code->at + chain_slot,
					     code->at + chain_slot + JUMP_LEN };
		buf_add(buf, emit.out.data, emit.out.len);
	}
	buf_release(&emit.out);
	return rc;
}
