/* SPDX-License-Identifier: MIT */
/*
 * branch.h - what a program's author expects of its branches, to be held against what they do
 *
 *     #include <uspl/branch.h>
 *
 *     if (uspl_unlikely(fd < 0))
 *             return fail();
 *
 * To the compiler this is __builtin_expect(). `uspl-trace start PID --tracer=branch` counts how
 * often each was right. While no tool counts, there is one NOP of five bytes on either way, no load
 * and no further branch. C and C++, gcc and clang; nothing to link with; within functions only.
 *
 * It is made as a marker is (mark.h): on either way there is a switch, a NOP that can be made a
 * jump to a place out of line, and there a counter. Notes tell where the two are; file, line and
 * outcome tie them together, since compilers copy and merge both freely.
 */
#ifndef USPL_BRANCH_H
#define USPL_BRANCH_H

#include <uspl/mark.h>

#define USPL_BRANCH_NOTE_SITE 3  /* type of a note: struct uspl_branch_site */
#define USPL_BRANCH_NOTE_COUNT 4 /* struct uspl_branch_count */

/* The notes, as the assembler makes them. Distances count from their own place. */
struct uspl_branch_site {
	long long site, on; /* as in struct uspl_mark_site */
	long long file;
	int line;
	int right; /* 1: the way that is expected */
};

struct uspl_branch_count {
	long long code;  /* where it counts */
	long long count; /* 8 bytes */
	long long file;
	int line, right;
};

/* clang-format off */
#define USPL_BRANCH_WHERE_ ".quad %c[file] - .\n .long %c[line], %c[right]\n"
#define USPL_BRANCH_SITE_                                                                          \
	USPL_MARK_NOP_ USPL_MARK_NOTE_("3", ".quad %l[uspl_branch_on_] - .\n" USPL_BRANCH_WHERE_)
#define USPL_BRANCH_COUNT_                                                                         \
	"771: lock incq 778f(%%rip)\n"                                                             \
	".pushsection .data.uspl_branch, \"aw?\", @progbits\n"                                     \
	".balign 8\n778: .quad 0\n .popsection\n"                                                  \
	USPL_MARK_NOTE_("4", ".quad 778b - .\n" USPL_BRANCH_WHERE_)

/* One of the two ways. */
#define USPL_BRANCH_WAY_(is_right)                                                                 \
	do {                                                                                       \
		__label__ uspl_branch_on_;                                                         \
		__asm__ goto(USPL_BRANCH_SITE_                                                     \
			     : : [file] "i"(__FILE__), [line] "i"(__LINE__), [right] "i"(is_right) \
			     : : uspl_branch_on_);                                                 \
		if (0) {                                                                           \
		uspl_branch_on_:                                                                   \
			USPL_MARK_COLD_;                                                           \
			__asm__ volatile(USPL_BRANCH_COUNT_                                        \
					 : : [file] "i"(__FILE__), [line] "i"(__LINE__),           \
					     [right] "i"(is_right) : "cc");                        \
		}                                                                                  \
		__asm__ volatile(""); /* clang follows a way through it, not through a goto */     \
	} while (0)

#if defined(__cplusplus) && defined(__clang__) && __clang_major__ < 17
/* These compilers take one label for a target of all others of the function. */
#define USPL_BRANCH_HERE_(is_right)                                                                \
	[&]() __attribute__((always_inline)) { USPL_BRANCH_WAY_(is_right); }()
#else
#define USPL_BRANCH_HERE_(is_right) USPL_BRANCH_WAY_(is_right)
#endif

#define USPL_BRANCH_(x, expected)                                                                  \
	(__builtin_expect(!!(x), expected)                                                         \
		 ? __extension__({ USPL_BRANCH_HERE_((expected) == 1); 1; })                       \
		 : __extension__({ USPL_BRANCH_HERE_((expected) == 0); 0; }))

/* The condition, which is expected to be true, or not to be. */
#define uspl_likely(x) USPL_BRANCH_(x, 1)
#define uspl_unlikely(x) USPL_BRANCH_(x, 0)
/* clang-format on */

#endif
