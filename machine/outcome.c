// SPDX-License-Identifier: GPL-3.0-or-later
// outcome.c - what an uspl-apply --json that ran as a child says of processes

#include "machine/outcome.h"

#include <json-c/json.h>
#include <string.h>

#include "base/cleanup.h"

static void take_line(const char *line, void (*take)(const struct outcome *outcome, void *ctx),
		      void *ctx)
{
	struct json_object *object = json_tokener_parse(line), *pid, *value;

	if (object && json_object_object_get_ex(object, "pid", &pid)) {
		struct outcome outcome = {
			.pid = json_object_get_int(pid),
			.id = json_object_get_string(json_object_object_get(object, "id")),
			.error = json_object_get_string(json_object_object_get(object, "error")),
			.message =
				json_object_get_string(json_object_object_get(object, "message")),
		};

		if (json_object_object_get_ex(object, "changed", &value))
			outcome.changed = json_object_get_boolean(value);
		if (json_object_object_get_ex(object, "stop_us", &value))
			outcome.stop_us = json_object_get_double(value);
		if (outcome.id)
			take(&outcome, ctx);
	}
	json_object_put(object);
}

void outcome_each(const char *text, void (*take)(const struct outcome *outcome, void *ctx),
		  void *ctx)
{
	auto_free char *copy = strdup(text);
	char *rest = copy, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			take_line(line, take, ctx);
}
