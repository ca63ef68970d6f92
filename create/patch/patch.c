// SPDX-License-Identifier: GPL-3.0-or-later
// patch.c - applying diffs
//
// The system's patch(1) does it, told to read nothing but unified diffs (it would hand an ed script
// to ed).

#include "create/patch/patch.h"

#include <string.h>

#include "base/subprocess.h"
#include "base/text.h"

bool patch_sets_strip(const struct patch_file *patch)
{
	return patch->option && (text_starts_with(patch->option, "-p") ||
				 text_starts_with(patch->option, "--strip"));
}

static int run_patch(const char *tree, const struct patch_file *patch, struct buf *out,
		     struct uspl_err *err)
{
	const char *argv[16] = { "patch", "-u", "-t", "-N",       "--no-backup-if-mismatch",
				 "-r",    "-",  "-i", patch->path };
	size_t n = 9;

	if (!patch_sets_strip(patch))
		argv[n++] = patch->no_strip ? "-p0" : "-p1";
	if (patch->binary)
		argv[n++] = "--binary";
	if (patch->reverse)
		argv[n++] = "-R";
	if (patch->exact)
		argv[n++] = "-F0";
	if (patch->dry_run)
		argv[n++] = "--dry-run";
	if (patch->option)
		argv[n++] = patch->option;
	return subprocess_run(argv, tree, out, out, err);
}

/* What in patch's output says why it failed. */
static const char *const reasons[] = {
	"FAILED",   "can't find file", "Reversed (or previously applied)",
	"****",     "already exists",  "not supported",
	"Refusing", "dangerous",
};

/* Goes through the output line by line: the last file named, the first reason after it. */
static int explain(char *out, const char *name, struct uspl_err *err)
{
	const char *file = NULL, *reason = NULL;
	char *state = NULL;
	int len;

	for (char *line = strtok_r(out, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		bool named = text_starts_with(line, "checking file ") ||
			     text_starts_with(line, "patching file ");
		bool says = false;

		for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
			says |= strstr(line, reasons[i]) != NULL;

		if (!reason && named)
			file = line + strlen("checking file ");
		else if (!reason && says)
			reason = text_starts_with(line, "patch: **** ") ? line + 12 : line;
		else if (reason && strstr(reason, "can't find file") &&
			 text_starts_with(line, "|+++ "))
			file = line + 5;
	}
	if (!reason)
		reason = "patch gives no reason";
	/* Our messages have no full stop, patch's do. */
	len = (int)strlen(reason);
	if (len && reason[len - 1] == '.')
		len--;
	uspl_fail(err, USPL_E_BUILD, "'%s' doesn't apply: %s%s%.*s", name, file ? file : "",
		  file ? ": " : "", len, reason);
	uspl_hint(err, "is it a diff of this very source? --patch-opt=-pN tells how many leading "
		       "folders to take off its names, --source=FOLDER where they start");
	return -USPL_E_BUILD;
}

int patch_apply(const char *tree, const struct patch_file *patch, struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };
	int status = run_patch(tree, patch, &out, err);

	if (status <= 0)
		return status;
	if (status == 127) {
		uspl_fail(err, USPL_E_BUILD, "cannot run 'patch'");
		uspl_hint(err, "install the package 'patch'");
		return -USPL_E_BUILD;
	}
	buf_addstr(&out, "\n");
	return out.oom ? uspl_fail_nomem(err) : explain(out.data, patch->name, err);
}
