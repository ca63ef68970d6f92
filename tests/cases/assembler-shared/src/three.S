/* SPDX-License-Identifier: GPL-3.0-or-later */
/* three.S - the sum of the numbers to n, how often that was asked, and both */

	.text
	.globl sum
	.type sum, @function
sum:
	xor %eax, %eax
1:	add %edi, %eax
	dec %edi
	jnz 1b
	ret
	.size sum, . - sum

	.balign 16
	.globl count
count:
	incl calls(%rip)
	mov calls(%rip), %eax
	ret

	.balign 16
	.globl both
	.type both, @function
both:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	push %rsi
	.cfi_def_cfa_offset 24
	call sum
	mov %eax, %ebx
	call local
	pop %rsi
	.cfi_def_cfa_offset 16
	mov %eax, (%rsi)
	mov %ebx, %eax
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size both, . - both

	.type local, @function
local:
	lea count(%rip), %rax
	jmp *%rax
	.size local, . - local

	.local calls
	.comm calls, 4, 4

	.section .note.GNU-stack, "", @progbits
