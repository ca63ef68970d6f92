/* SPDX-License-Identifier: MIT */
/*
 * headers.S - the header that users' probes are compiled with, as it was when the tools were built:
 * they need not find an installed one
 */
	.section .rodata.uspl_headers, "a"
	.global uspl_probe_header_begin, uspl_probe_header_end
uspl_probe_header_begin:
	.incbin "include/uspl/probe.h"
uspl_probe_header_end:
	.section .note.GNU-stack, "", @progbits
