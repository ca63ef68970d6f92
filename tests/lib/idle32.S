# SPDX-License-Identifier: GPL-3.0-or-later
# idle32.S - a 32-bit program without a library: write(1, "ready\n", 6), then alarm(60) and pause()

	.text
	.globl _start
_start:
	movl $4, %eax
	movl $1, %ebx
	movl $ready, %ecx
	movl $6, %edx
	int $0x80
	movl $27, %eax
	movl $60, %ebx
	int $0x80
wait:
	movl $29, %eax
	int $0x80
	jmp wait

	.section .rodata
ready:	.ascii "ready\n"
