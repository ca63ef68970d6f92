// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * befall.c - runs a command of which one system call fails, or is where a signal comes
 *
 *     befall THREAD CALL FIRST TIMES WHAT COMMAND ARG...
 *
 * The THREADth thread of the command (1 is the one that it begins with) makes the system call of
 * the number CALL for the FIRSTth time: there, and the TIMES - 1 next times that it makes it, it
 * gets the error -WHAT in place of the call, or the whole process gets the signal WHAT, before the
 * call. Ends as the command does; 128 + N if that is ended by signal N. With BEFALL_REQUEST=R in
 * the environment the first of these calls has to have R as its first argument; if not, the command
 * goes another way than it was expected to: it is killed, and the status is 99.
 *
 * strace --inject does this with one thread. With several each counts for itself, and what is meant
 * for one befalls all.
 */

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)
#define THREADS 64

#define OTHER_WAY 99

static long wanted_thread, wanted_call, first, times, what, request = -1;
static int other_way;
static pid_t command;

static struct {
	pid_t tid;
	int failing;
} threads[THREADS];

static int thread_of(pid_t tid)
{
	int i = 0;

	while (i < THREADS - 1 && threads[i].tid && threads[i].tid != tid)
		i++;
	threads[i].tid = tid;
	return i;
}

static void poke(pid_t tid, size_t offset, long value)
{
	ptrace(PTRACE_POKEUSER, tid, (void *)offset, (void *)value);
}

static void befall(int thread, pid_t tid, long argument)
{
	static long count;

	count++;
	if (count == first && request >= 0 && argument != request) {
		other_way = 1;
		kill(command, SIGKILL);
		return;
	}
	if (count < first || count >= first + times)
		return;
	if (what > 0) {
		kill(command, (int)what);
		return;
	}
	threads[thread].failing = 1;
	poke(tid, offsetof(struct user_regs_struct, orig_rax), -1);
}

static void at_call(pid_t tid)
{
	struct ptrace_syscall_info info = { 0 };
	int thread = thread_of(tid);

	ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && thread + 1 == wanted_thread &&
	    (long)info.entry.nr == wanted_call)
		befall(thread, tid, (long)info.entry.args[0]);
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && threads[thread].failing) {
		threads[thread].failing = 0;
		poke(tid, offsetof(struct user_regs_struct, rax), what);
	}
}

/* What the thread is to get when it goes on. */
static int note_stop(pid_t tid, int status)
{
	thread_of(tid);
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		at_call(tid);
		return 0;
	}
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static int follow(void)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0)
			return 125;
		if (WIFSTOPPED(status))
			ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)note_stop(tid, status));
		else if (tid == command)
			return other_way           ? OTHER_WAY
			       : WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status);
	}
}

int main(int argc, char **argv)
{
	int ready[2];
	char byte;

	if (argc < 7 || pipe(ready) != 0)
		return 125;
	wanted_thread = atol(argv[1]);
	wanted_call = atol(argv[2]);
	first = atol(argv[3]);
	times = atol(argv[4]);
	what = atol(argv[5]);
	if (getenv("BEFALL_REQUEST"))
		request = strtol(getenv("BEFALL_REQUEST"), NULL, 0);
	command = fork();
	if (!command) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			_exit(125);
		close(ready[0]);
		execv(argv[6], argv + 6);
		_exit(125);
	}
	/* Its calls are seen from where the kernel has put the command in its place. */
	if (ptrace(PTRACE_SEIZE, command, NULL, (void *)OPTIONS) != 0 ||
	    write(ready[1], "x", 1) != 1) {
		perror("befall");
		return 125;
	}
	close(ready[0]);
	close(ready[1]);
	return follow();
}
