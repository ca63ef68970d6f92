// SPDX-License-Identifier: GPL-3.0-or-later
// unwind_window.c - words of the stack, out of a copy of a stretch of it

#include <string.h>

#include "unwind/unwind_priv.h"

/* What lies up to so far above a stack pointer belongs to the same stack, if it belongs to one. */
#define STACK_SPAN (64ull << 20)

/* True if the whole word is in it, even at the very end of all addresses. */
static bool window_holds(const struct unwind_window *window, taddr addr, size_t len)
{
	return addr >= window->start && window->len >= len &&
	       addr - window->start <= window->len - len;
}

bool unwinder_read_word(void *ctx, taddr addr, uint64_t *ret)
{
	struct unwinder *unwinder = ctx;
	struct unwind_window *window = &unwinder->window;

	if (unwinder->lent && addr - unwinder->lent_start < STACK_SPAN) {
		unwinder->ran_out |=
			addr - unwinder->lent_start + sizeof(*ret) > unwinder->lent_len;
		if (unwinder->ran_out)
			return false;
		memcpy(ret, unwinder->lent + (addr - unwinder->lent_start), sizeof(*ret));
		return true;
	}
	unwinder->strayed = true;
	if (!window_holds(window, addr, sizeof(*ret))) {
		window->start = addr & ~(PAGE - 1);
		window->len = proc_read_some(unwinder->proc, window->start, window->bytes,
					     sizeof(window->bytes));
		if (!window_holds(window, addr, sizeof(*ret)))
			return false;
	}
	memcpy(ret, window->bytes + (addr - window->start), sizeof(*ret));
	return true;
}
