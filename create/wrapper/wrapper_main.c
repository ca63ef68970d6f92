// SPDX-License-Identifier: GPL-3.0-or-later
// wrapper_main.c - the compiler wrapper: stands in PATH under the compilers' and linkers' names
//
// A compilation runs with -ffunction-sections -fdata-sections -g added; its object is copied aside
// and noted. A link runs with -t -t added, and what the linker says it took is noted. A command
// that does both is taken apart: each source is compiled to a saved object, then these are linked.
// A launcher's name (ccache) stands for that of the compiler behind it. For everything else, and
// where configure and its like try the compiler out, the wrapper becomes the real tool at once.

#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "create/wrapper/args.h"
#include "create/wrapper/lto.h"
#include "create/wrapper/steps.h"
#include "create/wrapper/tool.h"

/* "ld", "ld.gold", "x86_64-linux-gnu-ld": the names of linkers. */
static bool is_linker(const char *name)
{
	const char *ld = strstr(name, "ld");

	for (; ld; ld = strstr(ld + 1, "ld"))
		if ((ld == name || ld[-1] == '-') && (!ld[2] || ld[2] == '.'))
			return true;
	return false;
}

static int compiler(const struct tool *tool, int argc, char **argv, int *ret_status,
		    struct uspl_err *err)
{
	auto_args struct args args = { 0 };
	struct args_word *word;
	bool headers = false;
	char cwd[PATH_MAX];
	int rc = args_parse(argc, argv, tool->source, tool->tree, &args, err);

	if (rc)
		return rc;
	vec_for_each (&args.words, word)
		headers |= word->kind == ARGS_HEADER;
	if (args.mode <= ARGS_PREPROCESS || !getcwd(cwd, sizeof(cwd)) || args_is_probe(&args, cwd))
		return tool_exec(tool, err);
	if (args.mode == ARGS_ASSEMBLY || (!args.n_sources && headers))
		return step_translate(tool, &args, ret_status, err);
	if (args.mode == ARGS_COMPILE)
		return step_compile(tool, &args, ret_status, err);
	return step_build(tool, &args, ret_status, err);
}

static int run(int argc, char **argv, int *ret_status, struct uspl_err *err)
{
	auto_tool struct tool tool = { 0 };
	int skip = 0, rc;

	if (!strcmp(file_basename(argv[0]), LTO_WRAPPER))
		return lto_step(argc, argv, ret_status, err);
	rc = tool_find(argc, argv, &tool, &skip, err);
	if (rc)
		return rc;
	if (!tool.compiler)
		return tool_exec(&tool, err);
	if (is_linker(tool.compiler))
		return link_step(&tool, argc - skip, argv + skip, ret_status, err);
	return compiler(&tool, argc - skip, argv + skip, ret_status, err);
}

int main(int argc, char **argv)
{
	struct uspl_err err = { 0 };
	int status = 0;
	int rc = run(argc, argv, &status, &err);

	if (rc) {
		uspl_err_print(stderr, "uspl-cc", &err);
		return (int)uspl_code_status(rc);
	}
	return fflush(stdout) ? (int)USPL_STATUS_FAILED : status;
}
