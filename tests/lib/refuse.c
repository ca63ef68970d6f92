// SPDX-License-Identifier: GPL-3.0-or-later
// refuse.c - runs a command without a system call, as container runtimes and old kernels do it:
// refuse CALL COMMAND [ARG...]

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned int nr, answer;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open, EPERM },
	{ "pidfd_open", SYS_pidfd_open, ENOSYS },
};

int main(int argc, char **argv)
{
	size_t i = 0, n = sizeof(calls) / sizeof(calls[0]);

	while (argc > 2 && i < n && strcmp(argv[1], calls[i].name))
		i++;
	if (argc < 3 || i == n)
		return 2;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | calls[i].answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	execvp(argv[2], argv + 2);
	return 1;
}
