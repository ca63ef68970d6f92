// SPDX-License-Identifier: GPL-3.0-or-later
// switched.c - what start and stop say of the switch that they have made

#include "trace/cmd/switched.h"

#include "base/json.h"
#include "trace/engine/session.h"
#include "trace/output/tracer.h"

static void print_json(pid_t pid, const struct tracer *tracer, const struct trace_switch *result,
		       const char *saved)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "pid", pid);
	if (tracer)
		json_string(&json, "tracer", tracer->name);
	json_string(&json, "state", tracer ? "on" : result->inside ? "draining" : "off");
	json_number(&json, "functions", (int64_t)result->sites);
	if (tracer)
		json_number(&json, "quietened", (int64_t)result->mcount);
	else
		json_number(&json, "inside", (int64_t)result->inside);
	if (!tracer) {
		json_truth(&json, "parked", result->inactive);
		json_number(&json, "put_back", (int64_t)result->put_back);
		json_string(&json, "saved", saved);
	}
	json_decimal(&json, "stop_us", result->stop_us, 0);
	json_decimal(&json, "switch_us", result->switch_us, 0);
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

static void print_text(pid_t pid, const struct tracer *tracer, const struct trace_switch *result)
{
	if (result->mcount)
		printf("quietened %zu calls of mcount in pid %d\n", result->mcount, pid);
	printf("%s pid %d: %zu functions, stopped %.0f us, switched in %.0f us\n",
	       tracer ? "tracing" : "stopped tracing", pid, result->sites, result->stop_us,
	       result->switch_us);
	if (result->put_back)
		printf("%zu call%s on stacks that no thread is on (coroutines, setjmp): made to "
		       "return without "
		       "the tracer\n",
		       result->put_back, result->put_back == 1 ? "" : "s");
	if (result->inactive)
		printf("a stack that no thread is on may lead back into calls that were traced, "
		       "and isn't understood: "
		       "the memory stays; 'uspl-trace stop %d' looks again, with --force it takes "
		       "it in any case\n",
		       pid);
	else if (result->inside)
		printf("%zu thread%s still in calls that were traced: the memory stays until "
		       "they have returned; 'uspl-trace stop %d' then takes it\n",
		       result->inside, result->inside == 1 ? " is" : "s are", pid);
}

void switched_warn_left_out(pid_t pid, uint64_t left_out)
{
	if (left_out)
		fprintf(stderr,
			"uspl-trace: warning: %llu MiB of pid %d were not searched for stacks that "
			"no thread "
			"is on (coroutines, setjmp)\n",
			(unsigned long long)(left_out >> 20), pid);
}

void switched_print(pid_t pid, const struct tracer *tracer, const struct trace_switch *result,
		    const char *saved, bool json)
{
	if (json)
		print_json(pid, tracer, result, saved);
	else if (!cli_quiet())
		print_text(pid, tracer, result);
	switched_warn_left_out(pid, result->left_out);
}
