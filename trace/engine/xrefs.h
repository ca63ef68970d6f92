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

/* How a piece's beginning is referred to; several or'ed. */
enum xref {
	XREF_CALL = 1,    /* a direct call leads there */
	XREF_JUMP = 2,    /* an unconditional direct jump does */
	XREF_TAKEN = 4,   /* the code or the data holds its address */
	XREF_UNKNOWN = 8, /* the piece can't be decoded to its end */
};

struct xrefs {
	const code_pieces *pieces; /* the caller's */
	uint8_t *kinds;            /* of each piece */
	/* A bit for each byte from `start` on, as far as there are pieces. */
	taddr start;
	uint64_t len;
	uint64_t *branches; /* calls and jumps, conditional ones too, lead there */
	uint64_t *begins;   /* a piece begins there */
};

/* Goes through the pieces, which are sorted and must stay, and through the module's data. */
int xrefs_find(const struct image *image, const code_pieces *pieces, struct xrefs *ret,
	       struct uspl_err *err) uspl_must_check;
void xrefs_release(struct xrefs *xrefs);
/* True if the piece that begins at addr is referred to in that way. */
bool xrefs_have(const struct xrefs *xrefs, taddr addr, enum xref kind);
/* True if a branch leads into [from, to). */
bool xrefs_branch_into(const struct xrefs *xrefs, taddr from, taddr to);

/* True if one of the sorted addresses is this one. */
bool xrefs_hold(const addr_vec *addrs, taddr addr);

#endif
