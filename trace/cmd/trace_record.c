// SPDX-License-Identifier: GPL-3.0-or-later
// trace_record.c - uspl-trace record: saves what was recorded with all that is needed to read it
// elsewhere, later

#include <string.h>

#include "trace/cmd/save.h"
#include "trace/cmd/stream.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/formats.h"
#include "trace/output/reader.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"

static int record_for(struct reader *reader, double seconds, const char *form, const char *path,
		      struct uspl_err *err)
{
	if (reader_is_file(reader))
		return uspl_fail(err, USPL_E_USAGE, "a file doesn't grow: '--for' needs a pid");
	if (!reader->view.session.regions.n)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "'--for' saves calls, not markers");
	if (form ? strcmp(form, "uspl") != 0 : format_by_suffix(path) != NULL) {
		uspl_fail(err, USPL_E_USAGE, "'--for' saves in the form 'uspl' only");
		uspl_hint(err, "'uspl-trace record' makes the others of the file");
		return -USPL_E_USAGE;
	}
	/* Their hits would fill the memory. */
	mark_reader_release(&reader->marks);
	reader->has_marks = false;
	return stream_record(reader, seconds, path, err);
}

int trace_record(int argc, char **argv, struct uspl_err *err)
{
	const char *path = NULL, *form = NULL, *session = "";
	double seconds = 0;
	const struct cli_option table[] = {
		{ 'o', "output", "PATH", CLI_STRING, &path,
		  "the file to write, or the folder to make" },
		{ 0, "format", "NAME", CLI_STRING, &form, SAVE_FORMS },
		{ 0, "for", "TIME", CLI_SECONDS, &seconds,
		  "go on for so long, and save all that comes ('10s'; ^C ends it)" },
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
	if (seconds > 0)
		return record_for(&reader, seconds, form, path, err);
	rc = reader_read(&reader, err);
	if (rc)
		return rc;
	rc = save_as(&reader, form, path, err);
	if (rc)
		return rc;
	save_say(&reader, path);
	return 0;
}
