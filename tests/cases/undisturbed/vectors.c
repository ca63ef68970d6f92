// SPDX-License-Identifier: GPL-3.0-or-later
// vectors.c - a thread in a tight loop, with all that the processor has in its extended state

#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "watch.h"

atomic_long vector_rounds;

/* What the registers hold, a loop long, and what they held in the end. */
static uint8_t pattern[64];

#define TURNS "200000"

__attribute__((target("avx"))) static bool wide_hold(void)
{
	uint8_t low[32], high[32];

	__asm__ volatile("vmovdqu %2, %%ymm6\n\t"
			 "vmovdqu %2, %%ymm13\n\t"
			 "movl $" TURNS ", %%ecx\n"
			 "1:	decl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "vmovdqu %%ymm6, %0\n\t"
			 "vmovdqu %%ymm13, %1\n\t"
			 "vzeroupper"
			 : "=m"(low), "=m"(high)
			 : "m"(pattern)
			 : "rcx", "xmm6", "xmm13", "cc");
	return !memcmp(low, pattern, 32) && !memcmp(high, pattern, 32);
}

/* Upper halves, the registers that only these instructions have, and a mask. */
__attribute__((target("avx512f"))) static bool widest_hold(void)
{
	uint8_t low[64], high[64];
	uint16_t mask = 0x5aa5, mask_after;

	__asm__ volatile("vmovdqu64 %3, %%zmm5\n\t"
			 "vmovdqu64 %3, %%zmm21\n\t"
			 "kmovw %4, %%k3\n\t"
			 "movl $" TURNS ", %%ecx\n"
			 "1:	decl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "vmovdqu64 %%zmm5, %0\n\t"
			 "vmovdqu64 %%zmm21, %1\n\t"
			 "kmovw %%k3, %2\n\t"
			 "vzeroupper"
			 : "=m"(low), "=m"(high), "=m"(mask_after)
			 : "m"(pattern), "m"(mask)
			 : "rcx", "xmm5", "xmm21", "k3", "cc");
	return !memcmp(low, pattern, 64) && !memcmp(high, pattern, 64) && mask == mask_after;
}

/* How numbers are rounded, of both units. */
static bool modes_hold(uint32_t mxcsr, uint16_t control)
{
	uint32_t mxcsr_after;
	uint16_t control_after;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr_after));
	__asm__ volatile("fnstcw %0" : "=m"(control_after));
	return mxcsr_after == mxcsr && control_after == control;
}

static void *watch_vectors(void *arg)
{
	/* Upwards, and all exceptions masked. */
	const uint32_t mxcsr = 0x1f80 | 2u << 13;
	const uint16_t control = 0x037f | 2u << 10;

	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("fldcw %0" : : "m"(control));
	for (;; vector_rounds++) {
		if (__builtin_cpu_supports("avx") && !wide_hold())
			amiss = "half of a vector register has changed";
		if (__builtin_cpu_supports("avx512f") && !widest_hold())
			amiss = "a wide vector register or a mask has changed";
		if (!modes_hold(mxcsr, control))
			amiss = "numbers are rounded otherwise";
	}
	return arg;
}

void vectors_start(void)
{
	pthread_t thread;

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(17 * i + 3);
	pthread_create(&thread, NULL, watch_vectors, NULL);
}
