/* SPDX-License-Identifier: MIT */
/*
 * descriptor.S - runs in the target: what a descriptor of a thread-local variable calls
 * (-mtls-dialect=gnu2)
 *
 * uspl_descriptor   takes the descriptor's address in rax, gives the variable's distance from the
 *                   thread pointer (%fs:0) there, and keeps all other registers, the vector
 *                   registers too, and the flags.
 *
 * A descriptor of ours is a struct uspl_descriptor. The dynamic linker's own have the same first
 * word, which code calls, and are otherwise private to it. __tls_get_addr may allocate the thread's
 * block, as it would for the dynamic linker's.
 */
#include "runtime/keep.inc"

	.set	BLOCK, 8		/* the pair that __tls_get_addr takes */
	.set	GET, 24

	.section .rodata.uspl_descriptor, "a"
	.global uspl_descriptor, uspl_descriptor_end
	.balign 16
uspl_descriptor:
	pushf
	push_general
	cld
	mov	%rsp, %rbp
	mov	%rax, %rbx
	and	$-64, %rsp
	save_vectors
	lea	BLOCK(%rbx), %rdi
	call	*GET(%rbx)
	restore_vectors
	sub	%fs:0, %rax
	mov	%rbp, %rsp
	pop_general
	popf
	ret
uspl_descriptor_end:
	.section .note.GNU-stack, "", @progbits
