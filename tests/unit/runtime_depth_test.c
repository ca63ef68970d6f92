// SPDX-License-Identifier: GPL-3.0-or-later
// runtime_depth_test.c - at each instruction of the tracer's runtime the stack is followed to its
// end
/*
 * A child traces its own functions and calls them, one instruction after the other; the parent
 * follows its stack at each that lies in the runtime. The call that is on the way in or out must be
 * found in the function that made it: `caller`, a piece of code of its own.
 */

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "trace_run.h"
#include "unwind/unwind.h"

/* More than the child makes. */
#define ALL_STEPS 400000
/* What the ways that are gone come to, of some 450 instructions. */
#define SEEN_MIN 300

__asm__(".text\n"
	".p2align 4\ndepth_first: .cfi_startproc\n .byte 0x90,0x90,0x90,0x90,0x90\n"
	" add $1, %rdi\n jmp depth_second\n .cfi_endproc\n"
	".p2align 4\ndepth_second: .cfi_startproc\n .byte 0x90,0x90,0x90,0x90,0x90\n"
	" lea (%rdi,%rdi), %rax\n ret\n .cfi_endproc\n"
	".p2align 4\ndepth_entry: .cfi_startproc\n .byte 0x90,0x90,0x90,0x90,0x90\n"
	" lea (%rdi,%rdi), %rax\n ret\n .cfi_endproc\n"
	".p2align 4\ndepth_limited: .cfi_startproc\n .byte 0x90,0x90,0x90,0x90,0x90\n"
	" lea (%rdi,%rdi), %rax\n ret\n .cfi_endproc\n"
	/* Calls rdi, with four words on the stack. */
	".p2align 4\ndepth_caller: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n"
	" .cfi_rel_offset %rbx, 0\n sub $32, %rsp\n .cfi_adjust_cfa_offset 32\n"
	" mov %rdi, %rax\n mov $20, %edi\n call *%rax\ndepth_back: add $32, %rsp\n"
	" .cfi_adjust_cfa_offset -32\n pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n"
	".cfi_endproc\n");
extern long depth_first(long x), depth_second(long x), depth_entry(long x), depth_limited(long x);
extern long depth_caller(void *function);
extern const char depth_back[];

/* Where the child's tracer lies, and what its thunks' frames know. */
static struct unwind_tracer traced;
/* Another table of threads, in which there is none. */
static struct uspl_trace_thread no_threads[USPL_TRACE_THREADS];

static void make_tracer(void)
{
	set_up();
	traced = (struct unwind_tracer){
		.thunks = (uintptr_t)tracer.thunks,
		.thunks_end = (uintptr_t)tracer.thunks + SITES_MAX * USPL_TRACE_THUNK,
		.code = (uintptr_t)tracer.code,
		.code_end = (uintptr_t)tracer.thunks + SITES_MAX * USPL_TRACE_THUNK,
		.eh_frame = (uintptr_t)tracer.thunks + PAGE,
		.eh_frame_len = USPL_TRACE_FRAMES,
		.shadow = SHADOW,
	};
	trace(depth_first, false);
	trace(depth_second, false);
	trace(depth_entry, true);
	tracer.control->depth = 2;
	trace(depth_limited, false);
}

static void call_all(void)
{
	/* A first call, in which the thread is met; then the short way. */
	for (int i = 0; i < 2; i++) {
		depth_caller((void *)depth_second);
		depth_caller((void *)depth_first);
		depth_caller((void *)depth_entry);
		depth_caller((void *)depth_limited);
	}
	/* Recorded nowhere, and not at all. */
	tracer.control->threshold = 1ull << 40;
	depth_caller((void *)depth_first);
	tracer.control->threshold = 0;
	tracer.counters->enabled = 0;
	tracer.control->threads = (uintptr_t)no_threads;
	depth_caller((void *)depth_first);
	depth_caller((void *)depth_entry);
}

struct seen {
	bool caller;
};

static bool note(void *ctx, const struct unwind_frame *frame)
{
	struct seen *seen = ctx;

	seen->caller |= frame->pc == (uintptr_t)depth_back && frame->is_call;
	return true;
}

static struct unwinder *new_unwinder(const struct proc *proc, const module_vec *modules)
{
	struct unwinder *unwinder = NULL;

	if (unwinder_new(proc, modules, &unwinder, NULL) != 0 ||
	    unwinder_add_tracer(unwinder, &traced, NULL) != 0 ||
	    unwinder_add_runtime(unwinder, traced.code, traced.thunks + USPL_TRACE_THUNK_PUSHED,
				 NULL) != 0)
		abort();
	return unwinder;
}

/* The child's registers, as unwinders want them. */
static void regs_of(pid_t pid, struct some_regs *ret)
{
	struct arch_regs regs;

	ptrace(PTRACE_GETREGS, pid, NULL, &regs.user);
	regs_to_dwarf(&regs, ret);
}

/*
 * Steps through all the child does; counts in *ret_lost where its stack wasn't followed, and in
 * *ret_chosen where that is as it should be.
 */
static size_t step_through(pid_t pid, const struct proc *proc, const module_vec *modules,
			   size_t *ret_lost, size_t *ret_chosen)
{
	auto_unwinder struct unwinder *unwinder = new_unwinder(proc, modules);
	size_t len = (size_t)(uspl_trace_end - uspl_trace_begin), n = 0;
	auto_free uint8_t *met = calloc(len, 1);
	int status;

	for (long i = 0; i < ALL_STEPS; i++) {
		struct some_regs regs;
		struct seen seen = { false };
		enum unwind_end end;
		taddr at, sp;

		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 ||
		    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		regs_of(pid, &regs);
		at = regs.value[DWARF_PC] - traced.code;
		if (at >= len)
			continue;
		end = unwind(unwinder, &regs, note, &seen, &sp);
		if (unwinder_has_chosen(unwinder, regs.value[DWARF_PC])) {
			++*ret_chosen;
			*ret_lost += end != UNWIND_LOST;
		} else if (end != UNWIND_COMPLETE || !seen.caller) {
			printf("# lost at 0x%llx\n", (unsigned long long)at);
			++*ret_lost;
		}
		n += !met[at];
		met[at] = 1;
	}
	return n;
}

static void test_steps(void)
{
	auto_proc struct proc *proc = NULL;
	module_vec modules = { 0 };
	size_t met, lost = 0, chosen = 0;
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		call_all();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (proc_open_readonly(pid, &proc, NULL) != 0 || modules_read(proc, &modules, NULL) != 0) {
		ok(false, "the child can be read");
		return;
	}
	met = step_through(pid, proc, &modules, &lost, &chosen);
	ok(met >= SEEN_MIN, "instructions of the runtime were met: %zu", met);
	ok(lost == 0, "at each the stack is followed to its end, by way of the caller (%zu aren't)",
	   lost);
	ok(chosen, "but where it has chosen its way already");
	modules_release(&modules);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Of an unknown version nothing is believed. */
static void test_other_version(void)
{
	auto_proc struct proc *proc = NULL;
	auto_unwinder struct unwinder *unwinder = NULL;
	module_vec modules = { 0 };
	struct some_regs regs = { .known = 1u << DWARF_SP | 1u << DWARF_PC };
	uint64_t stack[8] = { 0 };
	struct seen seen = { false };
	taddr sp;

	if (proc_open_readonly(getpid(), &proc, NULL) != 0 ||
	    modules_read(proc, &modules, NULL) != 0) {
		ok(false, "we can be read");
		return;
	}
	stack[0] = (uintptr_t)depth_back;
	regs.value[DWARF_SP] = (uintptr_t)stack;
	regs.value[DWARF_PC] = traced.code + (taddr)(uspl_trace_call - uspl_trace_begin);
	unwinder = new_unwinder(proc, &modules);
	(void)!unwind(unwinder, &regs, note, &seen, &sp);
	ok(seen.caller, "the runtime that we know is left by its return address");
	unwinder_free(take_ptr(unwinder));
	tracer.code[(uspl_trace_end - uspl_trace_begin) - 1] ^= 1;
	unwinder = new_unwinder(proc, &modules);
	seen.caller = false;
	ok(unwind(unwinder, &regs, note, &seen, &sp) == UNWIND_LOST && !seen.caller,
	   "another one isn't");
	modules_release(&modules);
}

int main(void)
{
	auto_free uint8_t *depths = malloc((size_t)(uspl_trace_end - uspl_trace_begin));

	ok(depths && arch_native()->trace_depths(depths), "the depths of all its ways are known");
	make_tracer();
	test_steps();
	test_other_version();
	return tap_done();
}
