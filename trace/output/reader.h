/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.h - what the threads of a traced process have recorded, read and put in order */
#ifndef USPL_TRACE_OUTPUT_READER_H
#define USPL_TRACE_OUTPUT_READER_H

#include "trace/engine/listen_plan.h"
#include "trace/log/timeline.h"
#include "trace/output/names.h"
#include "trace/output/trace_log.h"
#include "trace/output/view.h"

struct cli_command;
struct tracer;

/* Who asks the kernel, while calls are read (trace/watch/kernel_watch.h). */
struct kernel_source {
	/* Appends what there is to tell by now; with `last`, of what isn't over, too. */
	int (*read)(void *ctx, bool last, struct kernel_log *log, struct uspl_err *err);
	void *ctx;
};

/* A reader of all rings of a session. Zero-initialise it. */
struct reader {
	struct view view;            /* of a file: its proc is NULL */
	const struct tracer *tracer; /* prints the lines; the caller for format_text sets it */
	struct trace_names names;
	VEC(struct trace_ring) rings;
	bool names_later;   /* reader_find_names is called when they are needed */
	uint64_t n_threads; /* that have taken rings */
	uint64_t nowhere;   /* calls that no ring has counted */
	bool only_snapshot; /* what a trigger has kept, and nothing that came later */
	bool follows;       /* it will be read again */
	bool unordered;     /* no timeline is made */
	/* Calls that were open when tracing ended; NULL: the shadow stacks are asked. */
	const trace_records *open;
	trace_records records; /* of the last reading */
	struct trace_values values;
	struct listen_config config;        /* of a process */
	struct timeline timeline;           /* the same, in order */
	struct kernel_source kernel_source; /* without `read`: the kernel isn't asked */
	struct kernel_log kernel;           /* of the last reading, but for what was lost */
	bool shows_kernel;                  /* the timeline has it */
	bool has_marks;                     /* markers are read, too */
	struct mark_reader marks;
	mark_line_vec mark_lines; /* of a file */
	thread_names threads;     /* of those that lived at the last reading */
	struct trace_log log;
	FILE *to; /* for format_flush */
};

/*
 * marks: NULL, or a session of markers whose records are wanted, too. USPL_E_NOT_APPLIED if there
 * is nothing to read. reader_release must follow in any case.
 */
int reader_open(pid_t pid, const char *marks, struct reader *reader,
		struct uspl_err *err) uspl_must_check;
/* Finds the names of functions, if reader_open was told not to. */
int reader_find_names(struct reader *reader, struct uspl_err *err) uspl_must_check;
/*
 * From here on it can be read when the process is over, too: all that the rings had then, and the
 * calls that were open. USPL_E_PERMISSION where the kernel doesn't allow it (proc/hold.h).
 */
int reader_hold(struct reader *reader, struct uspl_err *err) uspl_must_check;
/* A trace that was saved. reader_release must follow in any case. */
int reader_open_file(const char *path, struct reader *reader, struct uspl_err *err) uspl_must_check;
/* True for a trace that was saved: there is one reading, of all of it. */
bool reader_is_file(const struct reader *reader);
/* Where a subcommand's options are, once they are parsed. */
struct reader_wish {
	const char *const *marks; /* the session's name; NULL: markers aren't asked for */
	const bool *does_more;    /* it does more than to look; NULL: it never does */
	/* What the kernel is to be asked for; with that, it does more. NULL: it never is. */
	const char *const *kernel;
	const double *goes_on; /* more than 0: of a process that lives only; NULL: of any */
	pid_t *ret_pid;        /* the operand, if it is a pid; NULL: nobody asks */
};
/*
 * Parses a subcommand's line, whose only operand is a pid or, if it isn't a number, a saved trace,
 * and opens it. Returns like cli_parse. One that only looks has given up its rights (look.h). Of a
 * process that is over it is what the keeper has saved (trace/log/last_trace.h).
 */
int reader_open_operand(const struct cli_command *cmd, int argc, char **argv,
			const struct reader_wish *wish, struct reader *reader,
			struct uspl_err *err) uspl_must_check;
/* Reads what is new since the last time. */
int reader_read(struct reader *reader, struct uspl_err *err) uspl_must_check;
/* Says what isn't in the output, if anything: nothing is lost silently. */
void reader_add_losses(const struct reader *reader, struct buf *out);
void reader_print_losses(const struct reader *reader, FILE *to);
/* What the thread is called; the process's name if that isn't known. */
const char *reader_thread_name(const struct reader *reader, pid_t tid);
/* Ends output in JSON. */
void reader_add_json_end(const struct reader *reader, struct buf *out);
void reader_release(struct reader *reader);
DEFINE_AUTO_RELEASE(reader, struct reader, reader_release)
#define auto_reader __attribute__((cleanup(cleanup_reader_)))

#endif
