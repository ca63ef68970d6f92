/* SPDX-License-Identifier: GPL-3.0-or-later */
/* three.S - a function */

	.text
	.globl three
	.type three, @function
three:
	mov $3, %eax
	ret
	.size three, . - three

	.section .note.GNU-stack, "", @progbits
