/* SPDX-License-Identifier: MIT */
/*
 * hook.h - functions of a patch that run in the process while its update is applied or undone
 *
 *     #include <uspl/hook.h>
 *
 *     static int ready(void) { return limit > 8; }    // not 0: refuse
 *     static void adjust(void) { limit = 16; }
 *
 *     USPL_PRE_APPLY(ready);
 *     USPL_APPLY(adjust);
 *     USPL_ANSWERS(limit);
 *
 * All of it is written in the patch, at the end of a source file. The functions refer to the
 * program's own variables and functions, also static ones, by name. uspl-create finds this header
 * by itself. In the order in which they run, docs/authors.md has the rest:
 *
 *     apply         undo         threads      the function
 *     PRE_APPLY     PRE_UNDO     run          may refuse, before anything else is done
 *     CHECK_APPLY   CHECK_UNDO   stand still  may refuse; no thread is in a replaced function
 *     APPLY         UNDO         stand still  right before the functions are switched
 *     POST_APPLY    POST_UNDO    run          after that
 *     FAIL_APPLY    FAIL_UNDO    run          takes back what the others did, if it came to nothing
 *
 * Several of a kind run in the order of sources and lines; those of undo, and FAIL_APPLY, in the
 * opposite order, and FAIL_UNDO in the first one. C and C++, gcc and clang.
 */
#ifndef USPL_HOOK_H
#define USPL_HOOK_H

#define USPL_HOOK_VERSION 1

/* Also the phase that an update's record is in (uspl/abi.h): a contract. */
enum uspl_hook_kind {
	USPL_HOOK_NONE = 0,
	USPL_HOOK_PRE_APPLY = 1,
	USPL_HOOK_CHECK_APPLY = 2,
	USPL_HOOK_APPLY = 3,
	USPL_HOOK_POST_APPLY = 4,
	USPL_HOOK_FAIL_APPLY = 5,
	USPL_HOOK_PRE_UNDO = 6,
	USPL_HOOK_CHECK_UNDO = 7,
	USPL_HOOK_UNDO = 8,
	USPL_HOOK_POST_UNDO = 9,
	USPL_HOOK_FAIL_UNDO = 10,
	USPL_HOOK_LAST = USPL_HOOK_FAIL_UNDO
};

/* One entry of the section that uspl-create reads. The two kinds differ in what is called. */
struct uspl_hook_asks {
	unsigned int version, kind, line, pad;
	int (*function)(void);
};

struct uspl_hook_acts {
	unsigned int version, kind, line, pad;
	void (*function)(void);
};

#define USPL_HOOK_SECTION ".uspl.hooks"
#define USPL_ANSWER_SECTION ".uspl.answers"
#define USPL_STATE_SECTION ".uspl.states"

/* clang-format off */
#define USPL_HOOK_(type, kind, name, function)                                                     \
	static const struct type uspl_hook_##name##_##function                                     \
		__attribute__((section(USPL_HOOK_SECTION), used, aligned(8))) =                    \
			{ USPL_HOOK_VERSION, kind, __LINE__, 0, function }

#define USPL_PRE_APPLY(f)   USPL_HOOK_(uspl_hook_asks, USPL_HOOK_PRE_APPLY, pre_apply, f)
#define USPL_CHECK_APPLY(f) USPL_HOOK_(uspl_hook_asks, USPL_HOOK_CHECK_APPLY, check_apply, f)
#define USPL_APPLY(f)       USPL_HOOK_(uspl_hook_acts, USPL_HOOK_APPLY, apply, f)
#define USPL_POST_APPLY(f)  USPL_HOOK_(uspl_hook_acts, USPL_HOOK_POST_APPLY, post_apply, f)
#define USPL_FAIL_APPLY(f)  USPL_HOOK_(uspl_hook_acts, USPL_HOOK_FAIL_APPLY, fail_apply, f)
#define USPL_PRE_UNDO(f)    USPL_HOOK_(uspl_hook_asks, USPL_HOOK_PRE_UNDO, pre_undo, f)
#define USPL_CHECK_UNDO(f)  USPL_HOOK_(uspl_hook_asks, USPL_HOOK_CHECK_UNDO, check_undo, f)
#define USPL_UNDO(f)        USPL_HOOK_(uspl_hook_acts, USPL_HOOK_UNDO, undo, f)
#define USPL_POST_UNDO(f)   USPL_HOOK_(uspl_hook_acts, USPL_HOOK_POST_UNDO, post_undo, f)
#define USPL_FAIL_UNDO(f)   USPL_HOOK_(uspl_hook_acts, USPL_HOOK_FAIL_UNDO, fail_undo, f)

/*
 * The author has seen to what uspl-create would refuse about this variable, type ("struct conn"),
 * or function that runs at the program's start, mostly by a hook. The name is that of the refusal.
 * In the section: version, line, name.
 */
#define USPL_ANSWERS(name) USPL_ANSWERS_AT_(name, __LINE__)
#define USPL_ANSWERS_AT_(name, line) USPL_ANSWERS_ON_(name, line)
#define USPL_ANSWERS_ON_(name, line)                                                               \
	static const char uspl_answer_##line[]                                                     \
		__attribute__((section(USPL_ANSWER_SECTION), used)) = "1:" #line ":" #name

/*
 * What the update makes of the program's data, for the updates that come after it: a name, which is
 * an identifier, and a number from 1 on, written in digits. USPL_STATE_BEFORE(name) is the highest
 * number that the updates in the process have for it when this one comes, those that it takes the
 * place of included; 0: they don't know it. An update with a lower number than the process has is
 * refused, and so is one that takes another's place and lacks a name of that one's.
 * In the section: version, name, number.
 */
#define USPL_STATE(name, number)                                                                   \
	static volatile unsigned int uspl_state_before_##name##_##number;                          \
	static __inline__ unsigned int uspl_state_before_##name(void)                              \
	{                                                                                          \
		return uspl_state_before_##name##_##number;                                        \
	}                                                                                          \
	static const char uspl_state_##name[]                                                      \
		__attribute__((section(USPL_STATE_SECTION), used)) = "1:" #name ":" #number
#define USPL_STATE_BEFORE(name) uspl_state_before_##name()
/* clang-format on */

#endif
