// SPDX-License-Identifier: GPL-3.0-or-later
// json_end.c - the last line of output in JSON

#include "trace/output/json_end.h"

#include "base/json.h"

void json_end_add(const char *tracer, pid_t pid, const struct json_losses *losses, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "kind", "end");
	json_number(&json, "version", TRACE_JSON_VERSION);
	json_string(&json, "tracer", tracer);
	json_number(&json, "pid", pid);
	json_number(&json, "lost", (int64_t)(losses->overwritten + losses->unrecorded));
	json_number(&json, "overwritten", (int64_t)losses->overwritten);
	json_number(&json, "unrecorded", (int64_t)losses->unrecorded);
	json_number(&json, "cut_short", (int64_t)losses->cut_short);
	json_number(&json, "not_called", (int64_t)losses->not_called);
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
	out->oom |= json.buf.oom;
}
