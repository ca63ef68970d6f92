// SPDX-License-Identifier: GPL-3.0-or-later
// stream.c - calls are saved as they come, for longer than the rings hold them
//
// The rings are read a hundred times a second, and what they had goes to disk. A ring of a megabyte
// has room for 65536 calls: the tool may miss six of its turns at a million calls a second.

#include "trace/cmd/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/clock.h"
#include "base/log.h"
#include "trace/cmd/save.h"
#include "trace/log/saved_stream.h"
#include "trace/output/reader.h"
#include "trace/watch/kernel_watch.h"

#define PAUSE_NS 10000000
#define LOSS_TO_TELL 100 /* one in so many */

/* Asks the kernel with each reading from here on. */
static int begin_kernel(struct reader *reader, struct kernel_watch *kernel, struct uspl_err *err)
{
	if (!kernel)
		return 0;
	fputs(buf_str(&kernel->notes), stderr);
	reader->kernel_source = (struct kernel_source){ kernel_watch_read, kernel };
	return kernel_watch_begin(kernel, err);
}

int stream_record(struct reader *reader, struct kernel_watch *kernel, double seconds,
		  const char *path, struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	const int64_t deadline = clock_now_ns() + (int64_t)(seconds * 1e9);
	auto_saved_stream struct saved_stream stream = SAVED_STREAM_NONE;
	auto_save_parts struct save_parts parts = { 0 };
	bool is_gone = false;
	int rc = saved_stream_open(path, &stream, err);

	if (rc)
		return rc;
	/* Where that isn't permitted, the end of the process takes what came last. */
	if (reader_hold(reader, NULL))
		log_info("trace", "what comes last goes with the process");
	rc = begin_kernel(reader, kernel, err);
	if (rc)
		return rc;
	cancel_catch();
	reader->unordered = reader->follows = true;
	while (reader->follows && !is_gone) {
		/* Once more at the end, with the calls that are open. */
		reader->follows = !cancel_requested() && clock_now_ns() < deadline &&
				  !proc_is_over(reader->view.proc);
		rc = reader_read(reader, err);
		is_gone = rc == -USPL_E_NO_PROCESS || rc == -USPL_E_SYSTEM;
		if (rc && !is_gone)
			return rc;
		rc = save_note(reader, &parts, err);
		if (rc)
			return rc;
		rc = saved_stream_add(&stream, &reader->records, &reader->values.texts, err);
		if (rc)
			return rc;
		rc = saved_stream_add_events(&stream, &reader->kernel.events, err);
		if (rc)
			return rc;
		if (reader->follows && !is_gone)
			nanosleep(&pause, NULL);
	}
	rc = save_finish(reader, &parts, &stream, path, err);
	if (rc)
		return rc;
	reader_print_losses(reader, stderr);
	if (reader->log.overwritten > stream.records.n / LOSS_TO_TELL)
		fprintf(stderr, "# larger rings lose less: 'uspl-trace start --buffer=KB'\n");
	if (cli_quiet())
		return 0;
	printf("%s: %" PRIu64 " calls", path, stream.records.n);
	if (kernel)
		printf(", %" PRIu64 " events of the kernel", stream.events.n);
	printf("\n");
	return 0;
}
