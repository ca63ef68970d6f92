// SPDX-License-Identifier: GPL-3.0-or-later
// step_compile.c - the wrapper's compilations, alone and on the way to a link

#include "create/wrapper/steps.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "create/wrapper/again.h"
#include "create/wrapper/link_step.h"
#include "create/wrapper/record_write.h"

/* One source to compile. */
struct job {
	const struct args_word *source;
	const char *object; /* what the compiler writes */
	const char *id;     /* the object's name in the record */
	char *command;      /* what two builds of the same must have in common */
	char *saved;        /* our copy; may be the object itself */
	char *deps;         /* the list of what is included; NULL: there is none */
};

static void job_release(struct job *job)
{
	free(job->command);
	free(job->saved);
	free(job->deps);
}

DEFINE_AUTO_RELEASE(job, struct job, job_release)
#define auto_job __attribute__((cleanup(cleanup_job_)))

static int job_init(struct job *job, const struct tool *tool, const struct args *args,
		    const struct args_word *source, struct uspl_err *err)
{
	const char *dot = strrchr(file_basename(source->text), '.');
	int rc = record_new_object(tool->work, tool->phase, &job->saved, err);

	if (rc)
		return rc;
	job->source = source;
	job->command = tool_command(tool, args);
	if (!job->command)
		return uspl_fail_nomem(err);
	/* Assembler that the preprocessor doesn't see includes nothing that it would list. */
	if (source->kind == ARGS_ASM &&
	    (source->language ? strcmp(source->language, "assembler-with-cpp") != 0
			      : !dot || !strcmp(dot, ".s")))
		return 0;
	job->deps = text_format("%s.d", job->saved);
	if (!job->deps)
		return uspl_fail_nomem(err);
	return 0;
}

/*
 * The options that make code comparable. Of contradicting options the last one wins, so they come
 * at the end.
 */
static int add_code_options(const struct tool *tool, const struct args *args, tool_argv *argv,
			    char **ret_map, struct uspl_err *err)
{
	/* Compressed debugging information would be packed and unpacked for nothing. */
	const char *words[8] = { "-ffunction-sections", "-fdata-sections", "-g", "-gz=none",
				 tool->include };
	size_t n = 5;
	int rc;

	/*
	 * clang describes a class only in the unit that it takes for the class's home; other units,
	 * which the patch may change, then know nothing of its layout.
	 */
	if (tool_is_clang(tool))
		words[n++] = "-fstandalone-debug";
	rc = tool_prefix_map(tool, args, ret_map, err);
	if (rc)
		return rc;
	words[n] = *ret_map;
	return tool_add(argv, words, err);
}

static int add_options(tool_argv *argv, const struct args *args, struct uspl_err *err)
{
	struct args_word *word;

	vec_for_each (&args->words, word) {
		const char *one[] = { word->text, NULL };
		int rc = word->kind == ARGS_OPTION && !args_hides_types(word)
				 ? tool_add(argv, one, err)
				 : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/*
 * gcc names the sections for link-time optimisation by a random number, unless it is given one:
 * then two objects of the same source are the same. Of different sources the numbers must differ.
 * *ret stays NULL where none is needed; the caller frees it.
 */
static int find_seed(const struct tool *tool, const struct args *args, const struct job *job,
		     char **ret, struct uspl_err *err)
{
	auto_free char *source = record_path(job->source->text);
	const struct args_word *word;
	bool needed = false;

	vec_for_each (&args->words, word) {
		if (!strncmp(word->text, "-frandom-seed=", 14))
			return 0;
		needed |= !strncmp(word->text, "-flto", 5);
	}
	if (!needed || !source || tool_is_clang(tool))
		return 0;
	*ret = text_format("-frandom-seed=%s:%s", source, args->output ? args->output : "");
	return *ret ? 0 : uspl_fail_nomem(err);
}

static int run_job(const struct tool *tool, const struct args *args, const struct job *job,
		   int *ret_status, struct uspl_err *err)
{
	const char *language[] = { job->source->language ? "-x" : NULL, job->source->language,
				   NULL };
	const char *files[] = { "-c", job->source->text, "-o", job->object, NULL };
	bool ask = job->deps && !args->own_deps;
	const char *deps[] = { ask ? "-MD" : NULL, "-MF", job->deps, NULL };
	auto_argv tool_argv argv = { 0 };
	auto_free char *map = NULL;
	auto_free char *seed = NULL;
	int rc = add_options(&argv, args, err);

	if (rc)
		return rc;
	rc = tool_add(&argv, language, err);
	if (rc)
		return rc;
	rc = tool_add(&argv, files, err);
	if (rc)
		return rc;
	rc = tool_add(&argv, deps, err);
	if (rc)
		return rc;
	if (job->source->kind == ARGS_SOURCE) {
		const char *more[] = { NULL, NULL };

		rc = add_code_options(tool, args, &argv, &map, err);
		if (rc)
			return rc;
		rc = find_seed(tool, args, job, &seed, err);
		if (rc)
			return rc;
		more[0] = seed;
		rc = tool_add(&argv, more, err);
		if (rc)
			return rc;
		rc = again_write(tool, &argv, job->saved, err);
		if (rc)
			return rc;
	}
	return tool_run(tool, &argv, NULL, ret_status, err);
}

/* A compiler writes one list only: where the build has its own, ours is a copy of that. */
static int keep_deps(const struct args *args, struct job *job, struct uspl_err *err)
{
	const char *dot = strrchr(file_basename(job->object), '.');
	size_t stem = dot ? (size_t)(dot - job->object) : strlen(job->object);
	auto_free char *own = NULL;

	if (!job->deps || !args->own_deps)
		return 0;
	own = args->deps ? strdup(args->deps) : text_format("%.*s.d", (int)stem, job->object);
	if (!own)
		return uspl_fail_nomem(err);
	if (access(own, F_OK) == 0)
		return file_copy(own, job->deps, err);
	free(job->deps);
	job->deps = NULL;
	return 0;
}

static int record_job(const struct tool *tool, const struct job *job, struct uspl_err *err)
{
	auto_buf struct buf line = { 0 };
	auto_free char *source = record_path(job->source->text);
	auto_free char *cwd = record_path(".");

	if (!source || !cwd)
		return uspl_fail_errno(err, "cannot find '%s' any more", job->source->text);
	record_field(&line, "compile");
	record_field(&line, job->id);
	record_field(&line, source);
	record_field(&line, cwd);
	record_field(&line, job->saved);
	record_field(&line, job->deps ? job->deps : "");
	record_field(&line, job->command);
	return record_write(tool->work, tool->phase, &line, err);
}

static int compile_one(const struct tool *tool, const struct args *args,
		       const struct args_word *source, int *ret_status, struct uspl_err *err)
{
	auto_free char *object = args->output && args->n_sources == 1
					 ? strdup(args->output)
					 : args_default_object(source->text);
	auto_job struct job job = { 0 };
	auto_free char *id = NULL;
	int rc = object ? job_init(&job, tool, args, source, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	job.object = object;
	rc = run_job(tool, args, &job, ret_status, err);
	if (rc || *ret_status)
		return rc;
	job.id = id = record_path(object);
	if (!id)
		return uspl_fail_errno(err, "cannot find '%s' any more", object);
	rc = file_copy(object, job.saved, err);
	if (rc)
		return rc;
	rc = keep_deps(args, &job, err);
	if (rc)
		return rc;
	return record_job(tool, &job, err);
}

int step_compile(const struct tool *tool, const struct args *args, int *ret_status,
		 struct uspl_err *err)
{
	struct args_word *word;
	int rc = 0;

	*ret_status = 0;
	vec_for_each (&args->words, word) {
		int status = 0;

		if (word->kind != ARGS_SOURCE && word->kind != ARGS_ASM)
			continue;
		rc = compile_one(tool, args, word, &status, err);
		if (rc)
			return rc;
		/* The compilers go on to the next source too, and remember that one failed. */
		*ret_status = status ? status : *ret_status;
	}
	return 0;
}

int step_translate(const struct tool *tool, const struct args *args, int *ret_status,
		   struct uspl_err *err)
{
	auto_argv tool_argv argv = { 0 };
	auto_free char *map = NULL;
	struct args_word *word;
	int rc = 0;

	vec_for_each (&args->words, word) {
		const char *one[] = { word->text, NULL };

		if (!rc && !args_hides_types(word))
			rc = tool_add(&argv, one, err);
	}
	if (rc)
		return rc;
	rc = add_code_options(tool, args, &argv, &map, err);
	if (rc)
		return rc;
	return tool_run(tool, &argv, NULL, ret_status, err);
}

/*
 * Compiles a source of a command that links at once. The object has no place of its own in the
 * build: the saved copy is the object, "OUTPUT:SOURCE" its name.
 */
static int compile_saved(const struct tool *tool, const struct args *args, struct args_word *source,
			 int *ret_status, struct uspl_err *err)
{
	auto_free char *output = record_path(args->output ? args->output : "a.out");
	auto_job struct job job = { 0 };
	auto_free char *id = NULL;
	int rc = job_init(&job, tool, args, source, err);

	if (rc)
		return rc;
	id = output ? text_format("%s:%s", output, source->text) : NULL;
	if (!id)
		return uspl_fail_nomem(err);
	job.id = id;
	job.object = job.saved;
	rc = run_job(tool, args, &job, ret_status, err);
	if (rc || *ret_status)
		return rc;
	rc = keep_deps(args, &job, err);
	if (rc)
		return rc;
	rc = record_job(tool, &job, err);
	if (rc)
		return rc;
	free(source->text);
	source->text = take_ptr(job.saved);
	source->kind = ARGS_OBJECT;
	return 0;
}

int step_build(const struct tool *tool, struct args *args, int *ret_status, struct uspl_err *err)
{
	struct args_word *word;

	vec_for_each (&args->words, word) {
		int rc;

		if (word->kind != ARGS_SOURCE && word->kind != ARGS_ASM)
			continue;
		rc = compile_saved(tool, args, word, ret_status, err);
		if (rc || *ret_status)
			return rc;
	}
	return link_words(tool, args, ret_status, err);
}
