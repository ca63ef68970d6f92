/* SPDX-License-Identifier: MIT */
/*
 * head.S - the way into the listeners, and back
 *
 * The listeners are C that uses general registers only; here those are kept that C may change. The
 * code is linked behind the tracer's runtime and its control page (listen.ld), and is copied into
 * the target together with them.
 */
#include "uspl/listen_abi.h"

/* Makes a struct call on the stack, and calls a listener with it. ZF is set if it returns false. */
.macro LISTEN to
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	%rbp
	push	%rbx
	mov	%rsp, %rdi
	call	\to
	lea	48(%rsp), %rsp		/* C keeps these by itself */
	test	%al, %al		/* pop keeps the flags */
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
.endm

	.section .text.head, "ax"
	.global uspl_listen_begin
uspl_listen_begin:
	jmp	enter
	.org	uspl_listen_begin + USPL_LISTEN_LEAVE, 0xcc
	jmp	leave
	.org	uspl_listen_begin + USPL_LISTEN_LEAVE_LIMITED, 0xcc
	jmp	leave_limited
	.org	uspl_listen_begin + USPL_LISTEN_PROFILE_ENTER, 0xcc
	jmp	profile_begins
	.org	uspl_listen_begin + USPL_LISTEN_PROFILE_LEAVE, 0xcc
	jmp	profile_ends

/*
 * Called by a stub in front of a body. (%rsp): in the stub; 8(%rsp): where the function returns to.
 */
	.balign	16
enter:
	LISTEN	listen_enter
	ret

/* A body has returned, its thunk has pushed its id. (%rsp): the id. */
	.balign	16
leave:
	push	$0
	LISTEN	listen_leave
	lea	8(%rsp), %rsp
	jnz	1f
	jmp	uspl_trace_return
leave_limited:
	push	$0
	LISTEN	listen_leave
	lea	8(%rsp), %rsp
	jnz	1f
	jmp	uspl_trace_return_limited
1:	ret				/* all is done, the return address is in its place */

/*
 * From uspl_profile_call, behind its pushes. rax: the thread's entry, rcx: E; both are kept. To
 * rdx, esi: as struct profile_entered.
 */
	.balign	16
profile_begins:
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	80(%rsp)		/* struct profile_call: in the thunk */
	push	%rcx
	push	%rax
	mov	%rsp, %rdi
	call	profile_enter
	mov	%edx, %esi
	mov	%rax, %rdx
	pop	%rax
	pop	%rcx
	lea	8(%rsp), %rsp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	ret

/* From uspl_profile_return. rcx: E, edx: the id; rsi is kept. Changes rax, rcx, rdx, rdi. */
	.balign	16
profile_ends:
	push	%rsi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rcx, %rdi
	mov	%edx, %esi
	call	profile_leave
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rsi
	ret
	.section .note.GNU-stack, "", @progbits
