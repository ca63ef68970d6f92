/* SPDX-License-Identifier: MIT */
/*
 * headers.S - the headers that users' probes and hooks are compiled with, and the plugin of gcc
 * that uspl-create compiles, as they were when the tools were built: they need not find installed
 * ones
 */
	.section .rodata.uspl_headers, "a"
	.global uspl_probe_header_begin, uspl_probe_header_end
uspl_probe_header_begin:
	.incbin "include/uspl/probe.h"
uspl_probe_header_end:
	.global uspl_hook_header_begin, uspl_hook_header_end
uspl_hook_header_begin:
	.incbin "include/uspl/hook.h"
uspl_hook_header_end:
	.global uspl_shadow_header_begin, uspl_shadow_header_end
uspl_shadow_header_begin:
	.incbin "include/uspl/shadow.h"
uspl_shadow_header_end:
	.global uspl_keep_layout_begin, uspl_keep_layout_end
uspl_keep_layout_begin:
	.incbin "create/shadow/keep_layout.cc"
uspl_keep_layout_end:
	.section .note.GNU-stack, "", @progbits
