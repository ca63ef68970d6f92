// SPDX-License-Identifier: GPL-3.0-or-later
// trace_list.c - uspl-trace list: functions, and how each can be traced

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/demangle.h"
#include "base/json.h"
#include "machine/lookout.h"
#include "record/trace_records.h"
#include "trace/cmd/subcommands.h"
#include "trace/engine/mcount_sites.h"
#include "trace/engine/candidate.h"
#include "trace/output/look.h"

static const char *const kinds[] = {
	[CANDIDATE_NONE] = "none",
	[CANDIDATE_NOPS] = "nops",
	[CANDIDATE_MOVED] = "moved",
};

/* What is printed of one. profiled: it calls mcount. */
typedef void (*candidate_printer)(const struct module *module, const struct candidate *candidate,
				  bool profiled);

static void print_json(const struct module *module, const struct candidate *candidate,
		       bool profiled)
{
	auto_free char *plain = candidate->name ? demangle_symbol(candidate->name) : NULL;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "name", plain);
	json_string(&json, "module", module->name);
	json_address(&json, "address", candidate->entry);
	json_string(&json, "kind", kinds[candidate->kind]);
	json_truth(&json, "traceable", candidate->kind != CANDIDATE_NONE);
	json_truth(&json, "entry_only", candidate->entry_only);
	json_truth(&json, "profiled", profiled);
	json_string(&json, "reason", candidate->kind == CANDIDATE_NONE ? candidate->why : NULL);
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

static void print_text(const struct module *module, const struct candidate *candidate,
		       bool profiled)
{
	auto_free char *plain = candidate->name ? demangle_symbol(candidate->name) : NULL;

	printf("%-6s %-20s 0x%-12" PRIx64 " %s", kinds[candidate->kind], module->name,
	       candidate->entry, plain ? plain : "?");
	if (candidate->kind == CANDIDATE_NONE)
		printf(": %s", candidate->why);
	else if (candidate->entry_only)
		printf(": its entry only");
	if (profiled)
		printf(" (calls mcount, until it is traced)");
	printf("\n");
}

static int list_module(const struct proc *proc, const struct module *module,
		       const struct trace_session *session, candidate_printer print,
		       struct uspl_err *err)
{
	auto_image struct image *image = NULL;
	auto_mcount_sites struct mcount_sites mcount_sites = { 0 };
	auto_vec candidate_vec candidates = { 0 };
	const struct candidate *candidate;
	taddr from;
	int rc = module_image_sparse(proc, module, &image, err);

	if (rc)
		return rc;
	image->forgets = !session->regions.n;
	trace_session_unpatch_image(session, image);
	rc = mcount_sites_find(proc, module, image, &mcount_sites, err);
	if (rc)
		return rc;
	rc = candidates_find(image, &candidates, err);
	if (rc)
		return rc;
	rc = candidates_spare(proc, &candidates, err);
	from = candidates.n ? candidates.items[0].entry : 0;
	vec_for_each (&candidates, candidate) {
		uint8_t len;

		print(module, candidate,
		      mcount_sites_call_in(&mcount_sites, image, candidate->entry, candidate->size,
					   &len) != 0);
		image_forget(image, &from, candidate->entry);
	}
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
	auto_vec cli_strings globs = { 0 };
	bool json = false;
	const struct cli_option table[] = {
		{ 'm', "module", "GLOB", CLI_STRINGS, &globs,
		  "of these modules (default: of the program itself)" },
		{ 0, "json", NULL, CLI_FLAG, &json, "print a JSON object for each function" },
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
	auto_modules module_vec modules = { 0 };
	const struct module *module;
	size_t listed = 0;
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);
	pid_t pid;

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (argc - first != 1)
		return uspl_fail(err, USPL_E_USAGE, "one pid is needed");
	rc = cli_pid(argv[first], &pid, err);
	if (rc)
		return rc;
	/* Whose files these are may keep a reader of them waiting. */
	if (!lookout_begin(&rc, err))
		return rc;
	look_only();
	if (!lookout_may(pid))
		return lookout_fail(pid, 0, err);
	rc = proc_open_readonly(pid, &proc, err);
	if (rc)
		return rc;
	rc = modules_read(proc, &modules, err);
	if (rc)
		return rc;
	rc = trace_session_read(proc, &session, err);
	if (rc)
		return rc;
	vec_for_each (&modules, module) {
		if (module->is_vdso || !is_wanted(&globs, module))
			continue;
		listed++;
		rc = list_module(proc, module, &session, json ? print_json : print_text, err);
		if (rc)
			return rc;
	}
	if (!listed)
		return uspl_fail(err, USPL_E_NO_MODULE, "no module of pid %d is to be listed",
				 proc->pid);
	return 0;
}
