/* SPDX-License-Identifier: GPL-3.0-or-later */
/* value.h - what a symbol means in one process */
#ifndef USPL_LINK_VALUE_H
#define USPL_LINK_VALUE_H

#include "base/types.h"

struct symbol_value {
	/*
	 * An address. Of a thread-local variable the offset from the thread pointer, or, if its
	 * module has no fixed place there, from the beginning of the module's block.
	 */
	taddr addr;
	int64_t tls_offset; /* of that block from the thread pointer; 0: no fixed place */
	uint64_t tls_id;    /* the module, as __tls_get_addr knows it; 0: not known */
	/*
	 * Of a thread-local variable that an earlier update has brought: that update's functions
	 * that tell the place of an offset, which `addr` is, in a thread's block, from the thread
	 * pointer and from the own module's block (uspl/abi.h). 0: there is none.
	 */
	taddr lent_distance, lent_from_block;
};

#endif
