// SPDX-License-Identifier: GPL-3.0-or-later
// format_folded.c - call chains with the nanoseconds spent in them, as flame graphs are made of
//
// A line is `thread;outer;inner NANOSECONDS`, once for each chain: the time spent in the innermost
// function itself.

#include "trace/output/call_chains.h"
#include "trace/output/formats.h"
#include "trace/output/reader.h"

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	auto_call_chains struct call_chains chains = { 0 };
	int rc = call_chains_make(reader, &chains, err);

	if (rc)
		return rc;
	calltree_add_folded(&chains.tree, out);
	format_flush(reader->to, out, false);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_folded = {
	.name = "folded", .durations = true, .unordered = true, .body = body, .end = end
};
