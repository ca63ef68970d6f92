// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_view.c - what is applied where, or what is in an update file

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/log.h"
#include "machine/lookout.h"
#include "base/text.h"
#include "command/commands.h"
#include "objfile/disasm.h"
#include "update/update.h"
#include "view/update_page.h"
#include "view/show.h"
#include "view/symbol_files.h"

struct options {
	const char *named, *file, *symbols, *core;
	char *id;
	bool all, json, html, perf_map;
	struct debug_dirs debug;
	struct selection sel;
};

/* What goes with what. */
static int check(const struct options *opts, struct uspl_err *err)
{
	if (opts->html && (!opts->id || opts->json || opts->all)) {
		uspl_fail(err, USPL_E_USAGE, "'--html' is about one update: it needs '--id'");
		uspl_hint(err, "try 'uspl-view --help'");
		return -USPL_E_USAGE;
	}
	if ((opts->debug.named.n || opts->debug.sources) && !opts->symbols) {
		uspl_fail(err, USPL_E_USAGE, "'%s' goes with '--symbols'",
			  opts->debug.sources ? "--sources" : "--debug-dir");
		uspl_hint(err, "try 'uspl-view --help'");
		return -USPL_E_USAGE;
	}
	if (opts->core) {
		if (opts->symbols && selection_is_empty(&opts->sel) && !opts->id && !opts->file &&
		    !opts->all && !opts->json && !opts->perf_map)
			return CLI_GO_ON;
		uspl_fail(err, USPL_E_USAGE, "'--core' goes with '--symbols', and nothing else");
		uspl_hint(err, "try 'uspl-view --help'");
		return -USPL_E_USAGE;
	}
	if ((opts->symbols || opts->perf_map) &&
	    (opts->sel.named.n != 1 || selection_selects(&opts->sel) || opts->id || opts->file ||
	     opts->all || opts->json)) {
		uspl_fail(err, USPL_E_USAGE,
			  "'--symbols' and '--perf-map' are about one process, and nothing else");
		uspl_hint(err, "try 'uspl-view --help'");
		return -USPL_E_USAGE;
	}
	return CLI_GO_ON;
}

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 0, "id", "ID", CLI_STRING, &opts->named,
		  "show all about one update, with its patch" },
		{ 0, "file", "UPDATE", CLI_STRING, &opts->file, "show what is in an update file" },
		{ 'a', "all", NULL, CLI_FLAG, &opts->all, "list undone updates, too" },
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "print JSON" },
		{ 0, "html", NULL, CLI_FLAG, &opts->html,
		  "with --id: print a page for a browser, with each function before and after" },
		{ 0, "perf-map", NULL, CLI_FLAG, &opts->perf_map,
		  "print the names of new code as perf reads them" },
		{ 0, "symbols", "FILE", CLI_STRING, &opts->symbols,
		  "write them to FILE for gdb's add-symbol-file" },
		{ 0, "debug-dir", "FOLDER", CLI_STRINGS, &opts->debug.named,
		  "look here, too, for files that uspl-create --debug-file has written" },
		{ 0, "sources", "FOLDER", CLI_STRING, &opts->debug.sources,
		  "make this one, with the patched sources that the tree hasn't" },
		{ 0, "core", "CORE", CLI_STRING, &opts->core,
		  "with --symbols: of a process that is dead, by its core dump" },
		SELECTION_OPTIONS(&opts->sel),
	};
	const struct cli_command cmd = {
		.name = "uspl-view",
		.synopsis = "[OPTION]... [PID]...",
		.summary = "Shows which updates are applied in which processes, or what is in an "
			   "update file",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (opts->named)
		rc = update_named(opts->named, &opts->id, err);
	if (rc)
		return rc;
	rc = selection_read(&opts->sel, argv + first, argc - first, err);
	if (rc)
		return rc;
	if (opts->file && (opts->id || opts->all || !selection_is_empty(&opts->sel))) {
		uspl_fail(err, USPL_E_USAGE,
			  "'--file' is about no process: it goes with '--json' only");
		uspl_hint(err, "try 'uspl-view --help'");
		return -USPL_E_USAGE;
	}
	return check(opts, err);
}

static int print(const struct buf *out, struct uspl_err *err)
{
	if (out->oom)
		return uspl_fail_nomem(err);
	fputs(buf_str(out), stdout);
	return USPL_STATUS_DONE;
}

static int view_file(const struct options *opts, struct uspl_err *err)
{
	auto_update struct update *update = NULL;
	auto_json struct json json = { 0 };
	auto_buf struct buf out = { 0 };
	int rc = update_read_confined(opts->file, &update, err);

	if (rc)
		return rc;
	if (opts->json) {
		json_file(update, &json);
		buf_addstr(&json.buf, "\n");
		return print(&json.buf, err);
	}
	if (cli_quiet())
		buf_addf(&out, "%s\n", update->id);
	else
		show_file(update, &out);
	return print(&out, err);
}

static int print_scan(const struct options *opts, const struct scan *scan, struct uspl_err *err)
{
	auto_json struct json json = { 0 };
	auto_buf struct buf out = { 0 };
	const struct scan_update *update;

	if (opts->json) {
		json_scan(scan, opts->id != NULL, &json);
		buf_addstr(&json.buf, "\n");
		return print(&json.buf, err);
	}
	if (opts->html && scan->updates.n) {
		int rc = update_page_add(scan->updates.items, &out, err);

		if (rc)
			return rc;
	} else if (cli_quiet()) {
		vec_for_each (&scan->updates, update) {
			const char *id = update->region->id;

			if (update->is_other)
				continue;
			text_add_printable(&out, id, strlen(id), false);
			buf_addstr(&out, "\n");
		}
	} else if (opts->id) {
		vec_for_each (&scan->updates, update) {
			if (update != scan->updates.items)
				buf_addstr(&out, "\n");
			show_update(update, &out);
		}
	} else if (scan->updates.n) {
		show_list(scan, &out);
	} else if (!scan->failures.n) {
		buf_addf(&out, "no updates are applied%s\n",
			 scan->skipped ? " in the processes that can be read" : "");
	}
	return print(&out, err);
}

/* Prints what went wrong with single processes; the worst exit status among them. */
static int print_failures(const struct scan *scan)
{
	const struct uspl_err *failure;
	int worst = USPL_STATUS_DONE;

	vec_for_each (&scan->notes, failure)
		uspl_err_note(stderr, failure);
	vec_for_each (&scan->failures, failure) {
		int status = (int)uspl_code_status((int)failure->code);

		uspl_err_print(stderr, "uspl-view", failure);
		worst = status > worst ? status : worst;
	}
	return worst;
}

/* The update that was asked for is nowhere. */
static int fail_absent(const struct options *opts, const struct scan *scan, struct uspl_err *err)
{
	struct nearest nearest = { .word = opts->id };
	const struct scan_process *process;
	const struct region *region;

	vec_for_each (&scan->processes, process)
		vec_for_each (&process->regions, region)
			nearest_try(&nearest, region->id);
	uspl_fail(err, USPL_E_NOT_APPLIED, "the update '%s' is in none of the processes that %s",
		  opts->id, selection_is_empty(&opts->sel) ? "can be read" : "were named");
	if (nearest.name)
		uspl_hint(err, "did you mean '%s'?", nearest.name);
	else if (scan->skipped)
		uspl_hint(err, "processes that this user may not read: %zu", scan->skipped);
	return -USPL_E_NOT_APPLIED;
}

static int view_processes(const struct options *opts, struct uspl_err *err)
{
	auto_scan struct scan scan = { 0 };
	const struct scan_update *update;
	struct uspl_err note;
	int worst, rc;

	if (opts->html && !disasm_load()) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "'--html' needs libopcodes, which isn't there");
		uspl_hint(err, "it comes with binutils");
		return -USPL_E_UNSUPPORTED;
	}
	if (!lookout_begin(&rc, err))
		return rc;
	confine(CONFINE_LOOK);
	rc = scan_processes(&opts->sel, &scan, err);
	if (rc)
		return rc;
	rc = scan_group(&scan, opts->id, opts->all || opts->id, err);
	if (rc)
		return rc;
	if (scan.skipped)
		log_info("view", "processes that this user may not read: %zu", scan.skipped);
	worst = print_failures(&scan);
	/* Records of one id differ: one of the processes doesn't hold what its record says. */
	vec_for_each (&scan.updates, update) {
		if (update->is_other || !update->same_id)
			continue;
		uspl_fail(&note, USPL_E_HOSTILE,
			  "records of different updates have the id '%s': see whose processes they "
			  "are in",
			  update->region->id);
		uspl_err_note(stderr, &note);
	}
	if (opts->id && !scan.updates.n)
		return worst ? worst : fail_absent(opts, &scan, err);
	rc = print_scan(opts, &scan, err);
	if (rc)
		return rc;
	return worst;
}

/* What debuggers and profilers are to know of a process's new code. */
static int write_symbols(const struct options *opts, struct uspl_err *err)
{
	auto_scan struct scan scan = { 0 };
	auto_buf struct buf out = { 0 };
	int rc;

	if (opts->core) {
		rc = symbols_core(opts->core, &opts->debug, &out, err);
		if (rc)
			return rc;
		return file_write(opts->symbols, out.data, out.len, err);
	}
	if (!opts->symbols)
		confine(CONFINE_LOOK);
	rc = scan_processes(&opts->sel, &scan, err);
	if (rc)
		return rc;
	if (scan.failures.n)
		return print_failures(&scan);
	if (opts->perf_map) {
		symbols_perf(&scan, &out);
		rc = print(&out, err);
	}
	if (rc || !opts->symbols)
		return rc;
	buf_release(&out);
	rc = symbols_elf(&scan, &opts->debug, &out, err);
	if (rc)
		return rc;
	return file_write(opts->symbols, out.data, out.len, err);
}

static int view_symbols(const struct options *opts, struct uspl_err *err)
{
	int rc;

	/* Nobody else may have put anything into it. */
	if (opts->debug.sources && mkdir(opts->debug.sources, 0777) < 0)
		return uspl_fail_errno(err, "cannot make the folder '%s'", opts->debug.sources);
	rc = write_symbols(opts, err);
	/* It stays if there is anything in it. */
	if (opts->debug.sources)
		rmdir(opts->debug.sources);
	return rc;
}

int cmd_view(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	int rc = parse(argc, argv, &opts, err);

	if (rc == CLI_STOP)
		rc = USPL_STATUS_DONE;
	else if (!rc && (opts.symbols || opts.perf_map))
		rc = view_symbols(&opts, err);
	else if (!rc)
		rc = opts.file ? view_file(&opts, err) : view_processes(&opts, err);
	vec_release(&opts.debug.named);
	selection_release(&opts.sel);
	free(opts.id);
	return rc;
}
