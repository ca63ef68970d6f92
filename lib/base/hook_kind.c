// SPDX-License-Identifier: GPL-3.0-or-later
// hook_kind.c - the kinds of hooks, and what each may do

#include "base/hook_kind.h"

#include <string.h>

static const struct {
	const char *name;
	bool asks, is_still, is_before, is_reverse;
} kinds[USPL_HOOK_LAST + 1] = {
	[USPL_HOOK_NONE] = { "?", false, false, false, false },
	[USPL_HOOK_PRE_APPLY] = { "pre_apply", true, false, true, false },
	[USPL_HOOK_CHECK_APPLY] = { "check_apply", true, true, true, false },
	[USPL_HOOK_APPLY] = { "apply", false, true, true, false },
	[USPL_HOOK_POST_APPLY] = { "post_apply", false, false, false, false },
	[USPL_HOOK_FAIL_APPLY] = { "fail_apply", false, false, true, true },
	[USPL_HOOK_PRE_UNDO] = { "pre_undo", true, false, true, true },
	[USPL_HOOK_CHECK_UNDO] = { "check_undo", true, true, true, true },
	[USPL_HOOK_UNDO] = { "undo", false, true, true, true },
	[USPL_HOOK_POST_UNDO] = { "post_undo", false, false, false, true },
	[USPL_HOOK_FAIL_UNDO] = { "fail_undo", false, false, true, false },
};

const char *hook_kind_name(enum uspl_hook_kind kind)
{
	return kinds[kind <= USPL_HOOK_LAST ? kind : USPL_HOOK_NONE].name;
}

enum uspl_hook_kind hook_kind_find(const char *name)
{
	for (unsigned int kind = 1; kind <= USPL_HOOK_LAST; kind++)
		if (!strcmp(kinds[kind].name, name))
			return (enum uspl_hook_kind)kind;
	return USPL_HOOK_NONE;
}

bool hook_kind_asks(enum uspl_hook_kind kind)
{
	return kinds[kind].asks;
}

bool hook_kind_is_still(enum uspl_hook_kind kind)
{
	return kinds[kind].is_still;
}

bool hook_kind_is_before(enum uspl_hook_kind kind)
{
	return kinds[kind].is_before;
}

bool hook_kind_is_reverse(enum uspl_hook_kind kind)
{
	return kinds[kind].is_reverse;
}
