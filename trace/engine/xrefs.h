/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xrefs.h - which places of a module's code its code and data refer to */
#ifndef USPL_TRACE_ENGINE_XREFS_H
#define USPL_TRACE_ENGINE_XREFS_H

#include "base/error.h"
#include "image/image.h"

typedef VEC(taddr) addr_vec;

/* How a piece's beginning is referred to; several or'ed. */
enum xref {
	XREF_CALL = 1,    /* a direct call leads there */
	XREF_JUMP = 2,    /* an unconditional direct jump does */
	XREF_TAKEN = 4,   /* the code or the data holds its address */
	XREF_UNKNOWN = 8, /* the piece can't be decoded to its end */
};

/* Branches are told apart by the byte that they lead to, of the first ones of a piece. */
#define XREFS_FIRST_BYTES 32

struct xrefs {
	addr_vec starts;    /* of the pieces, sorted */
	uint8_t *kinds;     /* of each piece */
	uint32_t *branches; /* of each piece: calls and jumps lead to these of its first bytes */
	/* By the upper bits of the distance from the first piece: the first that begins there. */
	uint32_t *buckets; /* one more than n_buckets */
	size_t n_buckets;
	unsigned int shift;
};

/* The pieces of code begin at `starts`, which is sorted, and the callee's from then on. */
int xrefs_init(struct xrefs *xrefs, addr_vec *starts, struct uspl_err *err) uspl_must_check;
void xrefs_release(struct xrefs *xrefs);

DEFINE_AUTO_RELEASE(xrefs, struct xrefs, xrefs_release)
#define auto_xrefs __attribute__((cleanup(cleanup_xrefs_)))

/*
 * Goes through the code of piece i. *ret_jump: where it jumps on to, if the first instruction that
 * does more than compute is a jump; else 0.
 */
void xrefs_add_code(struct xrefs *xrefs, const struct image *image, size_t i, uint64_t size,
		    taddr *ret_jump);
/* Goes through the module's data. */
void xrefs_add_data(struct xrefs *xrefs, const struct image *image);
/* True if the piece that begins at addr is referred to in that way. */
bool xrefs_have(const struct xrefs *xrefs, taddr addr, enum xref kind);
/* True if a branch leads into the first `len` bytes (XREFS_FIRST_BYTES at most), but the first. */
bool xrefs_branch_behind(const struct xrefs *xrefs, taddr start, size_t len);

/* True if one of the sorted addresses is this one. */
bool xrefs_hold(const addr_vec *addrs, taddr addr);

#endif
