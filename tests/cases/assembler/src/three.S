/* SPDX-License-Identifier: GPL-3.0-or-later */
/* three.S - a function */

	.text
	.globl three
three:
	mov $3, %eax
	ret

	.section .note.GNU-stack, "", @progbits
