// SPDX-License-Identifier: GPL-3.0-or-later
// trial_fail.c - why a trial fails where it stands

#include <stdarg.h>
#include <stdio.h>

#include "match/match_internal.h"

bool trial_fail(struct trial *trial, const char *fmt, ...)
{
	struct failure *failure = &trial->failure;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(failure->what, sizeof(failure->what), fmt, ap);
	va_end(ap);
	failure->off = trial->at;
	failure->run_addr = trial->run_at;
	failure->show_code = false;
	return false;
}

bool trial_fail_code(struct trial *trial)
{
	trial_fail(trial, "the instructions differ");
	trial->failure.show_code = true;
	return false;
}

bool trial_fail_oom(struct trial *trial)
{
	trial->oom = true;
	return false;
}

bool trial_fail_data(struct trial *trial, const struct objsec *sec, taddr addr)
{
	const char *name = sec->flags & SHF_STRINGS ? "a string" : "read-only data";

	return trial_fail(trial, "%s that it refers to, at 0x%llx in the running program, differs",
			  name, (unsigned long long)addr);
}
