/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xrefs.h - which places of a module's code its code and data refer to */
#ifndef USPL_TRACE_ENGINE_XREFS_H
#define USPL_TRACE_ENGINE_XREFS_H

#include "base/error.h"
#include "image/image.h"

typedef VEC(taddr) addr_vec;

/* A piece of code: a function, or a part of one. */
struct code_piece {
	taddr start;
	uint64_t size;
};

typedef VEC(struct code_piece) code_pieces;

/* All sorted. */
struct xrefs {
	addr_vec calls;    /* where direct calls lead */
	addr_vec jumps;    /* where unconditional direct jumps lead */
	addr_vec branches; /* where these, and conditional jumps lead */
	addr_vec taken;    /* beginnings of pieces whose address the code or the data holds */
	addr_vec unknown;  /* pieces that can't be decoded to their end */
};

/* Goes through the pieces, which are sorted, and through the module's data. */
int xrefs_find(const struct image *image, const code_pieces *pieces, struct xrefs *ret,
	       struct uspl_err *err) uspl_must_check;
void xrefs_release(struct xrefs *xrefs);
/* True if one of the sorted addresses is this one. */
bool xrefs_hold(const addr_vec *addrs, taddr addr);
/* True if one of them lies in [from, to). */
bool xrefs_meet(const addr_vec *addrs, taddr from, taddr to);

#endif
