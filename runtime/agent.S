/* SPDX-License-Identifier: MIT */
/*
 * agent.S - runs in a thread of the target: makes the requests, then gives the thread back to
 * itself
 *
 * In:  rbx  the requests, 72 bytes each: kind (0 system call, 1 function, 2 store of eight bytes,
 *           3 a table of words, 4 a move), what, six arguments, result
 *      r12  how many
 *      r13  where to say that it is done: 1 + the number of requests from the failed one on, 1 if
 *           none failed. 0: nowhere, until a move has said where
 *      rsp  a struct ucontext that holds the thread's own state, 16-aligned
 *
 * Uses nothing but its registers and the requests; needs no relocation. It never returns:
 * rt_sigreturn loads the thread's own state. If a tracer suppresses that call, it is made again.
 *
 * With a shadow stack rt_sigreturn would look for what only a signal's delivery leaves there. Then
 * the part behind uspl_agent_end gives the thread its state back, with one system call for the
 * signal mask, and takes the registers that this needs from the words behind uspl_agent_back_end
 * (struct agent_back). The shadow stack stays as it is.
 */

/* In struct ucontext of the kernel, and in the FXSAVE area (struct _fpx_sw_bytes). */
#define UC_R8 40
#define UC_RBP 120
#define UC_RBX 128
#define UC_RSP 160
#define UC_FLAGS 176
#define UC_FPSTATE 224
#define UC_SIGMASK 296
#define FP_FEATURES 472

	.section .rodata.uspl_agent, "a"
	.global uspl_agent, uspl_agent_end, uspl_agent_back_end
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
	cmp	%rax, (%rsi)		/* only we write these words; cmpxchg costs eightfold */
	jne	9f
	mov	16(%rdx), %r8
	mov	%r8, (%rsi)
	add	$24, %rdx
	inc	%rcx
	jmp	8b
9:	mov	%rcx, 64(%rbx)
	jmp	3b
10:	cmp	%rdi, -8(%rbx)		/* what the request before it gave: all depends on it */
	jne	4f
	mov	%rax, %r13		/* from here on all is said and read there */
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
11:	xor	%eax, %eax
	rdsspq	%rax			/* does nothing where there is no shadow stack */
	test	%rax, %rax
	jnz	uspl_agent_end
	mov	$15, %eax		/* rt_sigreturn */
	syscall
	jmp	11b
uspl_agent_end:
	mov	UC_FPSTATE(%rsp), %rbx
	mov	FP_FEATURES(%rbx), %eax
	mov	FP_FEATURES + 4(%rbx), %edx
	xrstor64 (%rbx)
	pushq	UC_FLAGS(%rsp)		/* from here on nothing changes flags */
	popfq
	mov	UC_R8(%rsp), %r8
	mov	UC_R8 + 8(%rsp), %r9
	mov	UC_R8 + 32(%rsp), %r12
	mov	UC_R8 + 40(%rsp), %r13
	mov	UC_R8 + 48(%rsp), %r14
	mov	UC_R8 + 56(%rsp), %r15
	mov	UC_RBP(%rsp), %rbp
	mov	UC_RBX(%rsp), %rbx
	lea	UC_SIGMASK(%rsp), %rsi
	/* A signal that comes with the mask finds the thread's own stack. */
	mov	UC_RSP(%rsp), %rsp
	mov	$2, %edi		/* SIG_SETMASK */
	mov	$0, %edx
	mov	$8, %r10d
	mov	$14, %eax		/* rt_sigprocmask */
	syscall
	mov	uspl_agent_back_end(%rip), %rax
	mov	uspl_agent_back_end + 8(%rip), %rcx
	mov	uspl_agent_back_end + 16(%rip), %rdx
	mov	uspl_agent_back_end + 24(%rip), %rsi
	mov	uspl_agent_back_end + 32(%rip), %rdi
	mov	uspl_agent_back_end + 40(%rip), %r10
	mov	uspl_agent_back_end + 48(%rip), %r11
	notrack jmp *uspl_agent_back_end + 56(%rip)
	.balign	8, 0xcc
uspl_agent_back_end:
	.section .note.GNU-stack, "", @progbits
