// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_verify.c - check the signatures of updates
/*
 * Nothing of the updates is parsed, only their bytes are compared with what was signed.
 */

#include <string.h>

#include "base/cli.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "command/commands.h"
#include "trust/signature.h"

struct options {
	const char *key;
	bool json;
};

static int parse(int argc, char **argv, struct options *opts, int *ret_first, struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'k', "key", "FILE", CLI_STRING, &opts->key,
		  "only this public key, NAME.pub (default: those of this machine)" },
		{ 0, "json", NULL, CLI_FLAG, &opts->json, "one JSON object an update" },
	};
	const struct cli_command cmd = {
		.name = "uspl-verify",
		.synopsis = "[OPTION]... UPDATE...",
		.summary = "Checks the signatures of updates",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int rc = cli_parse(&cmd, argc, argv, ret_first, err);

	if (rc || *ret_first < argc)
		return rc;
	uspl_fail(err, USPL_E_USAGE, "no update given");
	uspl_hint(err, "try 'uspl-verify --help'");
	return -USPL_E_USAGE;
}

static int verify(const struct options *opts, const struct key *key, const char *path,
		  struct signature_signer *ret, char digest[DIGEST_HEX], struct uspl_err *err)
{
	const struct signature_terms terms = { .required = true, .only = opts->key ? key : NULL };
	auto_buf struct buf data = { 0 }, text = { 0 };
	int rc = file_read(path, &data, err);

	if (rc)
		return rc;
	rc = signature_check_file(path, buf_str(&data), data.len, &terms, ret, &text, err);
	if (rc) {
		uspl_context(err, "'%s'", path);
		return rc;
	}
	digest_hex(buf_str(&data), data.len, digest);
	return 0;
}

static void print_json(const char *path, const struct signature_signer *signer, const char *digest,
		       const struct uspl_err *err)
{
	auto_json struct json json = { 0 };
	char when[CLOCK_UTC_LEN];

	json_open(&json, NULL, '{');
	json_string(&json, "file", path);
	json_truth(&json, "good", !err);
	if (err) {
		json_string(&json, "error", uspl_code_name((int)err->code));
		json_string(&json, "message", err->msg);
	} else {
		clock_utc_text(signer->signed_at, when);
		json_string(&json, "sha256", digest);
		json_string(&json, "key", signer->key);
		json_string(&json, "name", signer->name);
		json_string(&json, "signed", when);
		json_string(&json, "comment", signer->comment);
	}
	json_close(&json, '}');
	printf("%s\n", json_text(&json));
}

int cmd_verify(int argc, char **argv, struct uspl_err *err)
{
	struct options opts = { 0 };
	auto_buf struct buf text = { 0 };
	struct key key = { 0 };
	int first, worst = USPL_STATUS_DONE, rc = parse(argc, argv, &opts, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (opts.key) {
		rc = file_read(opts.key, &text, err);
		if (rc)
			return rc;
		rc = key_read(buf_str(&text), text.len, &key, err);
		if (rc) {
			uspl_context(err, "'%s' is not a public key", opts.key);
			return rc;
		}
	}
	for (int i = first; i < argc; i++) {
		struct signature_signer signer = { 0 };
		struct uspl_err why = { 0 };
		char digest[DIGEST_HEX], when[CLOCK_UTC_LEN];
		int status;

		rc = verify(&opts, &key, argv[i], &signer, digest, &why);
		status = (int)uspl_code_status(rc);
		worst = status > worst ? status : worst;
		if (rc)
			uspl_err_print(stderr, "uspl-verify", &why);
		if (opts.json)
			print_json(argv[i], &signer, digest, rc ? &why : NULL);
		if (rc || opts.json || cli_quiet())
			continue;
		clock_utc_text(signer.signed_at, when);
		printf("%s: good, signed with the key %s (%s) on %s%s%s\n", argv[i], signer.key,
		       signer.name, when, signer.comment[0] ? ": " : "", signer.comment);
	}
	return worst;
}
