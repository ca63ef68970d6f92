// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * preempt.c - a thread is put off the processor at a place where that hardly ever happens
 *
 *     preempt PID TID ENTRY [PLACE]
 *
 * Without PLACE: prints where the jump at ENTRY leads. With it: makes steps with the thread until
 * it comes to ENTRY, lets it stand at PLACE instead, and stops the process (SIGSTOP).
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 1000000

static int print_target(int pid, uint64_t entry)
{
	uint8_t code[5];
	int32_t distance;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || pread(fd, code, sizeof(code), (off_t)entry) != sizeof(code) ||
	    code[0] != 0xe9)
		return 1;
	memcpy(&distance, code + 1, sizeof(distance));
	printf("0x%" PRIx64 "\n", entry + sizeof(code) + (uint64_t)(int64_t)distance);
	return 0;
}

int main(int argc, char **argv)
{
	struct user_regs_struct regs = { 0 };
	uint64_t entry, place;
	int status, tid;

	if (argc < 4)
		return 2;
	tid = atoi(argv[2]);
	entry = strtoull(argv[3], NULL, 0);
	if (argc == 4)
		return print_target(atoi(argv[1]), entry);
	place = strtoull(argv[4], NULL, 0);
	if (ptrace(PTRACE_ATTACH, tid, NULL, NULL) != 0 || waitpid(tid, &status, __WALL) != tid)
		return 1;
	for (int i = 0; i < STEPS_MAX && regs.rip != entry; i++) {
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) != 0 ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
			return 1;
	}
	if (regs.rip != entry)
		return 1;
	regs.rip = place;
	return ptrace(PTRACE_SETREGS, tid, NULL, &regs) != 0 || kill(atoi(argv[1]), SIGSTOP) != 0 ||
	       ptrace(PTRACE_DETACH, tid, NULL, NULL) != 0;
}
