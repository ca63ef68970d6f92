// SPDX-License-Identifier: GPL-3.0-or-later
// callconv.c - x86-64: where arguments and results are (System V ABI, 3.2.3)
//
// A value of at most 16 bytes is handed over in registers, each 8 bytes of it in a general one if
// there is anything but floating point in them, if there are enough for all of it. All else is on
// the stack, in the order of the arguments.

#include "arch/x86_64/x86_64.h"
#include "uspl/listen_abi.h"

enum { N_GENERAL = 6, N_XMM = 8 };

static unsigned words_of(uint32_t size)
{
	return (size + WORD_LEN - 1) / WORD_LEN;
}

static bool is_in_memory(const struct call_type *type)
{
	return type->in_memory || type->size > 2 * WORD_LEN || !(type->whole | type->real);
}

void x86_64_call_places(const struct call_type *result, const struct call_type *args, size_t n,
			struct call_place *ret)
{
	/* A result in memory: its address comes first. */
	unsigned general = result && result->size && is_in_memory(result), xmm = 0, stack = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned want_general = 0, want_xmm = 0, first = args[i].align > WORD_LEN ? 2 : 1;

		for (unsigned w = 0; w < words_of(args[i].size); w++) {
			bool whole = args[i].whole >> w & 1;

			want_general += whole;
			want_xmm += !whole && (args[i].real >> w & 1);
		}
		if (!is_in_memory(&args[i]) && general + want_general <= N_GENERAL &&
		    xmm + want_xmm <= N_XMM) {
			ret[i] = (struct call_place){ USPL_LISTEN_REG, (uint16_t)general };
			if (!(args[i].whole & 1))
				ret[i] = (struct call_place){ USPL_LISTEN_XMM, (uint16_t)xmm };
			general += want_general;
			xmm += want_xmm;
			continue;
		}
		stack = (stack + first - 1) / first * first;
		ret[i] = (struct call_place){ USPL_LISTEN_STACK, (uint16_t)stack };
		stack += words_of(args[i].size);
	}
}

struct call_place x86_64_call_result(const struct call_type *type)
{
	if (is_in_memory(type) || type->whole & 1)
		return (struct call_place){ USPL_LISTEN_REG, USPL_LISTEN_RAX };
	return (struct call_place){ USPL_LISTEN_XMM, 0 };
}

struct call_place x86_64_call_register(unsigned dwarf)
{
	/* By figure 3.36: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8, r9; xmm0 is 17. */
	static const uint8_t general[] = { 6, 2, 3, UINT8_MAX, 1, 0, UINT8_MAX, UINT8_MAX, 4, 5 };

	if (dwarf < sizeof(general) && general[dwarf] != UINT8_MAX)
		return (struct call_place){ USPL_LISTEN_REG, general[dwarf] };
	if (dwarf >= 17 && dwarf < 17 + N_XMM)
		return (struct call_place){ USPL_LISTEN_XMM, (uint16_t)(dwarf - 17) };
	return (struct call_place){ USPL_LISTEN_NOWHERE, 0 };
}
