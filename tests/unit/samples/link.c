// SPDX-License-Identifier: GPL-3.0-or-later
// link.c - sample: new code that link_test.c links at an address and runs

#include <stddef.h>

extern size_t strlen(const char *s);
extern int outside_value;
extern __thread int outside_thread_value;
extern int outside_weak(void) __attribute__((weak));
int common_value;
static int calls;
static int initialised[3] = { 10, 20, 30 };
static const char *const names[] = { "zero", "one", "three" };

int replaced(int n)
{
	return n + 1000;
}

int sample_calls(const char *s)
{
	calls++;
	return (int)strlen(s) + calls;
}

int sample_data(int n)
{
	common_value += n;
	initialised[1] += outside_value;
	return initialised[0] + initialised[1] + common_value;
}

int sample_switch(int n)
{
	switch (n) {
	case 0:
		return (int)strlen(names[0]);
	case 1:
		return sample_calls("x");
	case 2:
		return sample_data(1);
	case 3:
		return outside_value * 3;
	case 4:
		return initialised[2];
	case 5:
		return common_value - 1;
	default:
		return (int)strlen(names[n % 3]);
	}
}

void *sample_address(void)
{
	return (void *)replaced;
}

int sample_thread(int n)
{
	outside_thread_value += n;
	return outside_thread_value;
}

int sample_weak(void)
{
	return outside_weak ? outside_weak() : -7;
}
