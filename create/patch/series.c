// SPDX-License-Identifier: GPL-3.0-or-later
// series.c - lists of patches, as quilt and Debian keep them

#include "create/patch/series.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

static const char blanks[] = " \t\r\f\v";

static int add_patch(series_patches *patches, const char *folder, const char *name,
		     const char *option, struct uspl_err *err)
{
	struct series_patch *patch = vec_push(patches);

	if (!patch)
		return uspl_fail_nomem(err);
	patch->path = *name == '/' ? strdup(name) : file_join(folder, name);
	patch->option = option ? strdup(option) : NULL;
	return patch->path && (patch->option || !option) ? 0 : uspl_fail_nomem(err);
}

/* ---- what quilt has applied ---- */

/* ---- a series file ---- */

struct series_file {
	const char *path;
	char *folder;
	struct buf applied;
	size_t n_applied;
};

/* "NAME", "NAME -p0"; what follows a '#' after a blank is a comment. */
static int add_line(struct series_file *file, char *line, series_patches *patches,
		    struct uspl_err *err)
{
	char *state = NULL, *name = strtok_r(line, blanks, &state);
	char *option = name ? strtok_r(NULL, blanks, &state) : NULL;
	char *more = option ? strtok_r(NULL, blanks, &state) : NULL;

	if (!name || *name == '#')
		return 0;
	if (option && *option == '#')
		option = NULL;
	else if (option && (strncmp(option, "-p", 2) || (more && *more != '#')))
		return uspl_fail(err, USPL_E_FILE, "'%s': '%s' has an option other than -p",
				 file->path, name);
	if (text_has_word(buf_str(&file->applied), '\n', name)) {
		file->n_applied++;
		return 0;
	}
	return add_patch(patches, file->folder, name, option, err);
}

static int add_lines(struct series_file *file, series_patches *patches, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	char *state = NULL;
	int rc = file_read(file->path, &text, err);

	if (rc)
		return rc;
	if (text.len && memchr(text.data, '\0', text.len))
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a text file", file->path);
	for (char *line = text.len ? strtok_r(text.data, "\n", &state) : NULL; line;
	     line = strtok_r(NULL, "\n", &state)) {
		rc = add_line(file, line, patches, err);
		if (rc)
			return rc;
	}
	if (patches->n)
		return 0;
	return uspl_fail(err, USPL_E_FILE,
			 file->n_applied ? "quilt has applied all patches of '%s' already"
					 : "'%s' names no patch",
			 file->path);
}

static int read_file(const char *path, const char *source, series_patches *patches,
		     struct uspl_err *err)
{
	auto_free char *applied = file_join(source, ".pc/applied-patches");
	struct series_file file = { .path = path };
	const char *name;
	int rc = applied ? 0 : uspl_fail_nomem(err);

	if (applied && access(applied, F_OK) == 0)
		rc = file_read(applied, &file.applied, err);
	name = file_basename(path);
	file.folder = name > path ? strndup(path, (size_t)(name - path) - 1) : strdup(".");
	if (!rc)
		rc = file.folder ? add_lines(&file, patches, err) : uspl_fail_nomem(err);
	free(file.folder);
	buf_release(&file.applied);
	return rc;
}

/* ---- a folder ---- */

static int is_patch(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && dot > entry->d_name && (!strcmp(dot, ".patch") || !strcmp(dot, ".diff"));
}

static int read_folder(const char *path, series_patches *patches, struct uspl_err *err)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_patch, alphasort), rc = 0;

	if (n < 0)
		return uspl_fail_errno(err, "cannot read the folder '%s'", path);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add_patch(patches, path, entries[i]->d_name, NULL, err);
		free(entries[i]);
	}
	free(entries);
	if (rc)
		return rc;
	if (!n)
		return uspl_fail(err, USPL_E_FILE, "'%s' has neither a file 'series' nor patches",
				 path);
	return 0;
}

int series_read(const char *path, const char *source, series_patches *ret, struct uspl_err *err)
{
	auto_series series_patches patches = { 0 };
	auto_free char *list = file_join(path, "series");
	struct stat st;
	int rc;

	if (!list)
		return uspl_fail_nomem(err);
	if (stat(path, &st) < 0)
		return uspl_fail_errno(err, "cannot open the series '%s'", path);
	if (!S_ISDIR(st.st_mode))
		rc = read_file(path, source, &patches, err);
	else if (access(list, F_OK) == 0)
		rc = read_file(list, source, &patches, err);
	else
		rc = read_folder(path, &patches, err);
	if (rc)
		return rc;
	*ret = patches;
	patches = (series_patches){ 0 };
	return 0;
}

void series_release(series_patches *patches)
{
	struct series_patch *patch;

	vec_for_each (patches, patch) {
		free(patch->path);
		free(patch->option);
	}
	vec_release(patches);
}
