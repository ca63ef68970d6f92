// SPDX-License-Identifier: GPL-3.0-or-later
// list.c - uspl-trace list: functions, and how each can be traced; and status: what is traced where

#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "trace/trace.h"
#include "tracing/spot.h"

static const char *const kinds[] = {
	[SPOT_NONE] = "none",
	[SPOT_NOPS] = "nops",
	[SPOT_MOVED] = "moved",
};

static void print_spot(const struct module *module, const struct spot *spot)
{
	auto_free char *plain = spot->name ? demangle_name(spot->name) : NULL;

	printf("%-6s %-20s 0x%-12" PRIx64 " %s", kinds[spot->kind], module->name, spot->entry,
	       plain ? plain : "?");
	if (spot->kind == SPOT_NONE)
		printf(": %s", spot->why);
	else if (spot->entry_only)
		printf(": its entry only");
	printf("\n");
}

static int list_module(const struct proc *proc, const struct module *module,
		       const struct trace_session *session, struct uspl_err *err)
{
	struct image *image = NULL;
	spot_vec spots = { 0 };
	const struct spot *spot;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		session_lay_under(session, image);
	if (!rc)
		rc = spots_find(image, &spots, err);
	if (!rc)
		rc = spots_spare(proc, &spots, err);
	vec_for_each (&spots, spot)
		print_spot(module, spot);
	vec_release(&spots);
	image_free(image);
	return rc;
}

static bool is_wanted(const cli_strings *globs, const struct module *module)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->items[i], module->name, 0))
			return true;
	return !globs->n && module->is_main;
}

int trace_list(int argc, char **argv, struct uspl_err *err)
{
	cli_strings globs = { 0 };
	const struct cli_option table[] = {
		{ 'm', "module", "GLOB", CLI_STRINGS, &globs,
		  "of these modules (default: of the program itself)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace list",
		.synopsis = "[OPTION]... PID",
		.summary = "Lists functions, and how each can be traced or why not",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	auto_proc struct proc *proc = NULL;
	auto_session struct trace_session session = { 0 };
	module_vec modules = { 0 };
	const struct module *module;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);
	pid_t pid;

	if (!rc && argc - first != 1)
		rc = uspl_fail(err, USPL_E_USAGE, "one pid is needed");
	if (!rc)
		rc = cli_pid(argv[first], &pid, err);
	if (!rc)
		rc = proc_open_readonly(pid, &proc, err);
	if (!rc)
		rc = modules_read(proc, &modules, err);
	if (!rc)
		rc = session_read(proc, &session, err);
	vec_for_each (&modules, module)
		if (!rc && !module->is_vdso && is_wanted(&globs, module))
			rc = list_module(proc, module, &session, err);
	modules_release(&modules);
	vec_release(&globs);
	return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
}

static void print_status(const struct proc *proc, const struct trace_session *session)
{
	const struct trace_region *region;
	size_t sites = 0;

	vec_for_each (&session->regions, region)
		sites += region->sites.n;
	printf("%-8d %-16s %-10s %-10s %zu\n", proc->pid, proc->comm, tracer_of(session)->name,
	       session_is_on(session) ? "on" : "draining", sites);
}

/* One process; none of what is wrong with it matters to the others. */
static bool show(pid_t pid, bool *ret_any)
{
	auto_proc struct proc *proc = NULL;
	auto_session struct trace_session session = { 0 };

	if (proc_open_readonly(pid, &proc, NULL) || session_read(proc, &session, NULL))
		return false;
	if (session.regions.n && !*ret_any)
		printf("%-8s %-16s %-10s %-10s %s\n", "PID", "COMMAND", "TRACER", "STATE",
		       "FUNCTIONS");
	if (session.regions.n)
		print_status(proc, &session);
	*ret_any |= session.regions.n > 0;
	return true;
}

int trace_status(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_command cmd = {
		.name = "uspl-trace status",
		.synopsis = "",
		.summary = "Shows which processes are traced",
	};
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;
	bool any = false;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (first < argc)
		return uspl_fail(err, USPL_E_USAGE, "unexpected operand '%s'", argv[first]);
	dir = opendir("/proc");
	if (!dir)
		return uspl_fail_errno(err, "cannot open '/proc'");
	while ((entry = readdir(dir)))
		if (atol(entry->d_name) > 0)
			show((pid_t)atol(entry->d_name), &any);
	return USPL_STATUS_DONE;
}
