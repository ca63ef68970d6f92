// SPDX-License-Identifier: GPL-3.0-or-later
// calc.c - a function in two versions

int calc_old(void);
int calc_new(void);
int start(void);

__asm__(".symver calc_old, calc@V1");
__asm__(".symver calc_new, calc@@V2");

int calc_old(void)
{
	return 1;
}

int calc_new(void)
{
	return 2;
}

int start(void)
{
	return 0;
}
