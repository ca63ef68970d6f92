/* SPDX-License-Identifier: MIT */
/*
 * trace.S - the tracer's hot path: what a traced call runs in the target
 *
 * Copied as it is into the target, near each traced module; needs no relocation. It reaches its
 * control page (struct uspl_trace_control) at a fixed distance. docs/trace.md explains the parts;
 * include/uspl/trace_abi.h has the layouts.
 *
 * E is the address of the return address of the traced call; what belongs to it (its slot, 16
 * bytes) lies at 2 * E without bit USPL_TRACE_SHADOW_BIT, but for the bits in which the session's
 * shadow differs: the return address, and the time of the call. Compilers align the stack to 16
 * bytes only for calls of functions that need it: return addresses may lie 8 bytes apart, their
 * slots then lie 16 apart. The time is 0 where no call is open. A call that finds another value
 * there has found one that was left without a return: its place on the stack is the new one's now.
 *
 * Every register but the flags is kept. What interrupts us (a signal handler that makes traced
 * calls) may use the same thread's entry: the hot path reads it once and takes its place in the
 * ring with one instruction.
 */
#include "uspl/sums_abi.h"

#define SYS_MMAP 9
#define SYS_MUNMAP 11
#define SYS_MREMAP 25
#define SYS_RT_SIGPROCMASK 14
#define SYS_NANOSLEEP 35
#define SYS_GETPID 39
#define SYS_GETTID 186
#define SYS_PROCESS_VM_READV 310
#define PAGE 4096
#define SIG_SETMASK 2
#define PROT_RW 3
#define MAP_SHADOW 0x104022		/* private, anonymous, noreserve, fixed_noreplace */
#define MREMAP_OVER 3			/* maymove, fixed */
#define NAMES_SHIFT 19			/* the names of a chunk's slots: USPL_TRACE_NAMES bytes */
#define CLAIM_NS 50000			/* between two looks whether another thread is done */
#define OP_CALL 0xe8
#define OP_JMP 0xe9
#define OP_PUSH 0x68
#define LEA_8_RSP 0x24648d48		/* the first four bytes of lea 8(%rsp), %rsp */

	.section .rodata.uspl_trace, "a"
	.global uspl_trace_begin, uspl_trace_end
	.global uspl_trace_call, uspl_trace_return, uspl_trace_entry
	.global uspl_trace_call_limited, uspl_trace_return_limited
	.global uspl_mark_take, uspl_mark_text, uspl_mark_fetch, uspl_mark_same
	.global uspl_mark_call, uspl_mark_return
	.global uspl_profile_call, uspl_profile_return, uspl_count_entry
	.global uspl_trace_meet, uspl_trace_chosen, uspl_trace_chosen_end
	.balign 4096
uspl_trace_begin:
	.set	control, uspl_trace_begin + USPL_TRACE_CONTROL
	.set	listeners, uspl_trace_begin + USPL_LISTEN_CODE

/* \reg: E; becomes its slot. */
.macro SLOT reg
	add	\reg, \reg
	btr	$USPL_TRACE_SHADOW_BIT, \reg
	xor	control + TC_SHADOW(%rip), \reg
.endm

/* The address of the entry at the thread pointer's home place; \thread holds the thread pointer. */
.macro HOME thread, ret
	mov	\thread, \ret
	shr	$10, \ret
	add	\thread, \ret
	shr	$6, \ret			/* 12, and each entry has 64 bytes */
	and	$(TT_SIZE * (USPL_TRACE_THREADS - 1)), \ret
	add	control + TC_THREADS(%rip), \ret
.endm

/*
 * This thread's entry in rax, or on to \slow if it isn't at its home place or has become another's.
 * Changes rcx.
 */
.macro ENTRY slow
	mov	%fs:0, %rcx
	HOME	%rcx, %rax
	cmp	%rcx, TT_THREAD(%rax)
	jne	\slow
	mov	control + TC_TID_OFFSET(%rip), %rcx
	mov	%fs:(%rcx), %ecx
	cmp	%ecx, TT_KEY(%rax)
	jne	\slow
.endm

/*
 * Behind the pushes of a thunk's call (E is \at(%rsp) then), rax: the thread's entry. E to rcx; on
 * to \slow if it isn't in the chunk in use. Changes rdx.
 */
.macro IN_CHUNK slow, at=32
	lea	\at(%rsp), %rcx
	mov	%rcx, %rdx
	sub	TT_CHUNK(%rax), %rdx
	ror	$3, %rdx		/* what isn't a multiple of 8 becomes large */
	cmp	$(USPL_TRACE_CHUNK / 8), %rdx
	jae	\slow
.endm

/* The return address to rdx; on to \tail if it may be another thunk. Changes rax. */
.macro CALLER tail
	mov	32(%rsp), %rdx
	mov	%rdx, %rax
	and	$(USPL_TRACE_THUNK - 1), %eax
	cmp	$USPL_TRACE_THUNK_RETURN, %eax
	je	\tail
.endm

/*
 * \pos: a position in \ring; becomes the address of the record there. The record has no id until it
 * is whole, so that a reader doesn't take a part of it for all.
 */
.macro RECORD ring, pos
	and	control + TC_RING_MASK(%rip), \pos
	lea	USPL_TRACE_RING_HEADER(\ring, \pos), \pos
	movl	$0, 12(\pos)
.endm

/* \slot: a slot; becomes the address of its name, and the other way round. */
.macro NAME_OF slot
	btc	$USPL_TRACE_NAME_BIT, \slot
.endm

/*
 * Behind the three pushes of a thunk's call, \slot: its slot. Notes which thunk it belongs to.
 * Changes rax, rdx.
 */
.macro NAME slot
	mov	24(%rsp), %rax
	not	%rax
	mov	\slot, %rdx
	NAME_OF	%rdx
	mov	%rax, (%rdx)
.endm

/*
 * Notes when a call began, in its slot (\slot) and beside its name, which may outlive the process.
 * The name is there already. Changes rax, rdx, \slot.
 */
.macro BEGIN slot
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, 8(\slot)		/* one store: the return may load it at once */
	NAME_OF	\slot
	mov	%rdx, 8(\slot)
.endm

/*
 * On to \none unless the thread has a shadow stack; else \reg isn't 0. Where the processor or the
 * kernel has none, rdsspq does nothing. Changes \reg.
 */
.macro SHADOWED reg, none
	xor	\reg, \reg
	rdsspq	\reg
	test	\reg, \reg
	jz	\none
.endm

/* Takes \n return addresses from the shadow stack. Changes \reg. */
.macro FORGET n, reg
	mov	$\n, \reg
	incsspq	\reg
.endm

/*
 * A call of a thunk whose return is traced. (%rsp): the thunk + 5; 8(%rsp): E.
 */
	.balign	64
uspl_trace_call:
	push	%rax
	push	%rcx
	push	%rdx
	ENTRY	call_slow
	IN_CHUNK call_slow
call_known:				/* rax: the entry; rcx: E */
	CALLER	call_tail
call_note:				/* rcx: E; rdx: the return address */
	SLOT	%rcx
	cmpq	$0, 8(%rcx)
	jne	call_left
call_free:
	mov	%rdx, (%rcx)
call_time:				/* rcx: the slot */
	NAME	%rcx
	BEGIN	%rcx
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

/* The call that had the place was left. */
call_left:				/* rcx: the slot; rdx: the return address */
	push	%rsi
	push	%rdi
	push	%rdx
	push	%rcx
	mov	%rcx, %rsi
	call	put_left
	pop	%rcx
	pop	%rdx
	pop	%rdi
	pop	%rsi
	movq	$0, 8(%rcx)
	NAME_OF	%rcx
	movq	$0, 8(%rcx)
	NAME_OF	%rcx
	jmp	call_free

/*
 * Perhaps the traced function is the end of another traced one (a tail call): then its return
 * address is that one's thunk, and the slot is in use. The other one ends here, with its record,
 * and this one returns to where the other would have.
 */
call_tail:
	push	%rsi
	push	%rdi
	call	in_arenas
	jc	2f
	/*
	 * Or it is the end of one whose return a probe waits for, which may hide one of ours in
	 * turn.
	 */
	push	%rdx
1:	call	thunk_under
	jnc	3f
	call	in_arenas
	jnc	1b
	/* Its slot is in use, and it can't end here: then this one isn't seen. */
	pop	%rdx
	pop	%rdi
	pop	%rsi
	call	nowhere
	jmp	call_skip
3:	pop	%rdx
	pop	%rdi
	pop	%rsi
	jmp	call_note
2:	mov	%rcx, %rsi
	SLOT	%rsi
	mov	1(%rdx), %edi		/* push $id */
	push	%rdi
	push	%rsi
	call	put
	pop	%rcx			/* the slot */
	movq	$0, 8(%rcx)
	pop	%rdi
	pop	%rdi
	pop	%rsi
	SHADOWED %rax, call_time
	/*
	 * The shadow stack still has the other one's thunk, to which nothing returns now, and above
	 * it ours, which is jumped to in place of the return.
	 */
	NAME	%rcx
	BEGIN	%rcx
	FORGET	2, %rax
	jmp	leave_by_jump

/* CF: the return address in rdx is one of our thunks. Changes rax, rsi, rdi. */
in_arenas:
	lea	control + TC_ARENAS(%rip), %rsi
	lea	16 * USPL_TRACE_ARENAS(%rsi), %rdi
1:	cmpq	$0, 8(%rsi)		/* unused, as all behind it; no CF */
	je	2f
	mov	%rdx, %rax
	sub	(%rsi), %rax
	cmp	8(%rsi), %rax
	jb	2f
	add	$16, %rsi
	cmp	%rdi, %rsi
	jb	1b
2:	ret

/*
 * CF: the return address in rdx is a thunk, of whatever session. Then eax is what it pushes, and
 * rdx becomes the return address that it keeps for E, which is in rcx. Changes rax, rsi.
 */
thunk_under:
	mov	%edx, %eax
	and	$(USPL_TRACE_THUNK - 1), %eax
	cmp	$USPL_TRACE_THUNK_RETURN, %eax
	jne	9f
	cmpb	$OP_CALL, -15(%rdx)
	jne	9f
	cmpl	$LEA_8_RSP, -10(%rdx)
	jne	9f
	cmpb	$OP_CALL, -5(%rdx)
	jne	9f
	cmpb	$OP_PUSH, (%rdx)
	jne	9f
	cmpb	$OP_JMP, 5(%rdx)
	jne	9f
	/* Its session's shadow is told by the control page of the runtime that it calls first. */
	movslq	-14(%rdx), %rax
	lea	-10(%rdx, %rax), %rsi
	and	$-USPL_TRACE_CODE_ALIGN, %rsi
	mov	1(%rdx), %eax
	mov	%rcx, %rdx
	add	%rdx, %rdx
	btr	$USPL_TRACE_SHADOW_BIT, %rdx
	xor	USPL_TRACE_CONTROL + TC_SHADOW(%rsi), %rdx
	mov	(%rdx), %rdx
	stc
	ret
9:	clc
	ret

/*
 * Writes the record of a call that ends now. rsi: the slot; edi: the id. Changes rax, rcx, rdx,
 * rdi.
 */
put:
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	sub	8(%rsi), %rdx
	cmp	control + TC_THRESHOLD(%rip), %rdx
	jb	9f
	call	thread_find
	test	%rax, %rax
	jz	9f
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	9f
	call	put_in_ring
9:	ret

/* Writes the record of a call that was left. rsi: its slot. Changes rax, rcx, rdx, rdi. */
put_left:
	mov	%rsi, %rdi
	NAME_OF	%rdi
	mov	(%rdi), %rdi
	not	%rdi
	mov	USPL_TRACE_THUNK_RETURN + 1 - USPL_TRACE_NAME_AT(%rdi), %edi	/* push $id */
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, %rcx
	sub	8(%rsi), %rcx
	cmp	control + TC_THRESHOLD(%rip), %rcx
	jb	9f
	call	thread_find
	test	%rax, %rax
	jz	8f
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	8f
	push	$USPL_TRACE_LEFT
	call	put_long
	pop	%rcx
9:	ret
8:	call	nowhere
	ret

/* rax: the ring; rdx: the duration; rsi: the slot; edi: the id. Changes rax, rcx, rdi. */
put_in_ring:
	mov	%rdx, %rcx
	shr	$32, %rcx
	jnz	1f
	mov	$USPL_TRACE_RECORD, %ecx
	xadd	%rcx, TR_POS(%rax)
	RECORD	%rax, %rcx
	mov	8(%rsi), %rax
	mov	%rax, (%rcx)
	mov	%edx, 8(%rcx)
	mov	%edi, 12(%rcx)
	ret
	/* It doesn't fit into 32 bits: a second record has the time of the return. */
1:	add	8(%rsi), %rdx
	push	$0
	call	put_long
	pop	%rcx
	ret

/*
 * Two records: the second one has the time of the end, and how the call has ended, 8(%rsp). rax:
 * the ring; rdx: that time; rsi: the slot; edi: the id. Changes rcx, rdi.
 */
put_long:
	mov	$(2 * USPL_TRACE_RECORD), %ecx
	xadd	%rcx, TR_POS(%rax)
	push	%rcx
	RECORD	%rax, %rcx
	push	8(%rsi)
	pop	(%rcx)
	movl	$-1, 8(%rcx)
	or	$USPL_TRACE_ID_LONG, %edi
	mov	%edi, 12(%rcx)
	pop	%rcx
	add	$USPL_TRACE_RECORD, %rcx
	RECORD	%rax, %rcx
	mov	%rdx, (%rcx)
	mov	8(%rsp), %edi
	mov	%edi, 8(%rcx)
	movl	$USPL_TRACE_ID_LONG, 12(%rcx)
	ret

/*
 * The body has returned; the thunk has pushed its id where the return address was. (%rsp): the id,
 * at E.
 */
	.balign	64
uspl_trace_return:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	lea	32(%rsp), %rsi
	SLOT	%rsi
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	sub	8(%rsi), %rdx		/* the duration */
	cmp	control + TC_THRESHOLD(%rip), %rdx
	jb	return_short
	mov	%fs:0, %rcx
	HOME	%rcx, %rax
	cmp	%rcx, TT_THREAD(%rax)
	jne	return_slow
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	return_slow
	mov	%rdx, %rcx
	shr	$32, %rcx
	jnz	return_slow
	mov	$USPL_TRACE_RECORD, %ecx
	xadd	%rcx, TR_POS(%rax)
	RECORD	%rax, %rcx
	mov	8(%rsi), %rax
	mov	%rax, (%rcx)
	mov	%edx, 8(%rcx)
	mov	32(%rsp), %eax
	mov	%eax, 12(%rcx)
return_known:				/* a child of fork knows no thread, and has no names */
	mov	%rsi, %rax
	NAME_OF	%rax
	movq	$0, 8(%rax)
return_back:
	movq	$0, 8(%rsi)
	mov	(%rsi), %rax
	mov	%rax, 32(%rsp)
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
return_slow:
	push	%rdi
	mov	40(%rsp), %edi
	call	thread_find
	test	%rax, %rax
	jz	2f
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	1f
	call	put_in_ring
	pop	%rdi
	jmp	return_known
1:	call	nowhere
	pop	%rdi
	jmp	return_known
2:	call	nowhere
	pop	%rdi
	jmp	return_back
return_short:
	cmpq	$0, control + TC_KEPT(%rip)
	je	return_back
	mov	%fs:0, %rcx
	HOME	%rcx, %rax
	cmp	%rcx, TT_THREAD(%rax)
	je	return_known
	call	thread_find
	test	%rax, %rax
	jz	return_back
	jmp	return_known

/*
 * A call of a thunk whose entry only is traced: `call uspl_trace_entry; jmp body; .long id`.
 */
	.balign	64
uspl_trace_entry:
	push	%rax
	push	%rcx
	push	%rdx
	ENTRY	entry_slow
entry_known:				/* rax: the entry */
	mov	TT_RING(%rax), %rcx
	test	%rcx, %rcx
	jz	entry_nowhere
	rdtsc				/* behind the xadd it would cost 3 ns, a third of all */
	shl	$32, %rdx
	or	%rax, %rdx
	mov	$USPL_TRACE_RECORD, %eax
	xadd	%rax, TR_POS(%rcx)
	RECORD	%rcx, %rax
	mov	%rax, %rcx
	mov	%rdx, (%rcx)
	mov	32(%rsp), %eax		/* the caller */
	mov	%eax, 8(%rcx)
	mov	control + TC_CPU_OFFSET(%rip), %rdx
	mov	%fs:(%rdx), %eax	/* the processor */
	inc	%eax
	and	control + TC_CPU_MASK(%rip), %eax
	shl	$USPL_TRACE_CPU_SHIFT, %eax
	mov	24(%rsp), %rdx
	or	5(%rdx), %eax		/* the id */
	mov	%eax, 12(%rcx)
entry_back:
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
entry_slow:
	call	thread_meet
	test	%rax, %rax
	jnz	entry_known
	jmp	entry_back
entry_nowhere:
	cmpl	$0, TT_MUTE(%rax)
	jne	entry_back
	call	nowhere
	jmp	entry_back

/*
 * The same two for a session that records only a limited depth of nested calls. The ring has a list
 * of the recorded calls that are open, by their E. A call that was left, however, lies at an
 * address that is in use again, or above: it is then struck from the list. So the list may be
 * shorter than it should be, where a program changes stacks, but never longer: too much may be
 * recorded, never too little.
 */
	.balign	16
uspl_trace_call_limited:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	ENTRY	limited_slow
limited_known:				/* rax: the entry */
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	limited_pass
	lea	40(%rsp), %rdx		/* E */
	call	open_strike
	cmp	control + TC_DEPTH(%rip), %rcx
	jae	limited_skip
	mov	%rdx, (%rsi, %rcx, 8)
	inc	%rcx
	mov	%rcx, TR_OPEN(%rax)
limited_pass:
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	jmp	uspl_trace_call
limited_slow:
	call	thread_meet
	test	%rax, %rax
	jnz	limited_known
	jmp	limited_pass
limited_skip:
	mov	%rcx, TR_OPEN(%rax)
	pop	%rsi
	jmp	call_skip

uspl_trace_return_limited:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	call	thread_find
	test	%rax, %rax
	jz	1f
	mov	TT_RING(%rax), %rax
	test	%rax, %rax
	jz	1f
	lea	32(%rsp), %rdx		/* E */
	call	open_strike
	mov	%rcx, TR_OPEN(%rax)
1:	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	jmp	uspl_trace_return

/* rax: the ring; rdx: E. How many open calls lie above E in rcx, their list in rsi. */
open_strike:
	mov	control + TC_RING_MASK(%rip), %rcx
	lea	USPL_TRACE_RING_HEADER + 1(%rax, %rcx), %rsi
	mov	TR_OPEN(%rax), %rcx
1:	test	%rcx, %rcx
	jz	2f
	cmp	%rdx, -8(%rsi, %rcx, 8)
	ja	2f
	dec	%rcx
	jmp	1b
2:	ret

/*
 * Calls that are added up (include/uspl/sums_abi.h): count. A call of a thunk whose entry only is
 * traced.
 */
	.balign	64
uspl_count_entry:
	push	%rax
	push	%rcx
	ENTRY	count_slow
count_known:				/* rax: the entry */
	mov	TT_SUMS(%rax), %rcx
	test	%rcx, %rcx
	jz	count_nowhere
	mov	16(%rsp), %rax
	mov	5(%rax), %eax		/* the id */
	incq	(%rcx, %rax, 8)
count_back:
	pop	%rcx
	pop	%rax
	ret
count_slow:
	push	%rdx
	call	thread_meet
	pop	%rdx
	test	%rax, %rax
	jnz	count_known
	jmp	count_back
count_nowhere:
	cmpl	$0, TT_MUTE(%rax)
	jne	count_back
	call	nowhere
	jmp	count_back

/* A call of a thunk whose calls profile adds up. */
	.balign	64
uspl_profile_call:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	ENTRY	profile_slow
	IN_CHUNK profile_slow, 40
profile_known:				/* rax: the entry; rcx: E */
	lea	8(%rcx), %rdx
	shl	$USPL_SUMS_AT_SHIFT, %rdx
	cmp	%rdx, TT_TOP(%rax)
	jb	profile_hard
	mov	40(%rsp), %rdx		/* the return address */
	mov	%edx, %esi
	and	$(USPL_TRACE_THUNK - 1), %esi
	cmp	$USPL_TRACE_THUNK_RETURN, %esi
	je	profile_hard
	mov	%rcx, %rsi
	SLOT	%rsi
	cmpq	$0, 8(%rsi)
	jne	profile_hard
	/*
	 * The call becomes the innermost one of the thread's list. It is on the list before it has
	 * a time: a signal handler that comes in between leaves the list as it finds it.
	 */
profile_free:				/* rdx: the return address; rsi: the slot */
	mov	%rdx, (%rsi)
	mov	%rax, %rcx
	rdtsc				/* what comes behind overlaps with it */
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, 8(%rsi)
	mov	32(%rsp), %rdx
	mov	USPL_TRACE_THUNK_RETURN + 1 - 5(%rdx), %edx	/* push $id */
	imul	$SC_SIZE, %rdx, %rax
	add	TT_SUMS(%rcx), %rax
	incq	SC_OPEN(%rax)
	mov	%rsi, %rax
	NAME_OF	%rax
	push	TT_TOP(%rcx)
	pop	(%rax)			/* the call around it */
	lea	40(%rsp), %rax
	shl	$USPL_SUMS_AT_SHIFT, %rax
	or	%rdx, %rax
	mov	%rax, TT_TOP(%rcx)
profile_noted:
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

/* Calls that were left, a tail call: a listener sees to them. */
profile_hard:
	call	listeners + USPL_LISTEN_PROFILE_ENTER
	test	%rdx, %rdx		/* 0: this call can't be seen */
	jz	profile_pass
	test	%esi, %esi
	jnz	profile_tail
	mov	%rcx, %rsi
	SLOT	%rsi
	jmp	profile_free
profile_tail:				/* it is on the list already; as call_tail */
	SHADOWED %rax, profile_noted
	FORGET	2, %rax
	pop	%rsi
	jmp	leave_by_jump
profile_pass:
	pop	%rsi
	jmp	call_skip

profile_slow:
	pop	%rsi
	call	thread_meet
	test	%rax, %rax
	jz	call_skip
	cmpq	$0, TT_RING(%rax)
	je	call_nowhere
	lea	32(%rsp), %rcx		/* E */
	call	chunk_enter
	test	%rdx, %rdx
	jz	call_unseen
	push	%rsi
	cmpq	$0, TT_KEPT(%rax)
	jne	profile_hard
	jmp	profile_known

/* The body has returned. (%rsp): the id, at E. */
	.balign	16
uspl_profile_return:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	lea	40(%rsp), %rcx		/* E */
	mov	%rcx, %rsi
	SLOT	%rsi
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	sub	8(%rsi), %rdx		/* the duration */
	mov	%rdx, %rax
	shr	$32, %rax		/* a long one, or USPL_SUMS_PASSED_BIT */
	jnz	profile_end
	mov	%fs:0, %rdi
	HOME	%rdi, %rax
	cmp	%rdi, TT_THREAD(%rax)
	jne	profile_end
	mov	40(%rsp), %edi		/* the id */
	shl	$USPL_SUMS_AT_SHIFT, %rcx
	or	%rdi, %rcx
	cmp	%rcx, TT_TOP(%rax)
	jne	profile_again
	imul	$SC_SIZE, %rdi, %rdi
	add	TT_SUMS(%rax), %rdi	/* the cell */
	mov	%rsi, %rcx
	NAME_OF	%rcx
	mov	(%rcx), %rcx		/* the call around it */
	mov	%rcx, TT_TOP(%rax)
	and	$USPL_SUMS_IDS_MAX, %ecx
	imul	$SC_SIZE, %rcx, %rcx
	add	TT_SUMS(%rax), %rcx
	add	%rdx, SC_CHILDREN(%rcx)
	add	%rdx, SC_SUM(%rdi)
	decq	SC_OPEN(%rdi)
	jnz	3f
1:	cmp	SC_MAX(%rdi), %rdx
	ja	4f
2:	imul	control + TC_SUMS_NS(%rip), %rdx
	bts	$(USPL_SUMS_NS_SHIFT + USPL_SUMS_FIRST_LOG - 1), %rdx
	bsr	%rdx, %rdx
	/*
	 * The address is known early if the branch is foreseen, as it is where the last call took
	 * about as long: a store to an address that depends on the time stamp would hold up the
	 * next one for 6 ns.
	 */
	mov	SC_LAST(%rdi), %rcx
	cmp	%rcx, %rdx
	jne	5f
6:	incq	SC_BUCKETS - 8 * (USPL_SUMS_NS_SHIFT + USPL_SUMS_FIRST_LOG - 1)(%rdi, %rcx, 8)
profile_back:
	movq	$0, 8(%rsi)
	mov	(%rsi), %rax
	mov	%rax, 40(%rsp)
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
3:	add	%rdx, SC_NESTED(%rdi)
	jmp	1b
4:	mov	%rdx, SC_MAX(%rdi)
	jmp	2b
5:	mov	%rdx, SC_LAST(%rdi)
	mov	%rdx, %rcx
	jmp	6b
profile_again:
	lea	40(%rsp), %rcx
profile_end:				/* rcx: E; rsi: the slot */
	mov	40(%rsp), %edx
	call	listeners + USPL_LISTEN_PROFILE_LEAVE
	jmp	profile_back

/*
 * The slower way into a traced call: a new thread, another stack, an entry that isn't at its home
 * place.
 */
call_slow:
	call	thread_meet
	test	%rax, %rax
	jz	call_skip
	cmpq	$0, TT_RING(%rax)
	je	call_nowhere
	lea	32(%rsp), %rcx		/* E */
	call	chunk_enter
	test	%rdx, %rdx
	jnz	call_known
call_unseen:
	mov	TT_RING(%rax), %rax
	incq	TR_UNSEEN(%rax)
	jmp	call_skip
call_nowhere:
	cmpl	$0, TT_MUTE(%rax)
	jne	call_skip
	call	nowhere
call_skip:				/* to the body, as if the thunk weren't there */
	mov	24(%rsp), %rcx
	movslq	6(%rcx), %rdx
uspl_trace_chosen:			/* from here on it goes where the thunk led to then */
	lea	10(%rcx, %rdx), %rdx
	mov	%rdx, 24(%rsp)
	SHADOWED %rax, 1f
	FORGET	1, %rax
	jmp	leave_by_jump
1:	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

/*
 * Goes on by a jump, not by a return: the shadow stack has something else. The word below the stack
 * pointer is in the red zone, which signals leave alone.
 */
leave_by_jump:
	pop	%rdx
	pop	%rcx
	pop	%rax
	lea	8(%rsp), %rsp
	notrack jmp *-8(%rsp)
uspl_trace_chosen_end:

/*
 * A call of a function whose return a probe waits for, by a thunk like those above;
 * uspl_mark_return puts the return address back, and its slot lies in a shadow of the session's
 * own. Its second word is another thunk of the session that ends with this one: of a function whose
 * end (tail call) this one is.
 */
	.balign	16
uspl_mark_call:
	push	%rax
	push	%rcx
	push	%rdx
	ENTRY	mark_slow
	IN_CHUNK mark_slow
mark_known:				/* rcx: E */
	CALLER	mark_tail
mark_note:				/* rcx: E; rdx: the return address */
	SLOT	%rcx
	mov	%rdx, (%rcx)
	movq	$0, 8(%rcx)
mark_back:
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

/* Is one of this session's thunks under the return address already? */
mark_tail:
	push	%rsi
	push	%rdi
	push	%rdx
	xor	%edi, %edi
1:	inc	%edi
	call	thunk_under
	jnc	2f
	cmp	control + TC_EXIT(%rip), %eax
	jne	1b
	SLOT	%rcx
	cmp	$1, %edi		/* not right here: others must return first */
	jne	3f
	cmpq	$0, 8(%rcx)
	jne	3f
	pop	%rdx
	mov	%rdx, 8(%rcx)
	pop	%rdi
	pop	%rsi
	jmp	mark_back
2:	pop	%rdx
	pop	%rdi
	pop	%rsi
	jmp	mark_note
3:	pop	%rdx
	pop	%rdi
	pop	%rsi
mark_unseen:
	call	nowhere
	jmp	call_skip

mark_slow:
	call	thread_meet
	test	%rax, %rax
	jz	call_skip
	lea	32(%rsp), %rcx		/* E */
	call	chunk_enter
	test	%rdx, %rdx
	jnz	mark_known
	jmp	mark_unseen

/*
 * The thunk has pushed its number where the return address was, (%rsp), and the probe has been
 * made.
 */
uspl_mark_return:
	push	%rax
	push	%rcx
	lea	16(%rsp), %rcx
	SLOT	%rcx
	mov	8(%rcx), %rax
	movq	$0, 8(%rcx)
	test	%rax, %rax
	jnz	1f
	mov	(%rcx), %rax
1:	mov	%rax, 16(%rsp)
	pop	%rcx
	pop	%rax
	ret

/*
 * For probes of markers (lib/arch/x86_64/probe_code.c), which have saved all that these change.
 *
 * Takes ecx bytes of the thread's ring for a record. rax: where the ring's records begin, rcx: the
 * record's position, not yet masked; its time is written and its id is 0. rax is 0 if there is no
 * ring. Changes rdx, rsi, rdi.
 */
	.balign	16
uspl_mark_take:
	mov	%ecx, %edi
	ENTRY	take_slow
take_known:				/* rax: the entry */
	mov	TT_RING(%rax), %rsi
	test	%rsi, %rsi
	jz	take_nowhere
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdi, %rcx
	incq	TR_RECORDS(%rsi)
	xadd	%rcx, TR_POS(%rsi)
	lea	USPL_TRACE_RING_HEADER(%rsi), %rax
	mov	%rcx, %rsi
	and	control + TC_RING_MASK(%rip), %rsi
	movl	$0, 12(%rax, %rsi)
	mov	%rdx, (%rax, %rsi)
	ret
take_slow:
	call	thread_meet
	test	%rax, %rax
	jnz	take_known
	ret
take_nowhere:
	call	nowhere
	xor	%eax, %eax
	ret

/*
 * Copies the string at rsi into the record's slots: edi slots from the position rdx on, of the
 * records at rax. What doesn't fit is left out. Changes rdx, rsi, rdi.
 */
uspl_mark_text:
	push	%rcx
	push	%rbx
	test	%rsi, %rsi
	jnz	1f
	lea	text_null(%rip), %rsi
1:	and	control + TC_RING_MASK(%rip), %rdx
	add	%rax, %rdx
	mov	$USPL_MARK_SLOT_ROOM, %ecx
2:	mov	(%rsi), %bl
	mov	%bl, (%rdx)
	inc	%rdx
	cmp	$1, %bl			/* behind the end the end is written again */
	sbb	$-1, %rsi
	dec	%ecx
	jnz	2b
	movl	$USPL_MARK_MORE, (%rdx)
	add	$4, %rdx
	sub	%rax, %rdx
	dec	%edi
	jnz	1b
	pop	%rbx
	pop	%rcx
	ret
text_null:
	.asciz	"(null)"
text_unread:
	.asciz	"(not read)"

/*
 * Copies edi bytes of the string at rsi, at most a page, with a NUL behind them, to the stack above
 * the return address; rsi becomes the copy's address. NULL stays NULL. The kernel doesn't read what
 * isn't there: then rsi leads to a text that says so. Changes rdx, rdi.
 */
uspl_mark_fetch:
	test	%rsi, %rsi
	jz	3f
	push	%rax
	push	%rcx
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	cmpq	$0, control + TC_NO_SYSCALLS(%rip)
	jne	1f
	/* Two pieces, with a page's end between them: it reads pieces whole, or not at all. */
	mov	%edi, %edi
	mov	%esi, %eax
	or	$-PAGE, %eax
	neg	%eax
	cmp	%edi, %eax
	cmova	%edi, %eax
	lea	56(%rsp), %r9
	mov	%rdi, %rcx
	sub	%rax, %rcx
	push	%rcx
	lea	(%rsi, %rax), %rcx
	push	%rcx
	push	%rax
	push	%rsi
	mov	%rsp, %r10
	push	%rdi
	push	%r9
	mov	$SYS_GETPID, %eax
	syscall
	mov	%eax, %edi
	mov	%rsp, %rsi
	mov	$1, %edx
	mov	$2, %r8d
	xor	%r9d, %r9d
	mov	$SYS_PROCESS_VM_READV, %eax
	syscall
	add	$48, %rsp
	test	%rax, %rax
	jle	1f
	lea	56(%rsp), %rsi
	movb	$0, (%rsi, %rax)
	jmp	2f
1:	lea	text_unread(%rip), %rsi
2:	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rcx
	pop	%rax
3:	ret

/*
 * ZF is set if the strings at rsi and rdi are equal; NULL is equal to none. Changes rax, rsi, rdi.
 */
uspl_mark_same:
	test	%rsi, %rsi
	jz	2f
1:	mov	(%rsi), %al
	cmp	(%rdi), %al
	jne	3f
	inc	%rsi
	inc	%rdi
	test	%al, %al
	jnz	1b
	ret
2:	or	$1, %eax		/* clears ZF */
3:	ret

/* Counts what can be recorded nowhere. */
nowhere:
	push	%rcx
	mov	control + TC_COUNTERS(%rip), %rcx
	lock incq 8(%rcx)
	pop	%rcx
	ret

/* The thread's entry in rax, 0 if it has none. Changes rcx. */
thread_find:
	push	%rdx
	push	%rsi
	mov	%fs:0, %rcx
	HOME	%rcx, %rax
	mov	$USPL_TRACE_PROBES, %esi
	mov	control + TC_THREADS(%rip), %rdx
	add	$(USPL_TRACE_THREADS * TT_SIZE), %rdx
1:	cmp	%rcx, TT_THREAD(%rax)
	je	3f
	add	$TT_SIZE, %rax
	cmp	%rdx, %rax
	jb	2f
	sub	$(USPL_TRACE_THREADS * TT_SIZE), %rax
2:	dec	%esi
	jnz	1b
	xor	%eax, %eax
3:	pop	%rsi
	pop	%rdx
	ret

/*
 * The same; a thread without an entry gets one, and a ring, and an entry whose thread has ended
 * (its thread pointer is used again) becomes this one's. Changes rcx, rdx. Listeners call it by its
 * other name.
 */
uspl_trace_meet:
thread_meet:
	push	%rsi
	push	%rdi
	push	%r8
	push	%r11
	mov	control + TC_COUNTERS(%rip), %rcx
	cmpl	$0, 16(%rcx)		/* enabled */
	je	9f
	mov	control + TC_TID_OFFSET(%rip), %rcx
	mov	%fs:(%rcx), %edi	/* the key */
	call	thread_find
	test	%rax, %rax
	jnz	5f
	/* A free entry. */
	mov	%fs:0, %rcx
	HOME	%rcx, %rdx
	mov	$USPL_TRACE_PROBES, %esi
	mov	control + TC_THREADS(%rip), %r8
	add	$(USPL_TRACE_THREADS * TT_SIZE), %r8
1:	xor	%eax, %eax
	lock cmpxchg %rcx, TT_THREAD(%rdx)
	je	3f
	add	$TT_SIZE, %rdx
	cmp	%r8, %rdx
	jb	2f
	sub	$(USPL_TRACE_THREADS * TT_SIZE), %rdx
2:	dec	%esi
	jnz	1b
	call	nowhere
	jmp	9f
	/*
	 * The key comes last: a signal handler that interrupts us finds an entry that isn't its
	 * thread's yet, and settles it itself.
	 */
3:	mov	%rdx, %r8
	movq	$USPL_SUMS_NONE, TT_TOP(%r8)
	call	thread_id
	call	thread_settle
	mov	%edi, TT_KEY(%r8)
	mov	%r8, %rax
	jmp	8f
5:	cmp	%edi, TT_KEY(%rax)
	je	8f
	/* Another thread than before: its records are told apart by one that says so. */
	movq	$0, TT_CHUNK(%rax)
	mov	%rax, %r8
	/* Of tables there are some to spare, so that each thread's figures are its own. */
	push	TT_RING(%rax)
	cmpq	$0, TT_KEPT(%rax)
	jne	4f
	mov	TT_SUMS(%rax), %rcx
	mov	%rcx, TT_KEPT(%rax)
4:
	mov	control + TC_COUNTERS(%rip), %rcx
	mov	(%rcx), %rcx
	cmp	control + TC_SUMS_SPARE(%rip), %rcx
	jae	6f
	movq	$0, TT_RING(%rax)
6:
	call	thread_id
	call	thread_settle
	pop	%rsi			/* the ring that was the other one's */
	test	%rsi, %rsi
	jz	7f
	cmp	%rsi, TT_RING(%r8)
	jne	7f
	mov	%rax, TR_TID(%rsi)
	mov	%fs:0, %rcx
	mov	%rcx, TR_THREAD(%rsi)
	movq	$0, TR_OPEN(%rsi)
	incq	TR_EARLIER(%rsi)
	mov	%eax, %r11d
	mov	$USPL_TRACE_RECORD, %ecx
	xadd	%rcx, TR_POS(%rsi)
	RECORD	%rsi, %rcx
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, (%rcx)
	mov	%r11d, 8(%rcx)
	movl	$USPL_TRACE_ID_THREAD, 12(%rcx)
7:	mov	%edi, TT_KEY(%r8)
	mov	%r8, %rax
8:	pop	%r11
	pop	%r8
	pop	%rdi
	pop	%rsi
	ret
9:	xor	%eax, %eax
	jmp	8b

/*
 * Gives the thread (r8: its entry, rax: its id) a ring, if it is to be recorded and has none.
 * Changes rcx, rsi, r11.
 */
thread_settle:
	mov	control + TC_N_TIDS(%rip), %rcx
	test	%rcx, %rcx
	jz	2f
	lea	control + TC_TIDS(%rip), %r11
1:	cmp	%eax, -4(%r11, %rcx, 4)
	je	2f
	dec	%rcx
	jnz	1b
	movq	$0, TT_RING(%r8)
	movq	$0, TT_SUMS(%r8)
	movq	$1, TT_MUTE(%r8)
	ret
2:	movq	$0, TT_MUTE(%r8)
	cmpq	$0, TT_RING(%r8)
	jne	3f
	mov	control + TC_COUNTERS(%rip), %rcx
	mov	$1, %esi
	lock xadd %rsi, (%rcx)
	cmp	control + TC_N_RINGS(%rip), %rsi
	jae	3f
	mov	control + TC_SUMS_LEN(%rip), %rcx
	imul	%rsi, %rcx
	add	control + TC_SUMS(%rip), %rcx
	mov	%rcx, TT_SUMS(%r8)
	imul	control + TC_RING_BYTES(%rip), %rsi
	add	control + TC_RINGS(%rip), %rsi
	mov	%rax, TR_TID(%rsi)
	mov	%fs:0, %rcx
	mov	%rcx, TR_THREAD(%rsi)
	mov	%rsi, TT_RING(%r8)
3:	ret

/* The thread's id in rax; edi: its key. Changes rcx, r11. */
thread_id:
	cmpq	$0, control + TC_NO_SYSCALLS(%rip)
	jne	1f
	mov	$SYS_GETTID, %eax
	syscall
	ret
1:	xor	%eax, %eax
	cmpq	$0, control + TC_TID_OFFSET(%rip)
	je	2f
	mov	%edi, %eax
2:	ret

/*
 * Sees to it that E (rcx) has a shadow, and that the entry (rax) has its chunk. rdx is 0 if it has
 * none.
 */
chunk_enter:
	test	$7, %cl
	jnz	2f
	mov	%rcx, %rdx
	and	$-USPL_TRACE_CHUNK, %rdx
	cmp	%rdx, TT_CHUNK(%rax)
	je	1f
	push	%rdx
	push	%rcx
	push	%rax
	mov	%rdx, %rcx
	call	chunk_meet
	mov	%eax, %edx
	pop	%rax
	pop	%rcx
	test	%edx, %edx
	pop	%rdx
	jz	2f
	mov	%rdx, TT_CHUNK(%rax)
1:	ret
2:	xor	%edx, %edx
	ret

/*
 * Sees to it that the chunk of stack at rcx has a shadow: 1 in rax if so. Changes rcx, rdx.
 *
 * A thread that finds no word of the table for the chunk claims one, maps the shadow, and says in
 * the word how that went. Meanwhile other threads wait: they could not tell this mapping from one
 * that isn't ours. A signal handler would wait for what it interrupts, so all signals are blocked.
 */
chunk_meet:
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rcx, %rdi		/* the chunk */
chunk_look:
	mov	%rdi, %rdx
	shr	$18, %rdx
	imul	$USPL_TRACE_CHUNK_MIX, %edx, %edx
	shr	$USPL_TRACE_CHUNK_MIX_SHIFT, %edx
	mov	$USPL_TRACE_CHUNK_PROBES, %esi
1:	and	$(USPL_TRACE_CHUNKS - 1), %edx
	mov	control + TC_CHUNKS(%rip), %rcx
	lea	(%rcx, %rdx, 8), %rcx
	mov	(%rcx), %rax
	test	%rax, %rax
	jz	chunk_claim
	sub	%rdi, %rax
	jz	chunk_there
	cmp	$USPL_TRACE_CHUNK_NONE, %rax
	je	chunk_none
	cmp	$USPL_TRACE_CHUNK_CLAIMED, %rax
	je	chunk_wait
	inc	%edx
	dec	%esi
	jnz	1b
chunk_none:
	xor	%eax, %eax
	jmp	2f
chunk_there:
	mov	$1, %eax
2:	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	ret
chunk_wait:
	push	%rdi
	push	$CLAIM_NS
	push	$0
	mov	%rsp, %rdi
	xor	%esi, %esi
	mov	$SYS_NANOSLEEP, %eax
	syscall
	pop	%rdi
	pop	%rdi
	pop	%rdi
	jmp	chunk_look
chunk_claim:				/* rcx: the word */
	cmpq	$0, control + TC_NO_SYSCALLS(%rip)
	jne	chunk_none
	push	%rdi
	push	%rcx
	push	$-1			/* all signals; becomes what was blocked before */
	mov	%rsp, %rdx
	call	signals_mask
	mov	8(%rsp), %rcx
	mov	16(%rsp), %rdi
	lea	USPL_TRACE_CHUNK_CLAIMED(%rdi), %rdx
	xor	%eax, %eax
	lock cmpxchg %rdx, (%rcx)
	jne	2f			/* another one was quicker */
	SLOT	%rdi
	mov	$(2 * USPL_TRACE_CHUNK), %esi
	mov	$PROT_RW, %edx
	mov	$MAP_SHADOW, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	mov	$SYS_MMAP, %eax
	syscall
	cmp	%rax, %rdi
	jne	1f
	cmpl	$0, control + TC_EXIT(%rip)
	jne	3f			/* markers: no slot needs a name */
	NAME_OF	%rdi			/* the names of the slots: as much again */
	mov	$SYS_MMAP, %eax
	syscall
	cmp	%rax, %rdi
	jne	5f
	/* A part of the memory that outlives the process takes their place, if one is left. */
	mov	control + TC_KEPT(%rip), %rcx
	test	%rcx, %rcx
	jz	3f
	mov	$1, %r9d
	lock xadd %r9, (%rcx)
	cmp	$USPL_TRACE_KEPT_CHUNKS, %r9
	jae	3f
	mov	%rdi, %r8
	mov	%r9, %rdi
	shl	$NAMES_SHIFT, %rdi
	lea	TK_NAMES(%rcx, %rdi), %rdi
	xor	%esi, %esi
	mov	$USPL_TRACE_NAMES, %edx
	mov	$MREMAP_OVER, %r10d
	mov	$SYS_MREMAP, %eax
	syscall
	mov	%r8, %rdi
	mov	$USPL_TRACE_NAMES, %esi
	cmp	%rax, %rdi
	jne	4f
	mov	control + TC_KEPT(%rip), %rcx
	mov	16(%rsp), %rax
	mov	%rax, TK_CHUNKS(%rcx, %r9, 8)
	jmp	3f
4:	mov	$SYS_MUNMAP, %eax
	syscall
5:	NAME_OF	%rdi
	mov	$SYS_MUNMAP, %eax
	syscall
1:	mov	16(%rsp), %rdx
	add	$USPL_TRACE_CHUNK_NONE, %rdx
	jmp	6f
3:	mov	16(%rsp), %rdx
6:	mov	8(%rsp), %rcx
	mov	%rdx, (%rcx)
2:	xor	%edx, %edx
	call	signals_mask
	pop	%rdi
	pop	%rcx
	pop	%rdi
	jmp	chunk_look

/*
 * Blocks the signals at 8(%rsp), and no others; those before go to rdx, if it isn't 0. Changes what
 * system calls do, rsi, rdi, r10.
 */
signals_mask:
	mov	$SIG_SETMASK, %edi
	lea	8(%rsp), %rsi
	mov	$8, %r10d
	mov	$SYS_RT_SIGPROCMASK, %eax
	syscall
	ret
	.org	uspl_trace_begin + USPL_TRACE_CONTROL	/* the assembler refuses more */
uspl_trace_end:
	.section .note.GNU-stack, "", @progbits
