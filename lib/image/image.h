/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image.h - a program or library as it lies in memory, wherever the bytes come from
 *
 * lib/image and lib/match work on this and so know neither files nor processes: lib/proc makes an
 * image of a module of a process.
 */
#ifndef USPL_IMAGE_IMAGE_H
#define USPL_IMAGE_IMAGE_H

#include "base/cleanup.h"
#include "base/strvec.h"
#include "base/types.h"
#include "base/vec.h"

struct arch;

/* A run of bytes at an address. Segments are sorted and don't overlap. */
struct image_seg {
	taddr start;
	size_t len;
	bool exec;      /* may hold code */
	bool write;     /* may be written by the program: its bytes are not to be compared */
	uint8_t *bytes; /* len bytes; NULL where they weren't read (.bss) */
	/*
	 * Of each IMAGE_PIECE bytes whether they have been read: those of a large module's code are
	 * when they are asked for. NULL: all have. Then `bytes` is a mapping.
	 */
	uint8_t *there;
};

#define IMAGE_PIECE (64u << 10)

/*
 * A symbol of the running program's own symbol table (.symtab or .dynsym), at its address in
 * memory.
 */
struct image_sym {
	const char *name;
	const char *file; /* of a local symbol the STT_FILE before it; NULL if none or global */
	taddr addr;       /* for STT_TLS: the offset in the TLS segment */
	uint64_t size;
	uint8_t type, bind; /* STT_*, STB_* */
};

/* An entry that live patching has redirected: a call of `from` runs the code at `to`. */
struct image_redirect {
	taddr from, to;
};

/*
 * A field of an instruction that isn't there, since a detour does its work; the image's bytes are
 * those that were compiled.
 */
struct image_meaning {
	taddr field;
	/* What it would lead to, or be: an address, or an offset of thread-local data. */
	uint64_t value;
};

struct image {
	char *name; /* for messages */
	taddr start,
		end; /* from the first segment's first to the last one's last byte, .bss included */
	/*
	 * Its TLS block's offset from the thread pointer (negative), from where its thread-local
	 * variables are counted then; 0 if it has no fixed one, and they count from its beginning.
	 */
	int64_t tls_offset;
	/* Reads what isn't there yet; it lives as long as the image. NULL: all is there. */
	bool (*read)(const void *ctx, taddr addr, void *to, size_t len);
	const void *read_ctx;
	bool forgets; /* what was read is as it was read, and can be read again */
	/* Nothing has run yet: what the program may write holds its initial values. */
	bool pristine;
	taddr frames;    /* where its .eh_frame_hdr is; 0 if it has none, or that isn't known */
	uint64_t tls_id; /* of a library: by which __tls_get_addr knows it; 0 if that isn't known */
	VEC(struct image_seg) segs;
	VEC(struct image_sym) syms; /* sorted by address */
	/*
	 * Of a program without a symbol table, or with a part of one: where its functions and their
	 * parts begin, by its call frame information. Sorted; empty for a program with symbols.
	 */
	VEC(taddr) starts;
	/*
	 * Of these the beginnings of parts, sorted: what lies on the stack there isn't what a call
	 * leaves. (A part of a function that keeps nothing on the stack isn't told from a
	 * function.)
	 */
	VEC(taddr) parts;
	strvec added_names; /* of the syms that image_add_function has added */
	/* Made by the applied updates, the newest for each entry. Their code is among segs. */
	VEC(struct image_redirect) redirects;
	/* In the code of these updates, sorted by their fields. */
	VEC(struct image_meaning) meanings;
	void *backing; /* owns the names; private to the code that made the image */
	void (*release_backing)(void *);
};

/*
 * The bytes at [addr, addr + len), if they lie in one segment and were read; NULL otherwise. Owned
 * by the image.
 */
const uint8_t *image_bytes(const struct image *image, taddr addr, size_t len);
/*
 * For a caller that goes through the code once, upwards, and has come to addr: what lies before it,
 * from *from on, needn't stay in memory. The caller must not use bytes any more that it has asked
 * for there.
 */
void image_forget(const struct image *image, taddr *from, taddr addr);
/*
 * A place of the program's code by which a function returns elsewhere than to its caller
 * (arch.return_place), with its bytes, which the image owns; 0: there is none.
 */
taddr image_return_place(const struct image *image, const struct arch *arch,
			 const uint8_t **ret_bytes, size_t *ret_len);
/* The segment that addr lies in, or NULL. */
const struct image_seg *image_seg_at(const struct image *image, taddr addr);
/* The place among syms of the first one at addr or above; their number if there is none. */
size_t image_first_sym(const struct image *image, taddr addr);
/*
 * True if the image has a table of call frame information, and none for the code at addr: it was
 * written in assembler, or by the program itself when it was built, and needn't keep to what
 * compilers do with the stack.
 */
bool image_lacks_frame(const struct image *image, taddr addr);
/* The function or object symbol that covers addr (or starts at it, if it has no size), or NULL. */
const struct image_sym *image_sym_at(const struct image *image, taddr addr);

/*
 * Adds a segment that lies outside the others (an applied update's code or data); bytes become the
 * image's, NULL if they aren't to be compared. False: out of memory, bytes stay the caller's.
 */
bool image_add_seg(struct image *image, const struct image_seg *seg) uspl_must_check;
/*
 * Adds the name of a function of an applied update, which no function of the program has; the name
 * is copied. False: out of memory.
 */
bool image_add_function(struct image *image, const char *name, taddr addr,
			uint64_t size) uspl_must_check;
/* Adds a redirection, or replaces the one of the same entry. False: out of memory. */
bool image_redirect(struct image *image, taddr from, taddr to) uspl_must_check;
/* The code that runs when addr is called: addr itself, or where its redirections end. */
taddr image_follow(const struct image *image, taddr addr);
/*
 * The address by which the program knows the function whose code is at addr: the entry whose
 * redirections end there, or addr itself.
 */
taddr image_entry(const struct image *image, taddr addr);
/* Adds what a field means; image_sort_meanings makes it count. False: out of memory. */
bool image_mean(struct image *image, taddr field, uint64_t value) uspl_must_check;
void image_sort_meanings(struct image *image);
/* True if the field at that place isn't to be read, since it means *ret_value. */
bool image_meaning(const struct image *image, taddr field, uint64_t *ret_value);
/* True if addr lies in the program, or in the code or data of an update of it. */
bool image_holds(const struct image *image, taddr addr);

/* Frees the image with its bytes. NULL is fine. */
void image_free(struct image *image);

DEFINE_AUTO_FREE(image, struct image, image_free)
#define auto_image __attribute__((cleanup(cleanup_image_)))

#endif
