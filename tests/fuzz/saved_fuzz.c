// SPDX-License-Identifier: GPL-3.0-or-later
// saved_fuzz.c - any bytes as a saved trace: no crash, no leak, no answer but a trace or a refusal
#include "trace/log/saved.h"
#include "trace/log/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_saved struct trace_saved saved = { 0 };
	auto_timeline struct timeline timeline = { 0 };
	struct uspl_err err = { 0 };
	int rc = saved_parse(data, size, "fuzz", &saved, &err);

	if (rc ? !err.msg[0] || err.code != (enum uspl_code) - rc
	       : !saved.session.regions.n && !saved.marks.n)
		abort();
	if (!rc && timeline_make(&saved.records, &saved.kernel.events, &timeline, &err) &&
	    err.code != USPL_E_UNSUPPORTED && err.code != USPL_E_NOMEM)
		abort();
	return 0;
}
