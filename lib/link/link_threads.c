// SPDX-License-Identifier: GPL-3.0-or-later
// link_threads.c - thread-local variables that new code brings
/*
 * Threads that run already have no room for them at a fixed distance from the thread pointer, and
 * nothing could give it to those that start later. So each thread gets a block of its own when it
 * first touches such a variable, kept under a key of pthread_setspecific: the C library knows which
 * threads there are, forgets the block with the thread, and starts with none in a new one. The code
 * that does it is runtime/threads.S, copied into the new code; what it needs is in a struct
 * uspl_threads (uspl/abi.h).
 *
 * The block begins with a word of that code's own. Then come the variables, first those with
 * initial values: what is to be copied is one piece, and lies in the read-only data as the linker's
 * .tdata does.
 */

#include <stddef.h>
#include <string.h>

#include "link/link_internal.h"
#include "uspl/abi.h"

extern const uint8_t uspl_threads[], uspl_threads_distance[], uspl_threads_from_block[],
	uspl_threads_leave[], uspl_threads_end[];

/* Round as much as anything in it may be aligned. */
enum { SLOT = sizeof(taddr), CODE_ALIGN = 16, BLOCK_MAX = 1 << 26 };

static struct link_threads *threads_of(const struct link *link)
{
	return &((struct link_private *)link->priv)->threads;
}

static int place_all(struct link *link, bool initialised, struct uspl_err *err)
{
	struct link_threads *threads = threads_of(link);

	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		uint64_t align = sec->align ? sec->align : 1;

		if (!link_section_of(link, sec)->threads || !!sec->data != initialised)
			continue;
		threads->size = (threads->size + align - 1) & ~(align - 1);
		if (sec->size > BLOCK_MAX || threads->size + sec->size > BLOCK_MAX)
			return uspl_fail(err, USPL_E_HOSTILE,
					 "the new thread-local variables claim to need more than "
					 "%d MB",
					 BLOCK_MAX >> 20);
		link_section_of(link, sec)->offset = threads->size;
		threads->size += sec->size;
		if (sec->data)
			threads->init_len = threads->size;
	}
	return 0;
}

int link_place_threads(struct link *link, struct uspl_err *err)
{
	struct link_threads *threads = threads_of(link);
	struct link_seg *rodata = &link->segs[LINK_RODATA];
	int rc;

	threads->size = threads->init_len = USPL_THREADS_HEAD;
	rc = place_all(link, true, err);
	if (rc)
		return rc;
	rc = place_all(link, false, err);
	if (rc || threads->size == USPL_THREADS_HEAD)
		return rc;
	link->has_threads = true;
	rc = link_reserve(&link->segs[LINK_TEXT], (uint64_t)(uspl_threads_end - uspl_threads),
			  CODE_ALIGN, &threads->code, err);
	if (rc)
		return rc;
	rc = link_reserve(rodata, sizeof(struct uspl_threads), SLOT, &threads->control, err);
	if (rc)
		return rc;
	rc = link_reserve(rodata, threads->init_len, CODE_ALIGN, &threads->init, err);
	if (rc)
		return rc;
	return link_reserve(&link->segs[LINK_DATA], SLOT, SLOT, &threads->key, err);
}

taddr link_threads_helper(const struct link *link, bool from_block)
{
	return link_in_segment(link, LINK_TEXT, threads_of(link)->code) +
	       (taddr)((from_block ? uspl_threads_from_block : uspl_threads_distance) -
		       uspl_threads);
}

int link_fill_threads(struct link *link, link_value_fn value, void *ctx, struct uspl_err *err)
{
	const struct link_threads *threads = threads_of(link);
	struct uspl_threads control = { .size = threads->size, .init_len = threads->init_len };
	uint8_t *code;
	taddr at = link_in_segment(link, LINK_RODATA, threads->control);
	int rc;

	if (!link->has_threads)
		return 0;
	rc = link_find_function("pthread_getspecific", value, ctx, &control.get, err);
	if (!rc)
		rc = link_find_function("pthread_setspecific", value, ctx, &control.set, err);
	if (!rc)
		rc = link_find_function("pthread_key_create", value, ctx, &link->threads.create,
					err);
	if (rc) {
		uspl_context(err, "the new thread-local variables need the threads' own data");
		return rc;
	}
	control.block = link_block_descriptor(link);
	control.init = link_in_segment(link, LINK_RODATA, threads->init);
	control.key = link->threads.key_addr;
	memcpy(link->segs[LINK_RODATA].bytes + threads->control, &control, sizeof(control));
	/* Its first word leads to the rest. */
	code = link->segs[LINK_TEXT].bytes + threads->code;
	memcpy(code, uspl_threads, (size_t)(uspl_threads_end - uspl_threads));
	memcpy(code, &at, sizeof(at));
	link->threads.get = control.get;
	link->threads.leave = link_in_segment(link, LINK_TEXT, threads->code) +
			      (taddr)(uspl_threads_leave - uspl_threads);
	link->threads.scratch = link_in_segment(link, LINK_DATA, threads->key);
	return 0;
}
