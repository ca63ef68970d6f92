/* SPDX-License-Identifier: MIT */
/*
 * threads.S - runs in the target: finds the block of new thread-local variables of the thread it
 * runs in
 *
 * uspl_threads_distance   replaces the word above its return address, an offset in the block, by
 *                         the distance of that place from the thread pointer (%fs:0). All registers
 *                         and the flags stay as they are, the vector registers too: the caller is
 *                         in the middle of a function and knows of no call. The vector registers
 *                         need to be saved only if pthread_getspecific isn't known to leave them
 *                         alone, and for a thread's first access.
 * uspl_threads_from_block the same, but replaces it by the distance from the module's own block,
 *                         for code that has that block's address: of a library that dlopen has
 *                         opened.
 * uspl_threads_leave      the key's destructor: frees the block, but only in the last of the rounds
 *                         that the C library makes, so that other destructors still find their
 *                         variables.
 *
 * A thread's first access makes its block, with system calls only and with all signals blocked: a
 * handler may be that access. If there is no memory, the thread traps, as the C library's own
 * __tls_get_addr would end the process.
 *
 * The code is copied into each update that needs it; its first word is then the address of a struct
 * uspl_threads.
 */
#include "runtime/keep.inc"

	.set	GET, 0
	.set	SET, 8
	.set	KEY, 16
	.set	INIT, 24
	.set	INIT_LEN, 32
	.set	SIZE, 40
	.set	BLOCK, 48
	.set	KEY_MASK, 0x7fffffff	/* without USPL_THREADS_PLAIN */

	.set	ROUNDS, 3		/* destructor rounds to wait; POSIX has at least 4 */

	.set	SYS_mmap, 9
	.set	SYS_munmap, 11
	.set	SYS_rt_sigprocmask, 14

	.section .rodata.uspl_threads, "a"
	.global uspl_threads, uspl_threads_distance, uspl_threads_from_block
	.global uspl_threads_leave, uspl_threads_end
	.balign 16
uspl_threads:
	.quad	0

uspl_threads_distance:
	pushf
	push	%rax
	push_general
	push	%r12
	cld
	mov	%rsp, %rbp
	mov	uspl_threads(%rip), %rbx
	and	$-64, %rsp
	mov	KEY(%rbx), %rdi
	cmpl	$0, (%rdi)		/* USPL_THREADS_PLAIN is its sign */
	jge	1f
	call	3f
	test	%rax, %rax
	jnz	9f
1:	save_vectors
	call	3f
	test	%rax, %rax
	jnz	8f
	call	4f
8:	restore_vectors
9:	add	14*8(%rbp), %rax
	sub	%fs:0, %rax
	mov	%rax, 14*8(%rbp)
	mov	%rbp, %rsp
	pop	%r12
	pop_general
	pop	%rax
	popf
	ret

uspl_threads_from_block:
	push	8(%rsp)
	call	uspl_threads_distance
	pop	8(%rsp)			/* counts from where the stack is then */
	push	%rax
	push	%rcx
	mov	uspl_threads(%rip), %rax
	mov	BLOCK(%rax), %rax
	call	*(%rax)
	mov	24(%rsp), %rcx
	not	%rax			/* subtracts without a change of flags */
	lea	1(%rax, %rcx), %rax
	mov	%rax, 24(%rsp)
	pop	%rcx
	pop	%rax
	ret

	/* The key, in edi. */
2:	mov	KEY(%rbx), %rdi
	mov	(%rdi), %edi
	and	$KEY_MASK, %edi
	dec	%edi
	ret

	/* The thread's block or 0, in rax. */
3:	push	%rbp			/* calls want 16 bytes' alignment: this and our return */
	call	2b
	mov	GET(%rbx), %rax
	call	*%rax
	pop	%rbp
	ret

	/* Makes the block, in rax; r12 is the stack that the mask of signals is on. */
4:	push	$-1
	push	$0
	push	$0
	mov	%rsp, %r12
	xor	%edi, %edi		/* SIG_BLOCK */
	lea	16(%r12), %rsi
	mov	%r12, %rdx
	mov	$8, %r10d
	mov	$SYS_rt_sigprocmask, %eax
	syscall
	call	3b			/* a signal may have come before */
	test	%rax, %rax
	jnz	5f
	xor	%edi, %edi
	mov	SIZE(%rbx), %rsi
	mov	$3, %edx		/* PROT_READ | PROT_WRITE */
	mov	$0x22, %r10d		/* MAP_PRIVATE | MAP_ANONYMOUS */
	mov	$-1, %r8
	xor	%r9d, %r9d
	mov	$SYS_mmap, %eax
	syscall
	cmp	$-4095, %rax
	jae	6f
	mov	%rax, 8(%r12)
	mov	%rax, %rdi
	mov	INIT(%rbx), %rsi
	mov	INIT_LEN(%rbx), %rcx
	rep movsb
	call	2b
	mov	8(%r12), %rsi
	mov	SET(%rbx), %rax
	call	*%rax
	test	%eax, %eax
	jnz	6f
	mov	8(%r12), %rax
5:	mov	%rax, 8(%r12)
	mov	$2, %edi		/* SIG_SETMASK */
	mov	%r12, %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	mov	$SYS_rt_sigprocmask, %eax
	syscall
	mov	8(%r12), %rax
	add	$24, %rsp
	ret
6:	ud2

uspl_threads_leave:
	push	%rbx
	mov	uspl_threads(%rip), %rbx
	incq	(%rdi)
	cmpq	$ROUNDS, (%rdi)
	ja	7f
	mov	%rdi, %rsi
	call	2b
	mov	SET(%rbx), %rax
	pop	%rbx
	jmp	*%rax
7:	mov	SIZE(%rbx), %rsi
	mov	$SYS_munmap, %eax
	syscall
	pop	%rbx
	ret
uspl_threads_end:
	.section .note.GNU-stack, "", @progbits
