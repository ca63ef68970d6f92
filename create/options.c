// SPDX-License-Identifier: GPL-3.0-or-later
// options.c - the command line of uspl-create

#include "create/options.h"

#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "base/file.h"
#include "update/update.h"

static int parse(int argc, char **argv, struct create_options *options, struct uspl_err *err)
{
	struct build_options *build = &options->build;
	/* clang-format off */
	const struct cli_option table[] = {
		{ 'p', "patch", "FILE", CLI_STRINGS, &build->patches,
		  "a source diff ('-': standard input); may be repeated" },
		{ 0, "id", "ID", CLI_STRING, &options->id,
		  "the update's name (default: 8 random characters)" },
		{ 'd', "description", "TEXT", CLI_STRING, &options->description,
		  "one line about it (default: from the diff)" },
		{ 's', "source", "FOLDER", CLI_STRING, &build->source,
		  "the source tree's root (default: .)" },
		{ 'b', "build", "COMMAND", CLI_STRING, &build->command,
		  "how to build it (default: found by itself)" },
		{ 't', "target", "NAME", CLI_STRINGS, &options->targets,
		  "only this program or library; % stands for any text" },
		{ 'j', "jobs", "N", CLI_INT, &build->jobs,
		  "commands to run at once (default: one a processor)" },
		{ 'o', "output", "PATH", CLI_STRING, &options->output,
		  "file or folder to write to (default: uspl-ID.tar.gz)" },
		{ 0, "explain", NULL, CLI_FLAG, &options->explain,
		  "say for all that is in the update why it is there" },
		{ 0, "dry-run", NULL, CLI_FLAG, &options->dry_run,
		  "do everything but write the update" },
		{ 0, "patch-opt", "OPTION", CLI_STRING, &build->patch_opt,
		  "an option for patch(1), such as -p0 (default: -p1)" },
		{ 0, "keep", "FOLDER", CLI_STRING, &build->keep,
		  "build in this folder, and keep it" },
		{ 0, "prebuild", "FOLDER", CLI_STRING, &build->prebuild,
		  "keep the build before the patch here, and use it again" },
	};
	/* clang-format on */
	const struct cli_command cmd = {
		.name = "uspl-create",
		.synopsis = "[OPTION]... --patch=FILE",
		.summary = "Make an update from a source diff",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	if (first < argc)
		uspl_fail(err, USPL_E_USAGE, "there is no use for '%s'", argv[first]);
	else if (!options->build.patches.n)
		uspl_fail(err, USPL_E_USAGE, "no patch given");
	else if (options->build.keep && options->build.prebuild)
		uspl_fail(err, USPL_E_USAGE, "--keep and --prebuild can't be used together");
	else
		return CLI_GO_ON;
	uspl_hint(err, "try 'uspl-create --help'");
	return -USPL_E_USAGE;
}

static int random_id(char *id, struct uspl_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char bytes[OPTIONS_ID_LEN];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return uspl_fail_errno(err, "cannot get random bytes");
	for (size_t i = 0; i < OPTIONS_ID_LEN; i++)
		id[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	id[OPTIONS_ID_LEN] = '\0';
	return 0;
}

static int complete(struct create_options *options, struct uspl_err *err)
{
	int rc;

	if (!options->build.source)
		options->build.source = ".";
	if (!options->build.jobs)
		options->build.jobs = get_nprocs();
	if (!options->id) {
		rc = random_id(options->random_id, err);
		if (rc)
			return rc;
		options->id = options->random_id;
	}
	if (update_id_valid(options->id))
		return 0;
	uspl_fail(err, USPL_E_USAGE, "'%s' can't be an update's id", options->id);
	uspl_hint(err, "an id has 1 to 63 characters of a-z, 0-9, '_', '.' and '-'");
	return -USPL_E_USAGE;
}

int options_parse(int argc, char **argv, struct create_options *options, struct uspl_err *err)
{
	int rc = parse(argc, argv, options, err);

	return rc == CLI_GO_ON ? complete(options, err) : rc;
}

void options_release(struct create_options *options)
{
	vec_release(&options->build.patches);
	vec_release(&options->targets);
}

int options_output(const struct create_options *options, char **ret, struct uspl_err *err)
{
	const char *output = options->output ? options->output : ".";
	auto_free char *path = NULL;
	auto_free char *folder = NULL;
	struct stat st;
	int len;

	if (stat(output, &st) == 0 && S_ISDIR(st.st_mode))
		len = !strcmp(output, ".")
			      ? asprintf(&path, "uspl-%s.tar.gz", options->id)
			      : asprintf(&path, "%s/uspl-%s.tar.gz", output, options->id);
	else
		len = asprintf(&path, "%s", output);
	if (len < 0) {
		path = NULL;
		return uspl_fail_nomem(err);
	}
	folder = strdup(path);
	if (!folder)
		return uspl_fail_nomem(err);
	folder[file_basename(path) - path] = '\0';
	if (access(*folder ? folder : ".", W_OK) < 0)
		return uspl_fail_errno(err, "cannot write '%s'", path);
	*ret = take_ptr(path);
	return 0;
}
