/* SPDX-License-Identifier: GPL-3.0-or-later */
/* three.S - a function that goes on in another one */

	.text
	.globl three
	.type three, @function
three:
	mov $3, %edi
	.size three, . - three

	.globl four
	.type four, @function
four:
	lea 4(%rdi), %eax
	ret
	.size four, . - four

	.section .note.GNU-stack, "", @progbits
