// SPDX-License-Identifier: GPL-3.0-or-later
// trace_record.c - uspl-trace record: saves what was recorded with all that is needed to read it
// elsewhere, later

#include "trace/cmd/save.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/reader.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

int trace_record(int argc, char **argv, struct uspl_err *err)
{
	const char *path = NULL, *form = NULL, *session = "";
	const struct cli_option table[] = {
		{ 'o', "output", "PATH", CLI_STRING, &path,
		  "the file to write, or the folder to make" },
		{ 0, "format", "NAME", CLI_STRING, &form, SAVE_FORMS },
		{ 0, "session", "NAME", CLI_STRING, &session,
		  "the markers of this session, too (uspl-trace mark)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace record",
		.synopsis = "[OPTION]... -o PATH PID|FILE",
		.summary = "Saves what was recorded, to be read elsewhere when the process is gone",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const bool writes = true;
	const struct reader_wish wish = { &session, &writes };
	auto_reader struct reader reader = { 0 };
	int rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (!path)
		return uspl_fail(err, USPL_E_USAGE, "nowhere to save to: '--output=PATH'");
	rc = tally_refuse(tracer_of(&reader.view.session), err);
	if (rc)
		return rc;
	rc = reader_read(&reader, err);
	if (rc)
		return rc;
	rc = save_as(&reader, form, path, err);
	if (rc)
		return rc;
	save_say(&reader, path);
	return 0;
}
