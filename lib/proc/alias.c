// SPDX-License-Identifier: GPL-3.0-or-later
// alias.c - the names by which a process's program was started, besides that of its file

#include "proc/alias.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* Adds the last part of a path, len long; an empty one isn't a name. */
static int add_name(alias_vec *aliases, const char *path, size_t len, struct uspl_err *err)
{
	auto_free char *copy = strndup(path, len);
	char **slot;

	if (!copy)
		return uspl_fail_nomem(err);
	if (!file_basename(copy)[0])
		return 0;
	slot = vec_push(aliases);
	if (!slot)
		return uspl_fail_nomem(err);
	*slot = strdup(file_basename(copy));
	return *slot ? 0 : uspl_fail_nomem(err);
}

static int add_executed(const struct proc *proc, alias_vec *aliases, struct uspl_err *err)
{
	uint64_t addr = proc_auxv(proc, AT_EXECFN);
	auto_free char *path = NULL;

	if (!addr || proc_read_string(proc, addr, PATH_MAX, &path, NULL) != 0)
		return 0;
	return add_name(aliases, path, strlen(path), err);
}

static int add_title(const struct proc *proc, alias_vec *aliases, struct uspl_err *err)
{
	auto_buf struct buf words = { 0 };

	if (proc_read_file(proc, "cmdline", &words, NULL) != 0)
		return 0;
	return add_name(aliases, buf_str(&words), strcspn(buf_str(&words), " :"), err);
}

int aliases_read(const struct proc *proc, alias_vec *ret, struct uspl_err *err)
{
	auto_aliases alias_vec aliases = { 0 };
	int rc = add_executed(proc, &aliases, err);

	if (rc)
		return rc;
	rc = add_title(proc, &aliases, err);
	if (rc)
		return rc;
	*ret = aliases;
	aliases = (alias_vec){ 0 };
	return 0;
}

void aliases_release(alias_vec *aliases)
{
	char **alias;

	vec_for_each (aliases, alias)
		free(*alias);
	vec_release(aliases);
}
