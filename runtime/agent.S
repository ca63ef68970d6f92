/* SPDX-License-Identifier: MIT */
/*
 * agent.S - runs in a thread of the target: makes the requests, then gives the thread back to
 * itself
 *
 * In:  rbx the requests, 72 bytes each: kind (0 system call, 1 function, 2 store of eight bytes, 3
 *      a
 *           table of words, 4 a move), what, six arguments, result
 *      r12  how many
 *      r13  where to say that it is done: 1 + the number of requests from the failed one on, 1 if
 *           none failed. 0: nowhere, until a
 *           move has said where
 *      rsp  a struct ucontext that holds the thread's own state, 16-aligned
 *
 * Uses nothing but its registers and the requests; needs no relocation. It never returns:
 * rt_sigreturn loads the thread's own state. If a tracer suppresses that call, it is made again.
 */
	.section .rodata.uspl_agent, "a"
	.global uspl_agent, uspl_agent_end
	.balign 16
uspl_agent:
1:	test	%r12, %r12
	jz	4f
	mov	8(%rbx), %rax
	mov	16(%rbx), %rdi
	mov	24(%rbx), %rsi
	mov	32(%rbx), %rdx
	mov	40(%rbx), %rcx
	mov	48(%rbx), %r8
	mov	56(%rbx), %r9
	cmpq	$1, (%rbx)
	je	2f
	ja	5f
	mov	%rcx, %r10
	syscall
	mov	%rax, 64(%rbx)
	cmp	$-4095, %rax		/* a failed system call ends the run */
	jae	4f
	jmp	3f
2:	call	*%rax
	mov	%rax, 64(%rbx)
3:	add	$72, %rbx
	dec	%r12
	jmp	1b
5:	cmpq	$2, (%rbx)
	jne	6f
	mov	%rdi, (%rax)
	jmp	3b
6:	cmpq	$3, (%rbx)
	jne	10f
	mov	%rax, %rdx		/* rdx an entry: where, from, to; rdi how many */
	xor	%ecx, %ecx		/* that were exchanged */
8:	cmp	%rdi, %rcx
	je	9f
	mov	(%rdx), %rsi
	mov	8(%rdx), %rax
	cmp	%rax, (%rsi)		/* nobody else writes these words; cmpxchg takes eight times as long */
	jne	9f
	mov	16(%rdx), %r8
	mov	%r8, (%rsi)
	add	$24, %rdx
	inc	%rcx
	jmp	8b
9:	mov	%rcx, 64(%rbx)
	jmp	3b
10:	cmp	%rdi, -8(%rbx)		/* the result of the request before it, an address that all depends on */
	jne	4f
	mov	%rax, %r13		/* from here on all is said there, and read there, this request first */
	mov	%rbx, %rsi
	lea	8(%rax), %rdi
	lea	80(%rax), %rbx
	imul	$9, %r12, %rcx
	rep movsq
	dec	%r12
	jmp	1b
4:	test	%r13, %r13
	jz	11f
	lea	1(%r12), %rax
	mov	%rax, (%r13)
11:	mov	$15, %eax		/* rt_sigreturn */
	syscall
	jmp	11b
uspl_agent_end:
	.section .note.GNU-stack, "", @progbits
