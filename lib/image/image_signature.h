/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_signature.h - what a function is called with and what it returns, by the debugging
 * information of a program
 */
#ifndef USPL_IMAGE_IMAGE_SIGNATURE_H
#define USPL_IMAGE_IMAGE_SIGNATURE_H

#include "arch/callconv.h"
#include "base/error.h"
#include "image/image.h"
#include "uspl/listen_abi.h"

/* An argument or a result. */
struct image_value {
	char *name;    /* NULL: it has none */
	char *names;   /* of an enumeration or a bool: "RED=0,GREEN=1"; else NULL */
	uint8_t kind;  /* enum uspl_probe_arg_kind; 0: no single value (a structure) */
	uint8_t width; /* bytes */
	struct call_type type;
	struct call_place place;
};

struct image_signature {
	bool known; /* false: there is no debugging information of the function */
	bool has_result;
	VEC(struct image_value) args;
	struct image_value result;
};

/*
 * The function that is entered at addr. A copy of it that the compiler has made with other
 * arguments (.isra, .constprop) has those that are still handed over; the others are nowhere.
 */
int image_signature_read(const struct image *image, taddr addr, struct image_signature *ret,
			 struct uspl_err *err) uspl_must_check;
void image_signature_release(struct image_signature *signature);

#endif
