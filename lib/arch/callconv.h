/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callconv.h - where a call's arguments and its result are, by the types that the function has */
#ifndef USPL_ARCH_CALLCONV_H
#define USPL_ARCH_CALLCONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What matters of a type. Bit i is for the i-th 8 bytes; none of both: memory, or nothing at all.
 */
struct call_type {
	uint32_t size, align;
	uint8_t whole, real; /* there are whole numbers or pointers; floats or doubles */
	bool in_memory;      /* is handed over in memory, whatever it has */
};

/* enum uspl_listen_from and its index (include/uspl/listen_abi.h). */
struct call_place {
	uint8_t from;
	uint16_t index;
};

#endif
