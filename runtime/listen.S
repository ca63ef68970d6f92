/* SPDX-License-Identifier: MIT */
/*
 * listen.S - the listeners (runtime/listen) as the bytes that are copied into targets
 */
	.section .rodata.uspl_listen, "a"
	.global uspl_listen_code_begin, uspl_listen_code_end
	.balign 16
uspl_listen_code_begin:
	.incbin "listen.bin"
uspl_listen_code_end:
	.section .note.GNU-stack, "", @progbits
