// SPDX-License-Identifier: GPL-3.0-or-later
// status_test.c - /proc/PID/status taken apart, as kernels with and without shadow stacks write it

#include "proc/proc_status.h"

#include "tap.h"

/* A process's status with these lines in the place where the kernel has those of the processor. */
static struct proc_status status_with(const char *lines)
{
	char text[1024];
	struct proc_status status;

	snprintf(text, sizeof(text),
		 "Name:\tsshd: shstk\nUmask:\t0022\nState:\tS "
		 "(sleeping)\nTgid:\t12\nTracerPid:\t34\n"
		 "VmPeak:\t  100 kB\nVmSize:\t   50 kB\nSeccomp:\t2\nSeccomp_filters:\t1\n"
		 "Speculation_Store_Bypass:\tthread vulnerable\n%s"
		 "Cpus_allowed:\t3\nnonvoluntary_ctxt_switches:\t5\n",
		 lines);
	proc_status_parse(text, &status);
	return status;
}

static bool shadow_with(const char *lines)
{
	return status_with(lines).shadow_stack;
}

/* arch/x86/kernel/cpu/proc.c, dump_x86_features: each name is followed by a blank. */
static void test_shadow_stack(void)
{
	ok(!shadow_with(""), "a kernel without the line: no shadow stack");
	ok(!shadow_with("x86_Thread_features:\t\nx86_Thread_features_locked:\t\n"),
	   "the line is empty: none");
	ok(shadow_with("x86_Thread_features:\tshstk \nx86_Thread_features_locked:\t\n"),
	   "shstk: there is one");
	ok(shadow_with("x86_Thread_features:\tshstk wrss \nx86_Thread_features_locked:\tshstk \n"),
	   "shstk and wrss: there is one");
	ok(shadow_with("x86_Thread_features:\twrss shstk\n"), "in the other order, too");
	ok(!shadow_with("x86_Thread_features:\t\nx86_Thread_features_locked:\tshstk wrss \n"),
	   "locked while it is off: none");
	ok(!shadow_with("x86_Thread_features:\tlass shstk_supervisor\n"),
	   "features with other names: none");
}

static void test_others(void)
{
	struct proc_status status = status_with("");

	ok(status.state == 'S', "the state");
	ok(status.tracer == 34, "the tracer");
	ok(status.seccomp == 2, "seccomp, and not its number of filters");
	ok(status.has_memory, "memory of its own");
	proc_status_parse("Name:\tkthreadd\nState:\tZ (zombie)\nTracerPid:\t0\n", &status);
	ok(status.state == 'Z' && !status.tracer && !status.has_memory && !status.seccomp,
	   "what the text doesn't have is none");
	proc_status_parse("", &status);
	ok(!status.state && !status.shadow_stack, "an empty text");
	proc_status_parse("SigCgt:\t0000000040000000\n", &status);
	ok(status.catches_sigsys, "SIGSYS is caught");
	proc_status_parse("SigIgn:\t0000000040000000\nSigCgt:\t00000001bfffffff\n", &status);
	ok(!status.catches_sigsys, "all signals but that one are");
	proc_status_parse("x86_Thread_features:", &status);
	ok(!status.shadow_stack, "a text that is cut off");
}

int main(void)
{
	test_shadow_stack();
	test_others();
	return tap_done();
}
