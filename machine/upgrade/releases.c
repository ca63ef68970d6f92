// SPDX-License-Identifier: GPL-3.0-or-later
// releases.c - the versions of packages: installed, offered, and those that processes run

#include "machine/upgrade/releases.h"

#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/note.h"

int releases_open(struct releases *ret, struct uspl_err *err)
{
	return dpkg_installed(&ret->installed, err);
}

const char *releases_source(const struct releases *releases, const char *name)
{
	const struct dpkg_package *package = dpkg_find_any(&releases->installed, name);

	return package ? package->source : NULL;
}

/* ---- the files that run ---- */

/* dpkg-query takes other characters for a pattern; no package has such files. */
static bool is_plain(const char *path)
{
	return !strpbrk(path, "*?[]\\\n");
}

/*
 * /bin and /lib lead to /usr/bin and /usr/lib, and a process's maps have where they lead to; a
 * package's list may have the other.
 */
static const char *without_usr(const char *path)
{
	static const char *const merged[] = { "/usr/bin/", "/usr/sbin/", "/usr/lib" };

	for (size_t i = 0; i < ARRAY_SIZE(merged); i++)
		if (!strncmp(path, merged[i], strlen(merged[i])))
			return path + strlen("/usr");
	return NULL;
}

static int add_path(const char *path, cli_strings *ret, struct uspl_err *err)
{
	const char **slot = path ? vec_push(ret) : NULL;

	if (slot)
		*slot = path;
	return slot || !path ? 0 : uspl_fail_nomem(err);
}

/* Each path once. */
static int list_paths(struct releases *releases, const struct running *running, cli_strings *ret,
		      struct uspl_err *err)
{
	const struct running_process *process;
	const struct running_module *module;

	vec_for_each (&running->processes, process)
		vec_for_each (&process->modules, module) {
			int rc;

			if (!is_plain(module->path) || strmap_get(&releases->on_disk, module->path))
				continue;
			if (!strmap_set(&releases->on_disk, module->path, strdup("")))
				return uspl_fail_nomem(err);
			rc = add_path(module->path, ret, err);
			if (!rc)
				rc = add_path(without_usr(module->path), ret, err);
			if (rc)
				return rc;
		}
	return 0;
}

/* A line "NAME[:ARCH][, NAME...]: PATH"; of several packages, the first. */
static int take_owner(struct releases *releases, char *line, struct uspl_err *err)
{
	char *path = strstr(line, ": /"), *arch;
	const struct dpkg_package *package;

	if (!path || !strncmp(line, "diversion by ", 13))
		return 0;
	*path = '\0';
	path += 2;
	line[strcspn(line, ",")] = '\0';
	arch = strchr(line, ':');
	if (arch)
		*arch++ = '\0';
	package = dpkg_find(&releases->installed, line, arch ? arch : "");
	if (package && !strmap_set(&releases->owners, path, (void *)(uintptr_t)package))
		return uspl_fail_nomem(err);
	return 0;
}

const struct dpkg_package *releases_owner(const struct releases *releases, const char *path)
{
	const struct dpkg_package *owner = strmap_get(&releases->owners, path);
	const char *other = without_usr(path);

	return owner || !other ? owner : strmap_get(&releases->owners, other);
}

bool releases_is_on_disk(const struct releases *releases, const struct running_module *module)
{
	const char *build_id = strmap_get(&releases->on_disk, module->path);

	return build_id && !strcmp(build_id, module->build_id);
}

/* ---- what is offered ---- */

static void free_release(struct release *release)
{
	if (!release)
		return;
	free(release->source);
	free(release->installed);
	free(release->newest);
	free(release);
}

static int add_source(struct releases *releases, const struct dpkg_package *package,
		      struct uspl_err *err)
{
	struct release *release;

	if (strmap_get(&releases->sources, package->source))
		return 0;
	release = calloc(1, sizeof(*release));
	if (!release)
		return uspl_fail_nomem(err);
	release->source = strdup(package->source);
	release->installed = strdup(package->source_version);
	release->newest = strdup(package->source_version);
	if (!release->source || !release->installed || !release->newest ||
	    !strmap_set(&releases->sources, package->source, release)) {
		free_release(release);
		return uspl_fail_nomem(err);
	}
	return 0;
}

const struct release *releases_of(const struct releases *releases, const char *source)
{
	return strmap_get(&releases->sources, source);
}

/* A stanza of what apt-cache show prints: the package that an upgrade would install. */
static int take_offer(struct releases *releases, const char *name, const char *version,
		      const char *source_line, struct uspl_err *err)
{
	const char *bracket = strchr(source_line, '(');
	const char *source = releases_source(releases, name);
	struct release *release = source ? strmap_get(&releases->sources, source) : NULL;
	auto_free char *offered =
		bracket ? strndup(bracket + 1, strcspn(bracket + 1, ")")) : strdup(version);
	auto_free char *own = offered ? dpkg_source_version(offered) : NULL;
	bool later = false;
	int rc;

	if (!own)
		return uspl_fail_nomem(err);
	if (!release || !dpkg_is_version(own))
		return 0;
	rc = dpkg_is_later(own, release->newest, &later, err);
	if (rc || !later)
		return rc;
	free(release->newest);
	release->newest = take_ptr(own);
	return 0;
}

static const char *field_of(const char *line, const char *label)
{
	size_t len = strlen(label);

	return strncmp(line, label, len) ? NULL : line + len;
}

static int take_offers(struct releases *releases, char *text, struct uspl_err *err)
{
	const char *name = NULL, *version = NULL, *source = "", *value;
	char *rest = text, *line;

	while (rest) {
		int rc;

		line = strsep(&rest, "\n");
		if ((value = field_of(line, "Package: ")))
			name = value;
		else if ((value = field_of(line, "Version: ")))
			version = value;
		else if ((value = field_of(line, "Source: ")))
			source = value;
		if (*line && rest)
			continue;
		rc = name && version ? take_offer(releases, name, version, source, err) : 0;
		if (rc)
			return rc;
		name = version = NULL;
		source = "";
	}
	return 0;
}

/* A machine without apt, or a package that no archive has: what is installed is the newest. */
static int read_offers(struct releases *releases, struct uspl_err *err)
{
	auto_vec cli_strings words = { 0 };
	auto_strmap struct strmap seen = { 0 };
	auto_buf struct buf text = { 0 };
	const char *start[] = { "apt-cache", "show", "--no-all-versions" };
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(start) && !rc; i++)
		rc = add_path(start[i], &words, err);
	for (size_t i = 0; i < releases->owners.cap && !rc; i++) {
		const struct dpkg_package *package = releases->owners.slots[i].value;

		if (!releases->owners.slots[i].key || strmap_get(&seen, package->name))
			continue;
		rc = add_source(releases, package, err);
		if (!rc)
			rc = add_path(package->name, &words, err);
		if (!rc && !strmap_set(&seen, package->name, &seen))
			rc = uspl_fail_nomem(err);
	}
	if (rc)
		return rc;
	if (!seen.n)
		return 0;
	/* The end of the list of words. */
	if (!vec_push(&words))
		return uspl_fail_nomem(err);
	rc = dpkg_run(words.items, NULL, &text, NULL, err);
	if (rc < 0)
		return rc;
	return text.len ? take_offers(releases, text.data, err) : 0;
}

int releases_read(struct releases *releases, const struct running *running, struct uspl_err *err)
{
	auto_vec cli_strings paths = { 0 };
	auto_buf struct buf owners = { 0 };
	char *rest, *line;
	int rc = list_paths(releases, running, &paths, err);

	if (rc)
		return rc;
	rc = dpkg_owners(&paths, &owners, err);
	if (rc)
		return rc;
	for (rest = owners.data; rest && (line = strsep(&rest, "\n"));) {
		rc = take_owner(releases, line, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < paths.n; i++) {
		const char *path = paths.items[i];
		char *known = strmap_get(&releases->on_disk, path), *build_id = NULL;
		auto_close int fd = -1;

		/* A package's file is root's, and can be read without fear. */
		if (known && releases_owner(releases, path))
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			build_id = note_read_build_id(fd);
		if (!build_id)
			continue;
		free(known);
		if (!strmap_set(&releases->on_disk, path, build_id))
			return uspl_fail_nomem(err);
	}
	return read_offers(releases, err);
}

/* ---- which version a build-id is of ---- */

/* Notes the build-ids of all programs and libraries below a folder. */
static int note_files(struct releases *releases, char *folder, const char *version,
		      struct uspl_err *err)
{
	char *roots[] = { folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int rc = tree ? 0 : uspl_fail_errno(err, "cannot read '%s'", folder);

	while (!rc && (entry = fts_read(tree))) {
		auto_close int fd =
			entry->fts_info == FTS_F ? open(entry->fts_path, O_RDONLY | O_CLOEXEC) : -1;
		auto_free char *build_id = fd < 0 ? NULL : note_read_build_id(fd);
		char *copy;

		if (!build_id || strmap_get(&releases->archived, build_id))
			continue;
		copy = strdup(version);
		if (!copy || !strmap_set(&releases->archived, build_id, copy)) {
			free(copy);
			rc = uspl_fail_nomem(err);
		}
	}
	if (tree)
		fts_close(tree);
	return rc;
}

static int look_into_version(struct releases *releases, const char *name, const char *version,
			     struct uspl_err *err)
{
	auto_free char *folder = NULL, *root = NULL, *source = NULL;
	bool there = false;
	int rc = file_make_temporary("uspl-upgrade.", &folder, err);

	if (rc)
		return rc;
	log_info("upgrade", "looking into %s=%s", name, version);
	root = file_join(folder, "root");
	source = dpkg_source_version(version);
	rc = root && source ? dpkg_fetch(name, version, folder, &there, err) : uspl_fail_nomem(err);
	if (!rc && there)
		rc = note_files(releases, root, source, err);
	else if (rc == -USPL_E_FILE) /* a version that can't be fetched isn't known */
		rc = 0;
	if (file_remove_tree(folder, NULL) != 0)
		log_info("upgrade", "cannot remove '%s'", folder);
	return rc;
}

/* Lines "NAME | VERSION | WHERE" of apt-cache madison. */
static int look_into_all(struct releases *releases, const struct dpkg_package *owner,
			 struct uspl_err *err)
{
	const char *argv[] = { "apt-cache", "madison", owner->name, NULL };
	auto_buf struct buf text = { 0 };
	int rc = dpkg_run(argv, NULL, &text, NULL, err);
	char *rest = text.data, *line;

	while (rc >= 0 && rest && (line = strsep(&rest, "\n"))) {
		char *version = strchr(line, '|');

		if (!version || !strstr(line, "Packages"))
			continue;
		version += 1 + strspn(version + 1, " ");
		version[strcspn(version, " |")] = '\0';
		if (dpkg_is_version(version) && strcmp(version, owner->version) != 0)
			rc = look_into_version(releases, owner->name, version, err);
	}
	return rc < 0 ? rc : 0;
}

int releases_find_archived(struct releases *releases, const struct dpkg_package *owner,
			   const char *build_id, const char **ret, struct uspl_err *err)
{
	int rc;

	*ret = "";
	if (!*build_id)
		return 0;
	if (!strmap_get(&releases->archived, build_id) &&
	    !strmap_get(&releases->fetched, owner->name)) {
		if (!strmap_set(&releases->fetched, owner->name, releases))
			return uspl_fail_nomem(err);
		rc = look_into_all(releases, owner, err);
		if (rc)
			return rc;
	}
	if (strmap_get(&releases->archived, build_id))
		*ret = strmap_get(&releases->archived, build_id);
	return 0;
}

static void free_values(struct strmap *map)
{
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].key)
			free(map->slots[i].value);
	strmap_release(map);
}

void releases_release(struct releases *releases)
{
	for (size_t i = 0; i < releases->sources.cap; i++)
		if (releases->sources.slots[i].key)
			free_release(releases->sources.slots[i].value);
	strmap_release(&releases->sources);
	free_values(&releases->on_disk);
	free_values(&releases->archived);
	strmap_release(&releases->owners);
	strmap_release(&releases->fetched);
	dpkg_release(&releases->installed);
}
