// SPDX-License-Identifier: GPL-3.0-or-later
// confine.c - a command that only looks gives up what it doesn't need, before it looks
/*
 * The filter is a list of what is allowed: a call that isn't in it fails with EPERM, which is an
 * ordinary failure for the code that makes it. It looks at the arguments of some: files are opened
 * for reading only, memory isn't made executable, and signals go to ourselves (abort).
 */

#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/types.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

/* Opening for anything else than reading. */
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

static const uint16_t allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_fstat,
	SYS_lseek,
	SYS_munmap,
	SYS_brk,
	SYS_mremap,
	SYS_madvise,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_futex,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_fcntl,
	SYS_dup,
	SYS_getrandom,
	SYS_sched_yield,
	SYS_uname,
	SYS_getrusage,
	SYS_sysinfo,
	SYS_getrlimit,
	SYS_exit,
	SYS_exit_group,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_gettimeofday,
	SYS_times,
	SYS_restart_syscall,
	SYS_sched_getaffinity,
	SYS_poll,
	SYS_ppoll,
};

/* For looking at processes. */
static const uint16_t looking[] = {
	SYS_getdents64,
	SYS_readlink,
	SYS_readlinkat,
	SYS_newfstatat,
	SYS_stat,
	SYS_lstat,
	SYS_statx,
	SYS_access,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_process_vm_readv,
	SYS_kcmp,
	SYS_flock,
	SYS_memfd_create, /* what a library is copied to before it is taken apart */
};

#ifdef __SANITIZE_ADDRESS__
/* A build with sanitizers looks for leaks at its end, by a thread that ptrace(2)s the others. */
static const uint16_t sanitizing[] = { SYS_clone, SYS_ptrace, SYS_wait4,    SYS_prctl,
				       SYS_kill,  SYS_tkill,  SYS_getdents, SYS_getdents64 };
#endif

/* Of ioctl: modes and size of a terminal. Nothing that puts keys into one. */
static const uint16_t of_screen[] = { TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ };

enum { PROGRAM_MAX = 256 };

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short n;
};

static void add(struct program *program, struct sock_filter insn)
{
	if (program->n < PROGRAM_MAX)
		program->code[program->n++] = insn;
}

static void load(struct program *program, uint32_t offset)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void answer(struct program *program, uint32_t value)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value));
}

/* The next `skip` instructions are for that call only. */
static void for_call(struct program *program, uint32_t nr, uint8_t skip)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, skip));
}

static void allow_all(struct program *program, const uint16_t *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for_call(program, calls[i], 1);
		answer(program, SECCOMP_RET_ALLOW);
	}
}

/* Allowed if none of the bits is set in the argument. */
static void allow_without(struct program *program, uint32_t nr, unsigned int arg, uint32_t bits)
{
	for_call(program, nr, 4);
	load(program, (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
	answer(program, SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

/* Allowed if the argument is that. What isn't goes on to the rules behind. */
static void allow_with(struct program *program, uint32_t nr, unsigned int arg, uint32_t value)
{
	for_call(program, nr, 4);
	load(program, (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	answer(program, SECCOMP_RET_ALLOW);
	load(program, offsetof(struct seccomp_data, nr));
}

static void filter_calls(enum confine how)
{
	struct program program = { .n = 0 };
	struct sock_fprog prog;

	load(&program, offsetof(struct seccomp_data, arch));
	add(&program,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	answer(&program, SECCOMP_RET_KILL_PROCESS);
	load(&program, offsetof(struct seccomp_data, nr));
	allow_all(&program, allowed, ARRAY_SIZE(allowed));
#ifdef __SANITIZE_ADDRESS__
	allow_all(&program, sanitizing, ARRAY_SIZE(sanitizing));
	allow_without(&program, SYS_openat, 2, WRITES);
	allow_without(&program, SYS_open, 1, WRITES);
#endif
	if (how != CONFINE_FILE) {
		allow_all(&program, looking, ARRAY_SIZE(looking));
		allow_without(&program, SYS_openat, 2, WRITES);
		allow_without(&program, SYS_open, 1, WRITES);
	}
	allow_without(&program, SYS_mmap, 2, PROT_EXEC);
	allow_without(&program, SYS_mprotect, 2, PROT_EXEC);
	allow_with(&program, SYS_ioctl, 1, TCGETS); /* what stdout is */
	for (size_t i = 0; how == CONFINE_SCREEN && i < ARRAY_SIZE(of_screen); i++)
		allow_with(&program, SYS_ioctl, 1, of_screen[i]);
	allow_with(&program, SYS_tgkill, 0, (uint32_t)getpid());
	answer(&program, SECCOMP_RET_ERRNO | EPERM);
	prog = (struct sock_fprog){ program.n, program.code };
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		log_info("confine", "no filter of system calls can be set");
}

static void drop_capabilities(enum confine how)
{
	/*
	 * To read the memory and the files of other users' processes, and files by the places where
	 * they are mapped.
	 */
	const uint64_t keep = how == CONFINE_FILE
				      ? 0
				      : 1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
						1ull << CAP_CHECKPOINT_RESTORE;
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(keep >> 32 * i);

		data[i].permitted &= half;
		data[i].effective &= half;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &head, data) < 0)
		log_info("confine", "the capabilities stay as they are");
}

void confine(enum confine how)
{
	const struct rlimit none = { 0, 0 };

	/* What strangers made us read isn't left in core files. */
	setrlimit(RLIMIT_CORE, &none);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return;
	drop_capabilities(how);
	filter_calls(how);
}
