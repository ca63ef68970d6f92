// SPDX-License-Identifier: GPL-3.0-or-later
// deny.c - a library for LD_PRELOAD: some calls fail as they do on other machines: DENY="NAME..."
//
//     write      writing another process's memory: EIO, as with proc_mem.force_override=never
//     ptrace     EPERM, as in a container without CAP_SYS_PTRACE
//     perf       perf_event_open: EACCES, as with a high kernel.perf_event_paranoid
//     kcmp       ENOSYS, a kernel without CONFIG_KCMP
//     dispatch   PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG: EIO, a kernel before 6.4
//     netlink    EPERM, as in a container
//     late       a thread that asks for its id waits for 1.5 s, as where processors are scarce

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define GET_DISPATCH 0x4211

static bool is_denied(const char *name)
{
	const char *names = getenv("DENY");

	return names && strstr(names, name);
}

static long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

static long refuse(int error)
{
	errno = error;
	return -1;
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	if (is_denied("write"))
		return refuse(EIO);
	return raw(SYS_pwrite64, fd, (long)buf, (long)len, at, 0, 0);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off_t at) __attribute__((alias("pwrite")));

pid_t gettid(void)
{
	const struct timespec wait = { 1, 500000000 };
	pid_t tid = (pid_t)raw(SYS_gettid, 0, 0, 0, 0, 0, 0);

	if (is_denied("late") && tid != getpid())
		nanosleep(&wait, NULL);
	return tid;
}

int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && is_denied("netlink"))
		return (int)refuse(EPERM);
	return (int)raw(SYS_socket, domain, type, protocol, 0, 0, 0);
}

long ptrace(int request, pid_t pid, void *addr, void *data)
{
	if (is_denied("ptrace"))
		return refuse(EPERM);
	if (request == GET_DISPATCH && is_denied("dispatch"))
		return refuse(EIO);
	return raw(SYS_ptrace, request, pid, (long)addr, (long)data, 0, 0);
}

long syscall(long nr, ...)
{
	long a[6];
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (nr == SYS_perf_event_open && is_denied("perf"))
		return refuse(EACCES);
	if (nr == SYS_kcmp && is_denied("kcmp"))
		return refuse(ENOSYS);
	return raw(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
