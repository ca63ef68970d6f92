/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stack_room.h - room for a frame of ours on the stack that a thread was made with
 *
 * Where a thread's stack pointer stands says little about the room below it: the thread may be on a
 * coroutine's stack of 2 KB in the middle of a program's variables, or in a handler on an alternate
 * stack. What lies in the same mapping, below it, is somebody's data then. But each thread has a
 * stack that it was made with, whose bounds are known, and nearly always pages of it that nothing
 * has ever been written to.
 */
#ifndef USPL_INJECT_STACK_ROOM_H
#define USPL_INJECT_STACK_ROOM_H

#include "thread/thread.h"

/*
 * Finds len bytes, below *ret_top, that the thread doesn't use, on the stack that it was made with.
 * The thread is STOPPED, its registers have been read. If it is on that stack they lie below its
 * red zone; if not, among pages that nothing was ever written to. False if there are none, or if
 * the stack isn't known: of a thread that wasn't made by the C library.
 */
bool stack_room_find(const struct proc *proc, const struct thread *thread, uint64_t len,
		     taddr *ret_top) uspl_must_check;

#endif
