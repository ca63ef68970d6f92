// SPDX-License-Identifier: GPL-3.0-or-later
// zombie.c - has a child that has ended and is not waited for: prints its pid, and stays until
// stdin ends

#include <stdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	siginfo_t info;
	pid_t pid = fork();
	char c;

	if (pid == 0)
		_exit(0);
	alarm(60);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
		return 1;
	printf("%d\n", pid);
	fflush(stdout);
	return read(STDIN_FILENO, &c, 1) != 0;
}
