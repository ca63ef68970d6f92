/* SPDX-License-Identifier: MIT */
/*
 * constructors.S - what the dynamic linker calls in place of a constructor whose time is taken
 *
 * Copied as it is into the target; needs no relocation. The pointers to constructors, which the
 * dynamic linker is about to read, lead to the thunks. A constructor gets its three arguments
 * (argc, argv, envp) and the stack as it would have them: the thunk's own return address takes the
 * slot in which the entry's address is kept, and makes the stack 16 bytes aligned for the call
 * (System V ABI for x86-64, 3.2.2).
 */
#include "uspl/constructor_abi.h"

	.section .rodata.uspl_constructors, "a"
	.global uspl_constructors_begin, uspl_constructors_end
	.balign 16
uspl_constructors_begin:

/* The clock into %rax. */
.macro TICKS
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
.endm

common:
	mov	(%rsp), %r10		/* behind the call in the thunk */
	lea	first_called(%rip), %r11
	sub	%r11, %r10		/* thunks and entries: 16 bytes and 32 */
	lea	uspl_constructors_begin + USPL_CONSTRUCTOR_TABLE(%rip), %r11
	lea	(%r11, %r10, 2), %r10
	mov	%r10, (%rsp)
	/* A shadow stack still has the thunk's address, to which nothing returns. */
	xor	%eax, %eax
	rdsspq	%rax
	test	%rax, %rax
	jz	1f
	mov	$1, %eax
	incsspq	%rax
1:	mov	%rdx, %r11
	TICKS
	mov	%rax, CE_START(%r10)
	mov	%r11, %rdx
	call	*CE_FUNCTION(%r10)
	TICKS
	pop	%r10
	mov	%rax, CE_END(%r10)
	ret
	.org	uspl_constructors_begin + USPL_CONSTRUCTOR_THUNKS, 0xcc
	endbr64
	call	common
first_called:
	.balign	USPL_CONSTRUCTOR_THUNK, 0xcc
	.rept	USPL_CONSTRUCTORS - 1
	endbr64
	call	common
	.balign	USPL_CONSTRUCTOR_THUNK, 0xcc
	.endr
uspl_constructors_end:
	.section .note.GNU-stack, "", @progbits
