// SPDX-License-Identifier: GPL-3.0-or-later
// supply.c - updates of packages: those that are there, those elsewhere, and those that are made

#include "machine/upgrade/supply.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "machine/upgrade/download.h"

static int read_file(struct supply *supply, const char *path, struct uspl_err *err)
{
	auto_update struct update *update = NULL;
	struct supply_update *item;
	struct uspl_err why = { 0 };
	int rc = update_read(path, &update, &why);

	if (rc == -USPL_E_NOMEM)
		return uspl_fail_nomem(err);
	if (rc) {
		uspl_context(&why, "'%s' is left out", path);
		uspl_err_note(stderr, &why);
		return 0;
	}
	if (!update->upgrade.source)
		return 0;
	item = vec_push(&supply->updates);
	if (!item)
		return uspl_fail_nomem(err);
	item->path = strdup(path);
	return item->path ? index_entry_fill(update, &item->entry, err) : uspl_fail_nomem(err);
}

static int read_folder(struct supply *supply, const char *folder, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir && errno == ENOENT && !supply->from)
		return 0;
	if (!dir)
		return uspl_fail_errno(err, "cannot open '%s'", folder);
	while ((entry = readdir(dir))) {
		auto_free char *path = file_join(folder, entry->d_name);
		int rc = 0;

		if (!path)
			return uspl_fail_nomem(err);
		if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".tar.gz"))
			rc = read_file(supply, path, err);
		if (rc)
			return rc;
	}
	return 0;
}

int supply_open(const char *from, const char *cacert, struct supply *ret, struct uspl_err *err)
{
	struct supply_update *item;
	struct index_entry *entry;
	int rc;

	ret->from = from;
	ret->made = file_in_cache("uspl/upgrades");
	if (!ret->made)
		return uspl_fail_nomem(err);
	if (!from || !download_is_url(from))
		return read_folder(ret, from ? from : ret->made, err);
	rc = remote_open(from, cacert, &ret->remote, err);
	if (rc)
		return rc;
	/* What the index has is moved here. */
	vec_for_each (&ret->remote.entries, entry) {
		item = vec_push(&ret->updates);
		if (!item)
			return uspl_fail_nomem(err);
		item->entry = *entry;
		*entry = (struct index_entry){ 0 };
	}
	return 0;
}

/* The same source package, and version to come to. */
static bool leads_to(const struct supply_update *update, const char *source, const char *to)
{
	return !strcmp(update->entry.upgrade.source, source) &&
	       !strcmp(update->entry.upgrade.to, to);
}

static int by_id(const void *a, const void *b)
{
	const struct supply_update *const *one = a, *const *other = b;

	return strverscmp((*one)->entry.id, (*other)->entry.id);
}

int supply_find(const struct supply *supply, const char *source, const char *from, const char *to,
		supply_set *ret, struct uspl_err *err)
{
	struct supply_update *update;

	vec_for_each (&supply->updates, update) {
		bool is_whole = !update->entry.upgrade.change;
		struct supply_update **slot;

		if (!leads_to(update, source, to) || strcmp(update->entry.upgrade.from, from) != 0)
			continue;
		if (is_whole)
			ret->n = 0;
		slot = vec_push(ret);
		if (!slot)
			return uspl_fail_nomem(err);
		*slot = update;
		if (is_whole)
			return 0;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_id);
	return 0;
}

int supply_fetch(const struct supply *supply, struct supply_update *update, struct uspl_err *err)
{
	const struct update_upgrade *listed = &update->entry.upgrade;
	auto_update struct update *fetched = NULL;
	auto_free char *path = NULL;
	int rc;

	if (update->path)
		return 0;
	rc = remote_fetch(&supply->remote, &update->entry, &path, err);
	if (rc)
		return rc;
	rc = update_read(path, &fetched, err);
	if (rc)
		return rc;
	/* What is in the file is what the index says of it. */
	if (strcmp(fetched->id, update->entry.id) != 0 || !fetched->upgrade.source ||
	    strcmp(fetched->upgrade.source, listed->source) != 0 ||
	    strcmp(fetched->upgrade.from, listed->from) != 0 ||
	    strcmp(fetched->upgrade.to, listed->to) != 0)
		return uspl_fail(err, USPL_E_FILE, "'%s' is another update than the index says",
				 update->entry.file);
	update->path = take_ptr(path);
	return 0;
}

const char *supply_version(const struct supply *supply, const char *source, const char *build_id,
			   const char *to)
{
	const struct supply_update *update;
	char *const *known;

	vec_for_each (&supply->updates, update) {
		if (!leads_to(update, source, to))
			continue;
		vec_for_each (&update->entry.build_ids, known)
			if (!strcmp(*known, build_id))
				return update->entry.upgrade.from;
	}
	return NULL;
}

/* The message without the command's name, and the hint, of what uspl-create printed last. */
static int fail_create(int status, struct buf *errors, struct uspl_err *err)
{
	static const char prog[] = "uspl-create: ", hint[] = "hint: ";
	char *rest = errors->data, *line, *message = NULL, *way_out = NULL;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, prog, strlen(prog)))
			message = line + strlen(prog);
		if (!strncmp(line, hint, strlen(hint)))
			way_out = line + strlen(hint);
	}
	uspl_fail(err,
		  status == USPL_STATUS_REFUSED     ? USPL_E_UNSUPPORTED
		  : status == USPL_STATUS_NO_CHANGE ? USPL_E_NO_CHANGE
						    : USPL_E_BUILD,
		  "%.1400s", message ? message : "uspl-create gives no reason");
	if (way_out)
		uspl_hint(err, "%.1000s", way_out);
	return -(int)err->code;
}

/* The paths are lines of its output, and the last ones. */
static int read_made(struct supply *supply, char *out, struct uspl_err *err)
{
	char *rest = out, *line;
	bool any = false;

	while (rest && (line = strsep(&rest, "\n"))) {
		int rc;

		if (!text_ends_with(line, ".tar.gz"))
			continue;
		any = true;
		rc = read_file(supply, line, err);
		if (rc)
			return rc;
	}
	return any ? 0 : uspl_fail(err, USPL_E_BUG, "uspl-create names no update");
}

/* The whole difference, or what of it can be made; the build of `from` is kept in `built`. */
static int create(struct supply *supply, const char *source, const char *from, const char *to,
		  const char *built, struct uspl_err *err)
{
	const char *argv[] = {
		"/proc/self/exe", "create", "--quiet", NULL, NULL, NULL, NULL, NULL, NULL
	};
	auto_buf struct buf package = { 0 }, goal = { 0 }, output = { 0 }, prebuild = { 0 };
	auto_buf struct buf out = { 0 };
	auto_buf struct buf errors = { 0 };
	int status;

	buf_addf(&package, "--package=%s=%s", source, from);
	buf_addf(&goal, "--to=%s", to);
	buf_addf(&output, "--output=%s", supply->made);
	buf_addf(&prebuild, "--prebuild=%s", built);
	if (package.oom || goal.oom || output.oom || prebuild.oom)
		return uspl_fail_nomem(err);
	argv[3] = buf_str(&package);
	argv[4] = buf_str(&goal);
	argv[5] = buf_str(&output);
	argv[6] = buf_str(&prebuild);
	status = subprocess_run(argv, NULL, &out, &errors, err);
	if (status == USPL_STATUS_REFUSED) {
		errors.len = 0;
		argv[7] = "--partly";
		status = subprocess_run(argv, NULL, &out, &errors, err);
		/* Some changes are left out, which the updates of the others say. */
		if (status == USPL_STATUS_REFUSED && out.len)
			status = USPL_STATUS_DONE;
	}
	if (status < 0)
		return status;
	buf_str(&out);
	return status ? fail_create(status, &errors, err) : read_made(supply, out.data, err);
}

int supply_make(struct supply *supply, const char *source, const char *from, const char *to,
		struct uspl_err *err)
{
	auto_free char *built = NULL;
	int rc = file_mkdirs(supply->made, err);

	if (rc)
		return rc;
	rc = file_make_temporary("uspl-upgrade.", &built, err);
	if (rc)
		return rc;
	rc = create(supply, source, from, to, built, err);
	if (file_remove_tree(built, NULL) != 0)
		fprintf(stderr, "note: cannot remove '%s'\n", built);
	return rc;
}

void supply_release(struct supply *supply)
{
	struct supply_update *update;

	vec_for_each (&supply->updates, update) {
		free(update->path);
		index_entry_release(&update->entry);
	}
	vec_release(&supply->updates);
	remote_release(&supply->remote);
	free(supply->made);
}
