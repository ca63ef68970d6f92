// SPDX-License-Identifier: GPL-3.0-or-later
// agent_frame.c - the stack of a thread that runs the agent
/*
 * In memory that the thread doesn't use, from high to low addresses:
 *
 *     extended state, 64-aligned       as XSAVE writes it, with the kernel's magic numbers; as
 *                                      FXSAVE does where the processor has no XSAVE
 *     result page, with the requests   unless it lies elsewhere
 *     struct ucontext, 16-aligned      <- the agent's stack pointer
 *
 * rt_sigreturn takes the ucontext at the stack pointer (arch/x86/kernel/signal_64.c), so that the
 * thread can be left to itself at any time: it runs the requests, makes that call and is back where
 * it was, with its own registers and signal mask.
 */

#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "arch/x86_64/x86_64.h"

#define SW_RESERVED 464 /* offset of the software-reserved bytes in the FXSAVE area */
#define XSAVE_HEADER                                                                               \
	512 /* offset of the XSAVE header, which begins with the set of features in use */
#define LEGACY_XSTATE 576 /* FXSAVE area and XSAVE header */
#define FXSAVE_AREA 512   /* all that there is without XSAVE */
/* AMX tile state: only there, and only large, in processes that asked for it. */
#define XFEATURES_AMX (3ull << 17)
#define LEAF_XSTATE 0xd /* of CPUID */

/* The kernel's struct ucontext as rt_sigreturn reads it; glibc's has another signal mask. */
struct frame {
	uint64_t flags;
	uint64_t link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	struct {
		uint64_t r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip,
			eflags;
		uint16_t cs, gs, fs, ss;
		uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
	} mc;
	uint64_t sigmask;
};
_Static_assert(offsetof(struct frame, mc) == 40 && sizeof(struct frame) == 304,
	       "arch/x86 struct ucontext");

/*
 * restore_altstack() ignores a stack_t that it refuses, and refuses these flags: the thread keeps
 * the one that it has.
 */
#define INVALID_STACK_FLAGS 0x7fff

/*
 * uc_flags, from arch/x86/include/uapi/asm/ucontext.h, which can't be included beside <signal.h>.
 */
enum { FRAME_FP_XSTATE = 1, FRAME_SIGCONTEXT_SS = 2, FRAME_STRICT_RESTORE_SS = 4 };

/*
 * Where each feature's part of the extended state ends; 0: there is none. In a virtual machine each
 * question to the processor is an exit from it, so that they are asked once, beforehand.
 */
static struct {
	uint32_t end[64];
	bool known;
} features_known;

void agent_frame_prepare(void)
{
	uint32_t eax, ebx, ecx, edx;
	uint64_t features;

	if (features_known.known || !__get_cpuid_count(LEAF_XSTATE, 0, &eax, &ebx, &ecx, &edx))
		return;
	features = (uint64_t)edx << 32 | eax;
	for (unsigned int bit = 2; bit < 63; bit++) {
		if (!(features >> bit & 1))
			continue;
		__cpuid_count(LEAF_XSTATE, bit, eax, ebx, ecx, edx);
		features_known.end[bit] = ebx + eax;
	}
	features_known.known = true;
}

/* How many bytes of the extended state the given features take (CPUID leaf 0xd). */
static uint32_t xstate_size(uint64_t features, size_t available)
{
	uint32_t size = LEGACY_XSTATE;

	agent_frame_prepare();
	for (unsigned int bit = 2; bit < 63; bit++) {
		uint32_t end = features >> bit & 1 ? features_known.end[bit] : 0;

		if (end > size && end <= available)
			size = end;
	}
	return size;
}

/* Turns what ptrace gave into what a signal frame holds, without the trailing magic number. */
static uint32_t finish_xstate(uint8_t *area, size_t len)
{
	uint64_t in_use, features;
	struct _fpx_sw_bytes sw = { .magic1 = FP_XSTATE_MAGIC1 };

	/*
	 * ptrace leaves XCR0 in the software-reserved bytes; the header begins with what is in use.
	 */
	memcpy(&features, area + SW_RESERVED, sizeof(features));
	memcpy(&in_use, area + XSAVE_HEADER, sizeof(in_use));
	features &= ~XFEATURES_AMX | in_use;
	sw.xstate_bv = features;
	sw.xstate_size = xstate_size(features, len);
	sw.extended_size = sw.xstate_size + FP_XSTATE_MAGIC2_SIZE;
	memcpy(area + SW_RESERVED, &sw, sizeof(sw));
	return sw.xstate_size;
}

/*
 * The extended state as a signal frame holds it. Without the magic numbers the kernel takes it for
 * an FXSAVE area alone (arch/x86/kernel/fpu/signal.c, check_xstate_in_sigframe).
 */
static int add_xstate(struct buf *area, const struct buf *xstate, struct uspl_err *err)
{
	static const uint32_t magic2 = FP_XSTATE_MAGIC2;

	if (xstate->len != FXSAVE_AREA && xstate->len < LEGACY_XSTATE)
		return uspl_fail(err, USPL_E_SYSTEM,
				 "the kernel gives only %zu bytes of extended state", xstate->len);
	buf_add(area, xstate->data, xstate->len);
	if (area->oom)
		return uspl_fail_nomem(err);
	if (xstate->len == FXSAVE_AREA) {
		memset(area->data + SW_RESERVED, 0, FXSAVE_AREA - SW_RESERVED);
		return 0;
	}
	area->len = finish_xstate((uint8_t *)area->data, area->len);
	buf_add(area, &magic2, sizeof(magic2));
	return area->oom ? uspl_fail_nomem(err) : 0;
}

static void fill_context(struct frame *frame, const struct arch_regs *regs)
{
	const struct user_regs_struct *u = &regs->user;

	frame->flags = FRAME_FP_XSTATE | FRAME_SIGCONTEXT_SS | FRAME_STRICT_RESTORE_SS;
	frame->stack_flags = INVALID_STACK_FLAGS;
	frame->mc.r8 = u->r8;
	frame->mc.r9 = u->r9;
	frame->mc.r10 = u->r10;
	frame->mc.r11 = u->r11;
	frame->mc.r12 = u->r12;
	frame->mc.r13 = u->r13;
	frame->mc.r14 = u->r14;
	frame->mc.r15 = u->r15;
	frame->mc.di = u->rdi;
	frame->mc.si = u->rsi;
	frame->mc.bp = u->rbp;
	frame->mc.bx = u->rbx;
	frame->mc.dx = u->rdx;
	frame->mc.ax = u->rax;
	frame->mc.cx = u->rcx;
	frame->mc.sp = u->rsp;
	frame->mc.ip = u->rip;
	frame->mc.eflags = u->eflags;
	frame->mc.cs = (uint16_t)u->cs;
	frame->mc.gs = (uint16_t)u->gs;
	frame->mc.fs = (uint16_t)u->fs;
	frame->mc.ss = (uint16_t)u->ss;
}

/*
 * The agent's registers: its requests in rbx, their number in r12, in r13 where it says that it is
 * done, if it is to; a clear direction flag, as calls expect it.
 */
static void start_registers(const struct arch_regs *regs, const struct agent_run *run,
			    struct agent_frame *frame)
{
	struct user_regs_struct *u = &frame->regs.user;

	frame->regs = *regs;
	u->rip = run->agent;
	u->rsp = frame->addr;
	u->rbx = frame->result_page + offsetof(struct agent_result_page, reqs);
	u->r12 = run->n;
	u->r13 = run->moves ? 0 : frame->result_page + offsetof(struct agent_result_page, done);
	u->rbp = 0;
	u->eflags &= ~0x400ull;
	u->orig_rax = (uint64_t)-1; /* nothing to restart */
}

uint64_t agent_frame_max(const struct buf *xstate, const struct agent_run *run)
{
	uint64_t result_page_len = run->result_page_addr ? 0 : agent_result_page_len(run->n);

	return xstate->len + FP_XSTATE_MAGIC2_SIZE + 63 + result_page_len + sizeof(struct frame) +
	       15 + sizeof(uint64_t); /* for the flags, below the frame */
}

int agent_frame_build(const struct arch_regs *regs, const struct buf *xstate, uint64_t sigmask,
		      const struct agent_run *run, struct agent_frame *ret, struct uspl_err *err)
{
	struct arch_regs resumed = *regs;
	struct frame context = { .sigmask = sigmask };
	auto_buf struct buf area = { 0 };
	size_t result_page_len = run->result_page_addr ? 0 : agent_result_page_len(run->n), gap;
	taddr fpstate;
	int rc = add_xstate(&area, xstate, err);

	if (rc)
		return rc;
	fpstate = ((run->top ? run->top : regs_unused_below(regs)) - area.len) & ~63ull;
	ret->addr = (fpstate - result_page_len - sizeof(context)) & ~15ull;
	ret->result_page =
		run->result_page_addr ? run->result_page_addr : ret->addr + sizeof(context);
	gap = fpstate - ret->addr - sizeof(context) - result_page_len;
	regs_restart_by_hand(&resumed);
	fill_context(&context, &resumed);
	ret->back = (struct agent_back){
		.ax = resumed.user.rax,
		.cx = resumed.user.rcx,
		.dx = resumed.user.rdx,
		.si = resumed.user.rsi,
		.di = resumed.user.rdi,
		.r10 = resumed.user.r10,
		.r11 = resumed.user.r11,
		.ip = resumed.user.rip,
	};
	context.mc.fpstate = fpstate;
	ret->bytes = (struct buf){ 0 };
	buf_add(&ret->bytes, &context, sizeof(context));
	buf_add(&ret->bytes, run->result_page, result_page_len);
	buf_addzero(&ret->bytes, gap);
	buf_add(&ret->bytes, area.data, area.len);
	if (ret->bytes.oom) {
		buf_release(&ret->bytes);
		return uspl_fail_nomem(err);
	}
	start_registers(regs, run, ret);
	return 0;
}

void agent_frame_release(struct agent_frame *frame)
{
	buf_release(&frame->bytes);
}
