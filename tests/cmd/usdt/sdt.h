/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sdt.h - USDT probes as sys/sdt.h makes them, with each argument where the caller wants it */
#ifndef USPL_TESTS_SDT_H
#define USPL_TESTS_SDT_H

/* args: "SIZE@OPERAND ..." as it stands in the note; behind it the operands that it uses. */
#define SDT_PROBE(provider, name, semaphore, args, ...)                                            \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt, \"\", @note\n"                               \
			 ".balign 4\n .long 992f - 991f, 994f - 993f, 3\n"                         \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"                               \
			 "993: .quad 990b, _.stapsdt.base, " semaphore "\n"                        \
			 ".asciz \"" provider "\", \"" name "\", \"" args "\"\n"                   \
			 "994: .balign 4\n .popsection\n"                                          \
			 ".ifndef _.stapsdt.base\n"                                                \
			 ".pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n"  \
			 ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n"                         \
			 "_.stapsdt.base: .space 1\n .size _.stapsdt.base, 1\n .popsection\n"      \
			 ".endif\n"                                                                \
			 :                                                                         \
			 : __VA_ARGS__)

#endif
