// SPDX-License-Identifier: GPL-3.0-or-later
// alias.c - the names by which a process's program was started, besides that of its file

#include "proc/alias.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/strvec.h"

/* Adds the last part of a path, len long; an empty one isn't a name. */
static int add_name(strvec *aliases, const char *path, size_t len, struct uspl_err *err)
{
	auto_free char *copy = strndup(path, len);

	if (!copy)
		return uspl_fail_nomem(err);
	return !file_basename(copy)[0] || strvec_add(aliases, file_basename(copy))
		       ? 0
		       : uspl_fail_nomem(err);
}

int aliases_read(const struct proc *proc, strvec *ret, struct uspl_err *err)
{
	auto_strvec strvec aliases = { 0 };
	taddr executed = proc_auxv(proc, AT_EXECFN);
	auto_buf struct buf words = { 0 };
	auto_free char *path = NULL;
	int rc;

	if (executed && proc_read_string(proc, executed, PATH_MAX, &path, NULL) == 0) {
		rc = add_name(&aliases, path, strlen(path), err);
		if (rc)
			return rc;
	}
	if (proc_read_file(proc, "cmdline", &words, NULL) == 0) {
		rc = add_name(&aliases, buf_str(&words), strcspn(buf_str(&words), " :"), err);
		if (rc)
			return rc;
	}
	*ret = aliases;
	aliases = (strvec){ 0 };
	return 0;
}
