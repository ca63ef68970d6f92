// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_sign.c - sign updates

#include <dirent.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/file.h"
#include "base/text.h"
#include "command/commands.h"
#include "trust/signature.h"
#include "update/index.h"
#include "update/update.h"

struct options {
	const char *key, *comment;
	bool index;
};

static int parse(int argc, char **argv, struct options *opts, int *ret_first, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'k', "key", "FILE", CLI_STRING, &opts->key, "the secret key, NAME.key" },
		{ 'c', "comment", "TEXT", CLI_STRING, &opts->comment,
		  "a line that is signed, too, and shown" },
		{ 0, "index", NULL, CLI_FLAG, &opts->index,
		  "write and sign the index of each FOLDER, for uspl-upgrade --from" },
	};
	const struct cli_command cmd = {
		.name = "uspl-sign",
		.synopsis = "--key=FILE [OPTION]... UPDATE...|FOLDER...",
		.summary = "Signs updates: writes UPDATE.sig beside each",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, ret_first, err);

	if (rc)
		return rc;
	if (opts->key && *ret_first < argc)
		return CLI_GO_ON;
	uspl_fail(err, USPL_E_USAGE,
		  !opts->key     ? "no key given"
		  : !opts->index ? "no update given"
				 : "no folder given");
	uspl_hint(err, opts->key ? "try 'uspl-sign --help'"
				 : "'uspl-keygen NAME' makes one: --key=NAME.key");
	return -USPL_E_USAGE;
}

/* Writes PATH.sig for these bytes. */
static int write_signature(const struct options *opts, const struct key_secret *secret,
			   const char *path, const void *data, size_t len, struct uspl_err *err)
{
	auto_free char *beside = signature_path(path);
	auto_buf struct buf text = { 0 };
	int rc = beside ? signature_make(data, len, secret, opts->comment ? opts->comment : "",
					 (int64_t)time(NULL), &text, err)
			: uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = file_write(beside, text.data, text.len, err);
	if (!rc && !cli_quiet())
		printf("%s\n", beside);
	return rc;
}

/* What can't be read as an update isn't signed, and what was read is what is signed. */
static int sign(const struct options *opts, const struct key_secret *secret, const char *path,
		struct uspl_err *err)
{
	auto_update struct update *update = NULL;
	int rc = update_read_kept(path, &update, err);

	if (rc)
		return rc;
	if (!update->file.bytes.len)
		return uspl_fail(err, USPL_E_USAGE,
				 "'%s' is an unpacked update: only the file can be signed", path);
	return write_signature(opts, secret, path, update->file.bytes.data, update->file.bytes.len,
			       err);
}

/* An update that isn't of a package's versions is of no use to uspl-upgrade. */
static int add_entry(const char *folder, const char *name, index_entries *entries,
		     struct uspl_err *err)
{
	auto_free char *path = file_join(folder, name);
	auto_free char *beside = path ? signature_path(path) : NULL;
	auto_update struct update *update = NULL;
	struct index_entry *entry;
	int rc = beside ? update_read_kept(path, &update, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (!update->upgrade.source || !update->file.bytes.len) {
		fprintf(stderr, "note: '%s' is left out, since it isn't %s\n", path,
			update->upgrade.source ? "a file" : "made of a package");
		return 0;
	}
	entry = vec_push(entries);
	if (!entry)
		return uspl_fail_nomem(err);
	entry->file = strdup(name);
	entry->sha256 = strdup(update->file.digest);
	entry->size = update->file.bytes.len;
	entry->has_signature = access(beside, F_OK) == 0;
	if (!entry->file || !entry->sha256)
		return uspl_fail_nomem(err);
	return index_entry_fill(update, entry, err);
}

static int is_update(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".tar.gz");
}

/* One that is damaged is no reason to sign an index without it: then there is none. */
static int sign_index(const struct options *opts, const struct key_secret *secret,
		      const char *folder, struct uspl_err *err)
{
	auto_free char *path = file_join(folder, INDEX_NAME);
	auto_index index_entries entries = { 0 };
	auto_buf struct buf text = { 0 };
	struct dirent **found = NULL;
	int n = path ? scandir(folder, &found, is_update, alphasort) : 0, rc = 0;

	if (!path)
		return uspl_fail_nomem(err);
	if (n < 0)
		return uspl_fail_errno(err, "cannot read the folder '%s'", folder);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add_entry(folder, found[i]->d_name, &entries, err);
		free(found[i]);
	}
	free(found);
	if (!rc)
		rc = index_write(&entries, &text, err);
	if (!rc)
		rc = file_write(path, text.data, text.len, err);
	if (rc)
		return rc;
	if (!cli_quiet())
		printf("%s\n", path);
	return write_signature(opts, secret, path, text.data, text.len, err);
}

int cmd_sign(int argc, char **argv, struct uspl_err *err)
{
	auto_key_secret struct key_secret secret = { 0 };
	struct options opts = { 0 };
	int first, rc = parse(argc, argv, &opts, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	rc = key_secret_read(opts.key, &secret, err);
	for (int i = first; !rc && i < argc; i++)
		rc = (opts.index ? sign_index : sign)(&opts, &secret, argv[i], err);
	return rc;
}
