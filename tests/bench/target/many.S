/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * many.S - a hundred thousand functions; their entries are one NOP of five bytes (NOPS), five of
 * one (PATCHABLE), or a usual prologue
 */
	.text
	.macro function
	.balign 16
	.globl	function\@
	.type	function\@, @function
function\@:
#ifdef NOPS
	.byte	0x0f, 0x1f, 0x44, 0, 0
#elif defined(PATCHABLE)
	.byte	0x90, 0x90, 0x90, 0x90, 0x90
#else
	push	%rbp
	mov	%rsp, %rbp
	pop	%rbp
#endif
	lea	1(%rdi), %rax
	ret
	.size	function\@, . - function\@
	.endm

	.rept	100000
	function
	.endr
	.section .note.GNU-stack, "", @progbits
