// SPDX-License-Identifier: GPL-3.0-or-later
// format_flush.c - long output is printed in pieces

#include "trace/output/formats.h"

#define FLUSH_LEN (64 << 10)

void format_flush(struct buf *out, bool all)
{
	if (!all && out->len < FLUSH_LEN)
		return;
	fputs(buf_str(out), stdout);
	buf_release(out);
}
