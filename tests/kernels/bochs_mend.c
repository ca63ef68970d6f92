// SPDX-License-Identifier: MIT
// bochs_mend.c - Debian's Bochs 3.1 multiplies and divides as it should: ld.so --preload mend.so
/*
 * As it is built there (gcc 16, with strict aliasing), long_idiv of cpu/wide_int.cc never stores
 * the lower half of the dividend, which it reads through a pointer of another type: an idiv of 64
 * bits has any result, and Linux stops with a division by zero before it prints its first line
 * (register_refined_jiffies). Both functions that go by that pattern are replaced, as they are
 * called: by a jump at their beginning.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul

struct wide {
	uint64_t low, high;
};

static struct wide wide_of(__int128 value)
{
	return (struct wide){ (uint64_t)value, (uint64_t)((unsigned __int128)value >> 64) };
}

/* The divisor isn't 0; a quotient that doesn't fit is for the caller to see. */
static void divide(struct wide *quotient, int64_t *remainder, const struct wide *dividend,
		   int64_t divisor)
{
	__int128 value = (__int128)((unsigned __int128)dividend->high << 64 | dividend->low);

	*quotient = wide_of(value / divisor);
	*remainder = (int64_t)(value % divisor);
}

static void multiply(struct wide *product, int64_t a, int64_t b)
{
	*product = wide_of((__int128)a * b);
}

static void replace(const char *name, const void *by)
{
	uint8_t jump[] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0 }; /* movabs, jmp *%rax */
	uint8_t *at = dlsym(RTLD_DEFAULT, name);
	void *page = (void *)((uintptr_t)at & ~(PAGE - 1));

	memcpy(jump + 2, &by, sizeof(by));
	if (!at || mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		fprintf(stderr, "bochs_mend: no %s\n", name);
		return;
	}
	memcpy(at, jump, sizeof(jump));
	mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void mend(void)
{
	replace("_Z9long_idivP7Bit128sPlPKS_l", (const void *)divide);
	replace("_Z9long_imulP7Bit128sll", (const void *)multiply);
}
