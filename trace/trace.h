/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.h - what the files of this folder share
 *
 * To add a subcommand: a function, a line here, a line in the table of cmd_trace.c. A tracer:
 * see tracer.h. A form of output: a file format_NAME.c with its struct format, a line in the table
 * of formats.c.
 */
#ifndef USPL_TRACE_TRACE_H
#define USPL_TRACE_TRACE_H

#include "base/buf.h"
#include "base/cli.h"
#include "base/json.h"
#include "tracing/clocks.h"
#include "tracing/mark_record.h"
#include "tracing/saved.h"
#include "tracing/session.h"
#include "tracing/timeline.h"
#include "tracing/values.h"
#include "trace/tracer.h"

/* Subcommands. Like commands: an exit status, or a negative code with err filled in. */
int trace_start(int argc, char **argv, struct uspl_err *err);
int trace_exec(int argc, char **argv, struct uspl_err *err);
int trace_stop(int argc, char **argv, struct uspl_err *err);
int trace_cat(int argc, char **argv, struct uspl_err *err);
int trace_report(int argc, char **argv, struct uspl_err *err);
int trace_record(int argc, char **argv, struct uspl_err *err);
int trace_list(int argc, char **argv, struct uspl_err *err);
int trace_status(int argc, char **argv, struct uspl_err *err);
int trace_mark(int argc, char **argv, struct uspl_err *err);
int trace_probe(int argc, char **argv, struct uspl_err *err);
int trace_tracers(int argc, char **argv, struct uspl_err *err);

/*
 * Runs `one` for every pid, until ^C, and prints what goes wrong. Returns an exit status: the worst
 * one counts.
 */
int pids_for_each(const pid_vec *pids, int (*one)(void *ctx, pid_t pid, struct uspl_err *err),
		  void *ctx);

/* What the records of a session mean. */
struct trace_names {
	trace_strings by_id; /* by id - 1; NULL where no name is known */
	const struct trace_session *session;
	const struct proc *proc; /* NULL: a trace that was saved */
	const module_vec *proc_modules;
	VEC(struct image *) images; /* for names of callers; by module, NULL until asked for */
	trace_callers callers;      /* of a trace that was saved */
};

/* Finds the names of all sites of the session. proc, modules and session must outlive it. */
int names_find(const struct proc *proc, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret,
	       struct uspl_err *err) uspl_must_check;
/* The same for a trace that was saved; modules and session must outlive it. */
int names_take(struct trace_saved *saved, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret,
	       struct uspl_err *err) uspl_must_check;
void names_release(struct trace_names *names);
/* The function's name, or its address in buf. */
const char *names_of(const struct trace_names *names, uint32_t id, char *buf, size_t len);
/*
 * The function that a return address with this low half lies in, by all modules; its address in buf
 * if nothing is known.
 */
const char *names_of_caller(struct trace_names *names, uint32_t low, char *buf, size_t len);

/* The file name of the module that the function is in. */
const char *names_module(const struct trace_names *names, uint32_t id);

/* How many bytes of records a ring has, by the option --buffer, 0 if it isn't given. */
uint64_t trace_ring_bytes(int kb);

/* What was read, ready to be printed. */
struct trace_log {
	pid_t pid;
	char comm[32];
	const struct trace_session *session;
	struct trace_names *names;
	double ns_per_tick;
	uint64_t start_ticks; /* printed times count from here */
	const struct timeline *timeline;
	const struct buf *values; /* texts of arguments and results (tracing/values.h) */
	uint64_t overwritten, unseen, unsure; /* as for struct trace_ring */
	uint32_t depth;                       /* calls deeper than this are left out; 0: none are */
	bool per_thread; /* text: one thread after the other, not all by time */
};

/* Ticks in microseconds. */
static inline double trace_us(const struct trace_log *log, uint64_t ticks)
{
	return (double)(int64_t)ticks * log->ns_per_tick / 1e3;
}

/* A process with its session, for the subcommands that look at one. */
struct view {
	struct proc *proc;
	module_vec modules;
	struct trace_session session;
	size_t swept; /* blocks of memory that a tool which died, or failed, had left there */
};

/*
 * Opens a process that is to be changed, and unmaps what tools that died have left; one tool at a
 * time (proc/lock.h).
 */
int view_lock(pid_t pid, struct proc **ret, struct uspl_err *err) uspl_must_check;
/* session_start in all modules that the process has now. */
int view_start(struct proc *proc, const struct trace_request *request, struct trace_switch *ret,
	       struct uspl_err *err) uspl_must_check;
/* write: the process is to be changed, too. */
int view_open_any(pid_t pid, bool write, struct view *ret, struct uspl_err *err) uspl_must_check;
/*
 * The same; USPL_E_NOT_APPLIED if no functions are traced there. None are, and that is no failure,
 * if what was left of an earlier session has just been unmapped.
 */
int view_open(pid_t pid, bool write, struct view *ret, struct uspl_err *err) uspl_must_check;
void view_release(struct view *view);

/*
 * Warns that so many bytes of a process weren't searched for stacks that no thread is on; of 0 it
 * says nothing.
 */
void switched_warn_left_out(pid_t pid, uint64_t left_out);
/*
 * Says on stdout what start, with this tracer, or stop (NULL) has done in a process; as an object
 * of JSON even if nothing but errors is to be printed.
 */
void switched_print(pid_t pid, const struct tracer *tracer, const struct trace_switch *result,
		    bool json);

/* A reader of all rings of a session. Zero-initialise it. */
struct reader {
	struct view view;            /* of a file: its proc is NULL */
	const struct tracer *tracer; /* whose lines are printed; who asks for format_text sets it */
	struct trace_names names;
	VEC(struct trace_ring) rings;
	uint64_t n_threads;    /* that have taken rings */
	bool only_snapshot;    /* what a trigger has kept, and nothing that came later */
	bool follows;          /* it will be read again */
	trace_records records; /* of the last reading */
	struct trace_values values;
	struct listen_desk desk;  /* of a process */
	struct timeline timeline; /* the same, in order */
	bool has_marks;           /* markers are read, too */
	struct mark_reader marks;
	mark_line_vec mark_lines; /* of a file */
	struct trace_log log;
};

/*
 * marks: NULL, or a session of markers whose records are wanted, too. USPL_E_NOT_APPLIED if there
 * is nothing to read. reader_release must follow in any case.
 */
int reader_open(pid_t pid, const char *marks, struct reader *reader,
		struct uspl_err *err) uspl_must_check;
/* A trace that was saved. reader_release must follow in any case. */
int reader_open_file(const char *path, struct reader *reader, struct uspl_err *err) uspl_must_check;
/* True for a trace that was saved: there is one reading, of all of it. */
bool reader_is_file(const struct reader *reader);
/*
 * Parses a subcommand's line, whose only operand is a pid or, if it isn't a number, a saved trace,
 * and opens it. Returns like cli_parse. marks: where an option may put the session's name, or NULL.
 */
int reader_open_operand(const struct cli_command *cmd, int argc, char **argv,
			const char *const *marks, struct reader *reader,
			struct uspl_err *err) uspl_must_check;
/* Reads what is new since the last time. */
int reader_read(struct reader *reader, struct uspl_err *err) uspl_must_check;
/* Says what isn't in the output, if anything: nothing is lost silently. */
void reader_print_losses(const struct reader *reader, FILE *to);
void reader_release(struct reader *reader);
/*
 * Writes what was read into a new folder of uftrace's form. USPL_E_UNSUPPORTED if no returns were
 * recorded.
 */
int uftrace_write(struct reader *reader, const char *dir, struct uspl_err *err) uspl_must_check;

/* Fills in what --buffer and --string say, 0 if they aren't given; looks at the session's name. */
int mark_sizes(struct marks_request *request, int buffer_kb, int text_bytes,
	       struct uspl_err *err) uspl_must_check;
/* Appends one hit of a marker in some form. */
typedef void (*mark_printer)(const struct reader *reader, const struct mark_line *line,
			     struct buf *out);
/* How many hits of markers there are to print. */
size_t marks_count(const struct reader *reader);
/* All of them as they are saved, to be released. */
int marks_collect(const struct reader *reader, mark_line_vec *ret,
		  struct uspl_err *err) uspl_must_check;
/*
 * Appends the records of markers from the one numbered `from` on that are not younger than `time`.
 * Returns the number of the next.
 */
size_t marks_print(const struct reader *reader, size_t from, uint64_t time, mark_printer print,
		   struct buf *out);
/* The line of a marker: for a graph, and for a list of events. */
void mark_line_graph(const struct reader *reader, const struct mark_line *line, struct buf *out);
void mark_line_event(const struct reader *reader, const struct mark_line *line, struct buf *out);

/* Appends values as "fd=7, name="x""; nothing if there are none. */
void values_add_text(const struct trace_log *log, uint32_t offset, struct buf *out);
/* Adds them to an open object, each by its name; what has none gets the name given. */
void values_add_json(const struct trace_log *log, uint32_t offset, const char *name,
		     struct json *json);

/* A form in which records are printed. */
struct format {
	const char *name;
	bool durations; /* says nothing without them: not for records of entries only */
	void (*begin)(const struct reader *reader, struct buf *out);
	/*
	 * What the last reading has brought. May print and empty `out` when it grows
	 * (format_flush).
	 */
	int (*body)(const struct reader *reader, struct buf *out, struct uspl_err *err);
	void (*end)(const struct reader *reader, struct buf *out);
};

extern const struct format format_text, format_json, format_chrome, format_folded;

/* The format of that name; USPL_E_USAGE, naming all, if there is none. */
int format_find(const char *name, const struct format **ret, struct uspl_err *err) uspl_must_check;
/*
 * The same among those that a tracer has, up to the first NULL; the first one if name is NULL.
 * USPL_E_UNSUPPORTED, naming them, if there is one that it doesn't have.
 */
int format_choose(const struct tracer *tracer, const struct format *const formats[FORMATS_MAX],
		  const char *name, const struct format **ret,
		  struct uspl_err *err) uspl_must_check;
/* Prints `out` and empties it if it has grown large, or in any case if `all` (flush.c). */
void format_flush(struct buf *out, bool all);

/* The one that a session runs. */
const struct tracer *tracer_of(const struct trace_session *session);

#endif
