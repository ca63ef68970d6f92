// SPDX-License-Identifier: GPL-3.0-or-later
// format_flush.c - long output is printed in pieces

#include "trace/output/formats.h"

#define FLUSH_LEN (64 << 10)

void format_flush(FILE *to, struct buf *out, bool all)
{
	if (!to || (!all && out->len < FLUSH_LEN))
		return;
	fwrite(buf_str(out), 1, out->len, to);
	buf_release(out);
}
