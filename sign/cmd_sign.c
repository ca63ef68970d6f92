// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_sign.c - sign updates

#include <time.h>

#include "base/cli.h"
#include "base/file.h"
#include "command/commands.h"
#include "trust/signature.h"
#include "update/update.h"

struct options {
	const char *key, *comment;
};

static int parse(int argc, char **argv, struct options *opts, int *ret_first, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'k', "key", "FILE", CLI_STRING, &opts->key, "the secret key, NAME.key" },
		{ 'c', "comment", "TEXT", CLI_STRING, &opts->comment,
		  "a line that is signed, too, and shown" },
	};
	const struct cli_command cmd = {
		.name = "uspl-sign",
		.synopsis = "--key=FILE [OPTION]... UPDATE...",
		.summary = "Signs updates: writes UPDATE.sig beside each",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, ret_first, err);

	if (rc)
		return rc;
	if (opts->key && *ret_first < argc)
		return CLI_GO_ON;
	uspl_fail(err, USPL_E_USAGE, opts->key ? "no update given" : "no key given");
	uspl_hint(err, opts->key ? "try 'uspl-sign --help'"
				 : "'uspl-keygen NAME' makes one: --key=NAME.key");
	return -USPL_E_USAGE;
}

/* What can't be read as an update isn't signed, and what was read is what is signed. */
static int sign(const struct options *opts, const struct key_secret *secret, const char *path,
		struct uspl_err *err)
{
	auto_free char *beside = signature_path(path);
	auto_update struct update *update = NULL;
	auto_buf struct buf text = { 0 };
	int rc = beside ? update_read_kept(path, &update, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (!update->file.bytes.len)
		return uspl_fail(err, USPL_E_USAGE,
				 "'%s' is an unpacked update: only the file can be signed", path);
	rc = signature_make(update->file.bytes.data, update->file.bytes.len, secret,
			    opts->comment ? opts->comment : "", (int64_t)time(NULL), &text, err);
	if (rc)
		return rc;
	rc = file_write(beside, text.data, text.len, err);
	if (!rc && !cli_quiet())
		printf("%s\n", beside);
	return rc;
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
		rc = sign(&opts, &secret, argv[i], err);
	return rc;
}
