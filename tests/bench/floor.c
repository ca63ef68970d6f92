// SPDX-License-Identifier: GPL-3.0-or-later
// floor.c - the least that a stop of all threads by ptrace can cost: floor PID
//
// Seizes all threads beforehand, which stops nobody. Then: an interrupt to each, a wait for each,
// the registers of each, and a detach from each; nothing is looked at and nothing is written. The
// target's busy thread measures it.

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#define THREADS_MAX 4096

/* Seizes what is listed; the bench's target starts no threads while it is measured. */
static int seize_all(const char *pid, pid_t *tids)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	tasks = opendir(path);
	if (!tasks)
		err(1, "cannot list '%s'", path);
	while ((entry = readdir(tasks)) && n < THREADS_MAX) {
		pid_t tid = atoi(entry->d_name);

		if (tid < 1)
			continue;
		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
			err(1, "cannot seize thread %d", tid);
		tids[n++] = tid;
	}
	closedir(tasks);
	return n;
}

int main(int argc, char **argv)
{
	static pid_t tids[THREADS_MAX];
	struct user_regs_struct regs;
	int n, status;

	if (argc != 2)
		errx(2, "usage: floor PID");
	n = seize_all(argv[1], tids);
	for (int i = 0; i < n; i++)
		if (ptrace(PTRACE_INTERRUPT, tids[i], NULL, NULL))
			err(1, "cannot interrupt thread %d", tids[i]);
	for (int i = 0; i < n; i++)
		if (waitpid(tids[i], &status, __WALL) != tids[i])
			err(1, "cannot wait for thread %d", tids[i]);
	for (int i = 0; i < n; i++)
		if (ptrace(PTRACE_GETREGS, tids[i], NULL, &regs))
			err(1, "cannot read the registers of thread %d", tids[i]);
	for (int i = 0; i < n; i++)
		ptrace(PTRACE_DETACH, tids[i], NULL, NULL);
	return 0;
}
