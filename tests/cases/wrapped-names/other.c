// SPDX-License-Identifier: GPL-3.0-or-later
// other.c - what is wrapped, and what stands in for it

#include <sys/types.h>

int other(void);
int third(void);
int __wrap_other(void);
int __wrap_third(void);
pid_t __wrap_getpid(void);

int other(void)
{
	return 5;
}

int third(void)
{
	return 1000;
}

int __wrap_other(void)
{
	return 500;
}

int __wrap_third(void)
{
	return 3000;
}

pid_t __wrap_getpid(void)
{
	return 77;
}

int (*volatile kept[])(void) = { other, third, __wrap_other, __wrap_third };
