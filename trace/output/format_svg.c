// SPDX-License-Identifier: GPL-3.0-or-later
// format_svg.c - a flame graph of what was recorded

#include "trace/output/call_chains.h"
#include "trace/output/flame.h"
#include "trace/output/formats.h"
#include "trace/output/reader.h"

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	auto_call_chains struct call_chains chains = { 0 };
	auto_buf struct buf title = { 0 };
	int rc = call_chains_make(reader, &chains, err);

	if (rc)
		return rc;
	buf_addf(&title, "%s, pid %d: time in calls", reader->log.comm, reader->log.pid);
	if (reader->log.overwritten)
		buf_addf(&title, "; %llu older records were overwritten",
			 (unsigned long long)reader->log.overwritten);
	flame_add_svg(&chains.tree, buf_str(&title), "ns", out);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_svg = { .name = "svg",
				   .suffix = ".svg",
				   .durations = true,
				   .unordered = true,
				   .whole = true,
				   .body = body,
				   .end = end };
