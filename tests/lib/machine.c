// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * machine.c - runs a command that sees another machine: machine TRAIT[,TRAIT...] COMMAND [ARG...]
 *
 *     no-xsave         the kernel has no set of registers of XSAVE's (a processor without it)
 *     no-fxsave        nor one of FXSAVE's
 *     before-5.13      perf events know no inherit_thread, ptrace knows no rseq
 *     force=ptrace     /proc/PID/mem writes through protections for the tracer of its thread only,
 *     force=never      or for nobody: proc_mem.force_override of Linux 6.12
 *
 * A filter answers for the kernel, or hands the call to this process, which looks at what the call
 * points to: those that the other machine wouldn't refuse are made. The command ends with its own
 * status; 125: this couldn't be set up.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTE_FXSAVE = 2, NOTE_XSAVE = 0x202, GET_RSEQ = 0x420f };
enum force { FORCE_ALWAYS, FORCE_PTRACE, FORCE_NEVER };

static int no_xsave, no_fxsave, before_5_13;
static enum force force;

static int take_traits(char *list)
{
	for (char *trait = strtok(list, ","); trait; trait = strtok(NULL, ",")) {
		if (!strcmp(trait, "no-xsave"))
			no_xsave = 1;
		else if (!strcmp(trait, "no-fxsave"))
			no_fxsave = 1;
		else if (!strcmp(trait, "before-5.13"))
			before_5_13 = 1;
		else if (!strcmp(trait, "force=ptrace"))
			force = FORCE_PTRACE;
		else if (!strcmp(trait, "force=never"))
			force = FORCE_NEVER;
		else
			return -1;
	}
	return 0;
}

/* Installs the filter; the descriptor on which this process is asked. */
static int listen_to_us(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 4),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		/* ptrace: those that ask for something that the other machine hasn't. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_GETREGSET, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, GET_RSEQ, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Reads a file of /proc into buf, as a string; what doesn't fit is left out. */
static void read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	while (fd >= 0 && len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)got;
	buf[len] = '\0';
	if (fd >= 0)
		close(fd);
}

/* True if all of it may be written without force, or isn't mapped. */
static int may_be_written(pid_t pid, uint64_t addr, uint64_t len)
{
	char path[64], line[4500];
	int may = 1;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && may && fgets(line, sizeof(line), maps)) {
		char *end;
		uint64_t from = strtoull(line, &end, 16), to = strtoull(end + 1, &end, 16);

		may = from >= addr + len || to <= addr || end[2] == 'w';
	}
	if (maps)
		fclose(maps);
	return may;
}

static pid_t tracer_of(pid_t tid)
{
	char path[64], text[4096], *line;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	read_text(path, text, sizeof(text));
	line = strstr(text, "\nTracerPid:");
	return line ? (pid_t)atol(line + strlen("\nTracerPid:")) : 0;
}

/* A write by the thread `who`: the error that it gets, or 0. */
static int judge_write(pid_t who, const struct seccomp_data *data)
{
	char link[64], file[256] = "";
	int pid, tid = 0, end = 0;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", who, (int)data->args[0]);
	if (readlink(link, file, sizeof(file) - 1) < 0 ||
	    (sscanf(file, "/proc/%d/task/%d/mem%n", &pid, &tid, &end) != 2 &&
	     sscanf(file, "/proc/%d/mem%n", &pid, &end) != 1) ||
	    !end || force == FORCE_ALWAYS || may_be_written(pid, data->args[3], data->args[2]))
		return 0;
	return force == FORCE_PTRACE && tracer_of(tid ? tid : pid) == who ? 0 : EIO;
}

static int judge_event(pid_t who, const struct seccomp_data *data)
{
	struct perf_event_attr attr = { 0 };
	char path[64];
	int fd, inherits;

	snprintf(path, sizeof(path), "/proc/%d/mem", who);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	inherits = fd >= 0 && pread(fd, &attr, sizeof(attr), (off_t)data->args[0]) > 0 &&
		   attr.inherit_thread;
	if (fd >= 0)
		close(fd);
	return before_5_13 && inherits ? EINVAL : 0;
}

static int judge_ptrace(const struct seccomp_data *data)
{
	if ((int)data->args[0] == GET_RSEQ)
		return before_5_13 ? EIO : 0;
	switch (data->args[2]) {
	case NOTE_XSAVE:
		return no_xsave ? ENODEV : 0;
	case NOTE_FXSAVE:
		return no_fxsave ? ENODEV : 0;
	default:
		return 0;
	}
}

static int judge(pid_t who, const struct seccomp_data *data)
{
	switch (data->nr) {
	case SYS_pwrite64:
		return judge_write(who, data);
	case SYS_perf_event_open:
		return judge_event(who, data);
	default:
		return judge_ptrace(data);
	}
}

/* Answers until the command has ended. */
static void serve(int listener)
{
	struct pollfd poll_for = { .fd = listener, .events = POLLIN };

	while (poll(&poll_for, 1, -1) >= 0 || errno == EINTR) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp answer = { 0 };

		if (poll_for.revents & POLLHUP)
			return;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
			continue; /* it was killed meanwhile */
		answer.id = asked.id;
		answer.error = -judge((pid_t)asked.pid, &asked.data);
		if (!answer.error)
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* The listener's descriptor, which the child has told by its number. */
static int fetch_listener(pid_t child, int from)
{
	int theirs, pidfd = (int)syscall(SYS_pidfd_open, child, 0);

	if (pidfd < 0 || read(from, &theirs, sizeof(theirs)) != sizeof(theirs))
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
}

static void become(char **command, int told, int go)
{
	int listener = listen_to_us();
	char byte;

	if (listener < 0 || write(told, &listener, sizeof(listener)) != sizeof(listener) ||
	    read(go, &byte, 1) != 1)
		_exit(125);
	close(listener);
	close(told);
	close(go);
	execvp(command[0], command);
	_exit(125);
}

int main(int argc, char **argv)
{
	int told[2], go[2], listener, status;
	pid_t child;

	if (argc < 3 || take_traits(argv[1]) != 0 || pipe(told) || pipe(go))
		return 125;
	child = fork();
	if (!child) {
		close(told[0]);
		close(go[1]);
		become(argv + 2, told[1], go[0]);
	}
	close(told[1]);
	close(go[0]);
	listener = fetch_listener(child, told[0]);
	if (listener < 0 || write(go[1], "x", 1) != 1) {
		perror("machine");
		kill(child, SIGKILL);
		return 125;
	}
	/*
	 * A signal for the whole group is meant to end the command, not what answers for its
	 * kernel.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	serve(listener);
	if (waitpid(child, &status, 0) != child)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
