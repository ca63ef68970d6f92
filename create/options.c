// SPDX-License-Identifier: GPL-3.0-or-later
// options.c - the command line of uspl-create

#include "create/options.h"

#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "base/file.h"
#include "base/text.h"
#include "create/provenance.h"
#include "create/tree/build.h"
#include "update/update.h"

/* Options as they stand on the command line, where more must be made of them. */
struct option_words {
	cli_strings patches, replaces;
	const char *series, *patch_opt;
	bool squash;
	char **operands; /* of argv, n_operands of them */
	size_t n_operands;
};

static const char *contradiction(const struct create_options *options,
				 const struct option_words *words)
{
	if (options->package_spec && (words->patches.n || options->build.source))
		return "--package brings source and patch: --patch and --source can't be used with "
		       "it";
	if (!options->package_spec != !options->package_to)
		return "--package and --to go together";
	if (words->squash && (words->patches.n || words->series || options->package_spec))
		return "--squash takes its patches from updates: --patch, --series and --package "
		       "can't be used with it";
	if (words->squash && !words->n_operands)
		return "no updates given to be squashed";
	if (!words->patches.n && !words->series && !options->package_spec && !words->squash)
		return "no patch given";
	if (options->package_spec && options->fixed_in)
		return "--fixed-in is what --to says";
	if (words->patches.n && words->series)
		return "--patch and --series can't be used together";
	if (options->build.partly && !words->series && !options->package_spec)
		return "--partly is for --series and --package";
	if (words->series && words->replaces.n)
		return "--replaces is for one update, not for a series";
	if (words->series && options->description)
		return "--description is for one update, not for a series";
	if (options->shadow && strcmp(options->shadow, "auto") != 0)
		return "--shadow can only be 'auto'";
	if (options->shadow && (words->series || options->build.partly))
		return "--shadow=auto is for one update, not for a series";
	if (options->by_thread && options->adopt_data)
		return "--by-thread and --adopt-data can't be used together: initial values change "
		       "for all threads at once";
	if (options->build.keep && options->build.prebuild)
		return "--keep and --prebuild can't be used together";
	return NULL;
}

static int check_words(const struct create_options *options, const struct option_words *words,
		       struct uspl_err *err)
{
	const char *wrong = contradiction(options, words);
	const char *rest = words->squash || !words->n_operands ? NULL : words->operands[0];

	if (!rest && !wrong)
		return CLI_GO_ON;
	if (rest)
		uspl_fail(err, USPL_E_USAGE, "there is no use for '%s'", rest);
	else
		uspl_fail(err, USPL_E_USAGE, "%s", wrong);
	uspl_hint(err, "try 'uspl-create --help'");
	return -USPL_E_USAGE;
}

/* Lines of the table: about shipped files, about other updates, about how it is made. */
/* clang-format off */
#define AGAINST_OPTIONS(against)                                                                   \
	{ 'a', "against", "FILE", CLI_STRINGS, &(against)->paths,                                  \
	  "match this shipped program or library ahead; may be repeated" },                        \
	{ 0, "debuginfo", "FOLDER", CLI_STRING, &(against)->folder,                                \
	  "look for debugging information of these here, too" }
#define WAY_OPTIONS(options)                                                                       \
	{ 0, "adopt-data", NULL, CLI_FLAG, &(options)->adopt_data,                                 \
	  "let processes take over initial values that they still have" },                         \
	{ 0, "shadow", "auto", CLI_STRING, &(options)->shadow,                                     \
	  "let gcc keep new members of a structure beside its objects" },                          \
	{ 0, "by-thread", NULL, CLI_FLAG, &(options)->by_thread,                                   \
	  "let threads go over one by one: old and new code may run side by side" },               \
	{ 0, "explain", NULL, CLI_FLAG, &(options)->explain,                                       \
	  "say for all that is in the update why it is there" },                                   \
	{ 0, "suggest", NULL, CLI_FLAG, &(options)->suggest,                                       \
	  "print code that would do instead of a member that is refused" },                        \
	{ 0, "dry-run", NULL, CLI_FLAG, &(options)->dry_run,                                       \
	  "do everything but write the update" }
#define STACK_OPTIONS(options, words)                                                              \
	{ 0, "after", "UPDATE", CLI_STRINGS, &(options)->against.after,                            \
	  "an update that is applied before this one; may be repeated" },                          \
	{ 0, "replaces", "UPDATE", CLI_STRINGS, &(words)->replaces,                                \
	  "an update whose place this one takes; may be repeated" },                               \
	{ 0, "squash", NULL, CLI_FLAG, &(words)->squash,                                           \
	  "make one update of those given, which takes their place" }
/* clang-format on */

static int parse(int argc, char **argv, struct create_options *options, struct option_words *words,
		 struct uspl_err *err)
{
	struct build_options *build = &options->build;
	/* clang-format off */
	const struct cli_option table[] = {
		{ 'p', "patch", "FILE", CLI_STRINGS, &words->patches,
		  "a source diff ('-': standard input); may be repeated" },
		{ 0, "series", "PATH", CLI_STRING, &words->series,
		  "make an update of each patch of this series, on top of those before" },
		{ 0, "package", "NAME[=VERSION]", CLI_STRING, &options->package_spec,
		  "make it of a package's sources, from VERSION (default: the installed)" },
		{ 0, "to", "VERSION", CLI_STRING, &options->package_to, "... to this version" },
		{ 0, "partly", NULL, CLI_FLAG, &options->build.partly,
		  "make an update of each change, and leave out those that are refused" },
		{ 0, "id", "ID", CLI_STRING, &options->id,
		  "the update's name (default: 8 random characters)" },
		{ 'd', "description", "TEXT", CLI_STRING, &options->description,
		  "one line about it (default: from the diff)" },
		{ 's', "source", "FOLDER", CLI_STRING, &build->source,
		  "the source tree's root (default: .)" },
		{ 'b', "build", "COMMAND", CLI_STRING, &build->command,
		  "how to build it (default: found by itself)" },
		{ 't', "target", "NAME", CLI_STRINGS, &options->wanted.names,
		  "only this program or library; % stands for any text" },
		{ 0, "exclude", "NAME", CLI_STRINGS, &options->wanted.excluded,
		  "not this program or library; as --target" },
		AGAINST_OPTIONS(&options->against),
		STACK_OPTIONS(options, words),
		WAY_OPTIONS(options),
		{ 'j', "jobs", "N", CLI_INT, &build->jobs,
		  "commands to run at once (default: one a processor)" },
		{ 'o', "output", "PATH", CLI_STRING, &options->output,
		  "file or folder to write to (default: uspl-ID.tar.gz)" },
		{ 0, "debug-file", NULL, CLI_FLAG, &options->debug_file,
		  "write the new code's debugging information, too: uspl-ID.debug" },
		{ 0, "sign", "KEY", CLI_STRING, &options->sign,
		  "sign it with this secret key: writes uspl-ID.tar.gz.sig, too" },
		{ 0, "fixed-in", "VERSION", CLI_STRING, &options->fixed_in,
		  "the version of the source package that has the fix, too" },
		{ 0, "patch-opt", "OPTION", CLI_STRING, &words->patch_opt,
		  "an option for patch(1), such as -p2 (default: -p1, else -p0)" },
		{ 0, "keep", "FOLDER", CLI_STRING, &build->keep, "build in this one, and keep it" },
		{ 0, "prebuild", "FOLDER", CLI_STRING, &build->prebuild,
		  "keep the build before the patch here, and use it again" },
	};
	/* clang-format on */
	const struct cli_command cmd = {
		.name = "uspl-create",
		.synopsis = "[OPTION]... --patch=FILE | --series=PATH | --package=NAME | "
			    "--squash UPDATE...",
		.summary = "Make an update from a source diff",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	int first, rc = cli_parse(&cmd, argc, argv, &first, err);

	if (rc)
		return rc;
	words->operands = argv + first;
	words->n_operands = (size_t)(argc - first);
	return check_words(options, words, err);
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

static int add_patch(struct create_options *options, const char *path, const char *name,
		     const char *option, struct uspl_err *err)
{
	struct build_patch *patch = vec_push(&options->build.patches);

	if (!patch)
		return uspl_fail_nomem(err);
	*patch = (struct build_patch){ path, name, option, NULL };
	return 0;
}

static int add_patches(struct create_options *options, const struct option_words *words,
		       struct uspl_err *err)
{
	struct series_patch *listed;
	struct update *const *squashed;
	const char **name;
	int rc = squash_read(&options->squash, words->operands, words->n_operands, err);

	if (rc)
		return rc;
	vec_for_each (&options->squash.updates, squashed) {
		struct build_patch *patch = vec_push(&options->build.patches);

		if (!patch)
			return uspl_fail_nomem(err);
		*patch = (struct build_patch){ (*squashed)->id, NULL, words->patch_opt,
					       (*squashed)->patch };
	}

	vec_for_each (&words->patches, name) {
		rc = add_patch(options, *name, NULL, words->patch_opt, err);
		if (rc)
			return rc;
	}
	if (words->series && !options->package_spec) {
		rc = series_read(words->series, options->build.source, &options->series, err);
		if (rc)
			return rc;
	}
	vec_for_each (&options->series, listed) {
		rc = add_patch(options, listed->path, NULL,
			       listed->option ? listed->option : words->patch_opt, err);
		if (rc)
			return rc;
	}
	options->build.series = words->series || (options->package_spec && options->build.partly);
	options->package_series = words->series;
	return 0;
}

/* Finds out whose place the update takes: what was named, and what it is made of. */
static int read_replaced(struct create_options *options, const struct option_words *words,
			 struct uspl_err *err)
{
	struct update *const *squashed;
	const char *const *word;

	vec_for_each (&words->replaces, word) {
		char *id = NULL;
		int rc = update_named(*word, &id, err);

		if (rc)
			return rc;
		if (!strvec_take(&options->replaced, id))
			return uspl_fail_nomem(err);
	}
	vec_for_each (&options->squash.updates, squashed)
		if (!strvec_add(&options->replaced, (*squashed)->id))
			return uspl_fail_nomem(err);
	return 0;
}

static int check_id(const struct create_options *options, struct uspl_err *err)
{
	auto_free char *last = options_id(options, options->build.patches.n - 1);

	if (!last)
		return uspl_fail_nomem(err);
	if (strvec_has(&options->replaced, last))
		return uspl_fail(err, USPL_E_USAGE, "the update '%s' can't take its own place",
				 last);
	if (update_id_valid(last))
		return 0;
	uspl_fail(err, USPL_E_USAGE, "'%s' can't be an update's id", last);
	uspl_hint(err, "an id has 1 to 63 characters of A-Z, a-z, 0-9, '_', '.' and '-'");
	return -USPL_E_USAGE;
}

static int complete(struct create_options *options, const struct option_words *words,
		    struct uspl_err *err)
{
	bool fixed = false;
	int rc;

	if (!options->build.source && !options->package_spec)
		options->build.source = ".";
	if (!options->build.jobs)
		options->build.jobs = get_nprocs();
	rc = add_patches(options, words, err);
	if (rc)
		return rc;
	rc = read_replaced(options, words, err);
	if (rc)
		return rc;
	rc = provenance_time(&options->created, &fixed, err);
	if (rc)
		return rc;
	options->wanted.reproducible = fixed;
	if (!options->id && !options->package_spec) {
		rc = fixed && provenance_id(options, options->made_id)
			     ? 0
			     : random_id(options->made_id, err);
		if (rc)
			return rc;
		options->id = options->made_id;
	}
	return options->id ? check_id(options, err) : 0;
}

int options_parse(int argc, char **argv, struct create_options *options, struct uspl_err *err)
{
	struct option_words words = { 0 };
	int rc = parse(argc, argv, options, &words, err);

	if (rc == CLI_GO_ON)
		rc = complete(options, &words, err);
	vec_release(&words.patches);
	vec_release(&words.replaces);
	return rc;
}

void options_release(struct create_options *options)
{
	vec_release(&options->build.patches);
	vec_release(&options->wanted.names);
	vec_release(&options->wanted.excluded);
	series_release(&options->series);
	vec_release(&options->against.paths);
	vec_release(&options->against.after);
	strvec_release(&options->replaced);
	squash_release(&options->squash);
	package_release(&options->package);
	free(options->package_id);
	free(options->package_description);
}

static int name_package(struct create_options *options, struct uspl_err *err)
{
	const struct package *package = &options->package;

	/* Room for the numbers of a series. */
	options->package_id = package_id(package->source, package->from, package->to,
					 options->build.series ? OPTIONS_NUMBER_LEN : 0);
	options->package_description = text_format("%s %s, as an update of %s", package->source,
						   package->to, package->from);
	if (!options->package_id || !options->package_description)
		return uspl_fail_nomem(err);
	if (!options->id)
		options->id = options->package_id;
	if (!options->description && !options->build.series)
		options->description = options->package_description;
	return check_id(options, err);
}

int options_fetch(struct create_options *options, struct uspl_err *err)
{
	struct package *package = &options->package;
	const struct series_patch *change;
	char *const *file;
	int rc;

	if (!options->package_spec)
		return 0;
	rc = package_fetch(options->package_spec, options->package_to, options->build.series,
			   options->package_series, package, err);
	if (rc)
		return rc;
	options->build.source = package->tree;
	options->build.origin = package->origin;
	options->against.of_package = true;
	vec_for_each (&package->changes, change) {
		rc = add_patch(options, change->path, file_basename(change->path), change->option,
			       err);
		if (rc)
			return rc;
	}
	vec_for_each (&package->files, file) {
		const char **path = vec_push(&options->against.paths);

		if (!path)
			return uspl_fail_nomem(err);
		*path = *file;
	}
	return name_package(options, err);
}

char *options_id(const struct create_options *options, size_t index)
{
	int digits = snprintf(NULL, 0, "%zu", options->build.patches.n);

	if (!options->build.series)
		return strdup(options->id);
	return text_format("%s-%0*zu", options->id, digits, index + 1);
}

int options_output(const struct create_options *options, const char *id, char **ret,
		   struct uspl_err *err)
{
	const char *output = options->output ? options->output : ".";
	auto_free char *path = NULL;
	auto_free char *folder = NULL;
	struct stat st;

	if (stat(output, &st) == 0 && S_ISDIR(st.st_mode))
		path = !strcmp(output, ".") ? text_format("uspl-%s.tar.gz", id)
					    : text_format("%s/uspl-%s.tar.gz", output, id);
	else if (options->build.series)
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a folder", output);
	else
		path = strdup(output);
	if (!path)
		return uspl_fail_nomem(err);
	folder = strdup(path);
	if (!folder)
		return uspl_fail_nomem(err);
	folder[file_basename(path) - path] = '\0';
	if (access(*folder ? folder : ".", W_OK) < 0)
		return uspl_fail_errno(err, "cannot write '%s'", path);
	*ret = take_ptr(path);
	return 0;
}
