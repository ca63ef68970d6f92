/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stack_room.h - room for the agent's frame on the stack that a thread was made with
 *
 * Where a thread's stack pointer stands says little about the room below it: the thread may be on a
 * coroutine's stack of 2 KB in the middle of a program's variables, or in a handler on an alternate
 * stack. What lies in the same mapping, below it, is the program's data then. But each thread has a
 * stack that it was made with, whose bounds are known, and nearly always some of its pages have
 * never been written to.
 */
#ifndef USPL_INJECT_STACK_ROOM_H
#define USPL_INJECT_STACK_ROOM_H

#include "thread/thread.h"

/*
 * Finds len bytes, below *ret_top, that the thread doesn't use, on the stack that it was made with.
 * The thread is STOPPED, its registers have been read. If it is on that stack they lie below its
 * red zone; if not, among pages that were never written to. False if there are none, or if the
 * stack isn't known, as for a thread that the C library hasn't made.
 */
bool stack_room_find(const struct proc *proc, const struct thread *thread, uint64_t len,
		     taddr *ret_top) uspl_must_check;

#endif
