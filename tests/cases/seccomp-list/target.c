// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - allows itself but a few system calls, then greets

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "serve.h"

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Mode 1 allows read, write, exit and sigreturn; the filter the same. Anything else kills. */
static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (MODE == SECCOMP_MODE_STRICT)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, MODE, &program);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "confine"))
		snprintf(reply, size, "%s", confine() ? "failed" : "confined");
	else
		greet(reply, size);
}
