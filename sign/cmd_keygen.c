// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_keygen.c - make a key that updates are signed with

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/clock.h"
#include "base/file.h"
#include "command/commands.h"
#include "trust/key.h"

#define SECRET_SUFFIX ".key"
#define DAY_S 86400ll

struct options {
	const char *output, *name;
	int days; /* that the key is good for; 0: it has no end */
};

static int parse(int argc, char **argv, struct options *opts, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'o', "output", "FOLDER", CLI_STRING, &opts->output,
		  "where to write both files (default: .)" },
		{ 0, "days", "N", CLI_INT, &opts->days, "how long it is good (default: no end)" },
	};
	const struct cli_command cmd = {
		.name = "uspl-keygen",
		.synopsis = "[OPTION]... NAME",
		.summary =
			"Makes a key to sign updates with: NAME.key, which is secret, and NAME.pub",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (argc - first == 1) {
		opts->name = argv[first];
		return CLI_GO_ON;
	}
	uspl_fail(err, USPL_E_USAGE, "a key has one name");
	uspl_hint(err, "try 'uspl-keygen --help'");
	return -USPL_E_USAGE;
}

/* A new file: a key that is there is never written over. */
static int write_new(const char *path, const struct buf *text, mode_t mode, struct uspl_err *err)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	int rc;

	if (fd < 0 && errno == EEXIST)
		return uspl_fail(err, USPL_E_CONFLICT, "there is a file '%s' already", path);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot create '%s'", path);
	if (file_write_all(fd, text->data, text->len) == 0 && fsync(fd) == 0)
		return 0;
	rc = uspl_fail_errno(err, "cannot write '%s'", path);
	unlink(path);
	return rc;
}

static int make(const struct options *opts, struct uspl_err *err)
{
	auto_buf struct buf secret_path = { 0 }, public_path = { 0 };
	auto_buf struct buf secret = { 0 }, public_text = { 0 };
	const char *folder = opts->output ? opts->output : ".";
	int64_t end = opts->days ? (int64_t)time(NULL) + opts->days * DAY_S : 0;
	char ignored[CLOCK_UTC_LEN];
	int rc;

	if (!clock_utc_text(end, ignored))
		return uspl_fail(err, USPL_E_USAGE, "'--days=%d' is out of range", opts->days);
	rc = key_make(opts->name, end, &public_text, &secret, err);
	if (rc)
		return rc;
	buf_addf(&secret_path, "%s/%s" SECRET_SUFFIX, folder, opts->name);
	buf_addf(&public_path, "%s/%s" KEY_SUFFIX, folder, opts->name);
	if (secret_path.oom || public_path.oom)
		return uspl_fail_nomem(err);
	rc = write_new(buf_str(&secret_path), &secret, 0600, err);
	explicit_bzero(secret.data, secret.len);
	if (rc)
		return rc;
	rc = write_new(buf_str(&public_path), &public_text, 0644, err);
	if (rc) {
		unlink(buf_str(&secret_path));
		return rc;
	}
	if (!cli_quiet())
		printf("%s\n%s\n", buf_str(&secret_path), buf_str(&public_path));
	return USPL_STATUS_DONE;
}

int cmd_keygen(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	int rc = parse(argc, argv, &opts, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	return make(&opts, err);
}
