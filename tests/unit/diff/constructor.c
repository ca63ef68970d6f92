// SPDX-License-Identifier: GPL-3.0-or-later
// constructor.c - a constructor is added
// ways: any
// refuses: unsupported start or end

int outside(const char *);

static int counter = 5;

int bump(void)
{
	return counter++;
}

#ifdef PATCHED
__attribute__((constructor)) static void begin(void)
{
	outside("");
}
#endif
