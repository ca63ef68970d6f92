// SPDX-License-Identifier: GPL-3.0-or-later
// dpkg.c - what dpkg's database says of the packages that are installed

#include "package/dpkg.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/text.h"

enum { NO_SUCH_PROGRAM = 127, OWNERS_AT_ONCE = 256 };

/* The packages that have programs which not every Debian has. */
static const struct {
	const char *program, *package;
} homes[] = {
	{ "dpkg-source", "dpkg-dev" }, { "dpkg-checkbuilddeps", "dpkg-dev" },
	{ "apt-get", "apt" },          { "apt-cache", "apt" },
	{ "apt-config", "apt" },       { "diff", "diffutils" },
};

int dpkg_run(const char *const *argv, const char *folder, struct buf *out, struct buf *errors,
	     struct uspl_err *err)
{
	int status = subprocess_run(argv, folder, out, errors, err);

	if (status != NO_SUCH_PROGRAM)
		return status;
	uspl_fail(err, USPL_E_SYSTEM, "cannot run '%s'", argv[0]);
	uspl_hint(err,
		  "packages are those of Debian and its relatives; elsewhere give the source's "
		  "diff with --patch");
	for (size_t i = 0; i < ARRAY_SIZE(homes); i++)
		if (!strcmp(homes[i].program, argv[0]))
			uspl_hint(err, "install the package '%s'", homes[i].package);
	return -USPL_E_SYSTEM;
}

const char *dpkg_complaint(struct buf *errors)
{
	char *line = errors->data, *last = NULL;

	if (!line)
		return "it says nothing";
	for (char *rest = line; (line = strsep(&rest, "\n"));) {
		if (!strncmp(line, "E: ", 3))
			return line + 3;
		if (*line)
			last = line;
	}
	return last ? last : "it says nothing";
}

bool dpkg_is_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.");

	return len && len <= 128 && !name[len] && isalnum((unsigned char)name[0]);
}

bool dpkg_is_version(const char *version)
{
	size_t len = strspn(version, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789.+-:~");

	return len && len <= 128 && !version[len] && isdigit((unsigned char)version[0]);
}

/* The next field of a row, which a tab or the row's end ends; allocated. */
static char *take_field(char **row)
{
	char *field = strsep(row, "\t");

	return field ? strdup(field) : NULL;
}

const char *dpkg_folder(void)
{
	const char *set = secure_getenv("DPKG_ADMINDIR");

	return set && *set ? set : "/var/lib/dpkg";
}

/* In these states all files of the version are in their places (dpkg(1), "Package states"). */
static bool has_files(const char *state)
{
	static const char *const states[] = { "installed", "unpacked", "half-configured",
					      "triggers-awaited", "triggers-pending" };

	return TEXT_IS_ONE_OF(state, states);
}

int dpkg_installed(dpkg_packages *ret, struct uspl_err *err)
{
	static const char *const argv[] = {
		"dpkg-query", "-W",
		"-f=${db:Status-Status}\\t${Package}\\t${Architecture}\\t${Version}\\t"
		"${source:Package}\\t${source:Version}\\n",
		NULL
	};
	auto_buf struct buf rows = { 0 };
	auto_buf struct buf errors = { 0 };
	struct dpkg_package *package;
	int status = dpkg_run(argv, NULL, &rows, &errors, err);
	char *rest = rows.data, *row;

	if (status < 0)
		return status;
	if (status && errors.len && !rows.len)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot read dpkg's database: %.300s",
				 buf_str(&errors));
	while (rest && (row = strsep(&rest, "\n"))) {
		const char *state = strsep(&row, "\t");

		if (!row || !has_files(state))
			continue;
		package = vec_push(ret);
		if (!package)
			return uspl_fail_nomem(err);
		package->name = take_field(&row);
		package->arch = take_field(&row);
		package->version = take_field(&row);
		package->source = take_field(&row);
		package->source_version = take_field(&row);
		if (!package->source_version)
			return uspl_fail(err, USPL_E_FILE,
					 "cannot understand what dpkg-query prints");
	}
	return 0;
}

void dpkg_release(dpkg_packages *packages)
{
	struct dpkg_package *package;

	vec_for_each (packages, package) {
		free(package->name);
		free(package->arch);
		free(package->version);
		free(package->source);
		free(package->source_version);
	}
	vec_release(packages);
}

const struct dpkg_package *dpkg_find(const dpkg_packages *packages, const char *name,
				     const char *arch)
{
	const struct dpkg_package *package;

	vec_for_each (packages, package)
		if (!strcmp(package->name, name) && (!*arch || !strcmp(package->arch, arch)))
			return package;
	return NULL;
}

const struct dpkg_package *dpkg_find_any(const dpkg_packages *packages, const char *name)
{
	const struct dpkg_package *package = dpkg_find(packages, name, "");

	if (package)
		return package;
	vec_for_each (packages, package)
		if (!strcmp(package->source, name))
			return package;
	return NULL;
}

int dpkg_is_later(const char *a, const char *b, bool *ret, struct uspl_err *err)
{
	const char *argv[] = { "dpkg", "--compare-versions", a, "gt", b, NULL };
	auto_buf struct buf errors = { 0 };
	int status;

	*ret = false;
	if (!strcmp(a, b))
		return 0;
	status = dpkg_run(argv, NULL, NULL, &errors, err);
	if (status < 0)
		return status;
	if (status > 1)
		return uspl_fail(err, USPL_E_USAGE, "'%s' or '%s' is no version of a package", a,
				 b);
	*ret = status == 0;
	return 0;
}

int dpkg_files(const char *package, struct buf *ret, struct uspl_err *err)
{
	const char *argv[] = { "dpkg-query", "-L", package, NULL };
	int status = dpkg_run(argv, NULL, ret, NULL, err);

	if (status > 0)
		return uspl_fail(err, USPL_E_SYSTEM, "dpkg doesn't know the package '%s'", package);
	return status;
}

/* The status says only that some paths are no package's. */
int dpkg_owners(const cli_strings *paths, struct buf *ret, struct uspl_err *err)
{
	for (size_t at = 0; at < paths->n; at += OWNERS_AT_ONCE) {
		const char *argv[OWNERS_AT_ONCE + 4] = { "dpkg-query", "-S", "--" };
		size_t n = paths->n - at < OWNERS_AT_ONCE ? paths->n - at : OWNERS_AT_ONCE;
		int status;

		memcpy(argv + 3, paths->items + at, n * sizeof(*argv));
		status = dpkg_run(argv, NULL, ret, NULL, err);
		if (status < 0)
			return status;
	}
	return 0;
}

int dpkg_fetch(const char *name, const char *version, const char *folder, bool *ret_there,
	       struct uspl_err *err)
{
	static const char *const unpack[] = { "sh", "-c", "dpkg-deb -x ./*.deb root", NULL };
	auto_buf struct buf word = { 0 };
	auto_buf struct buf errors = { 0 };
	const char *fetch[] = { "apt-get",  "-qq", "-oAPT::Sandbox::User=root",
				"download", NULL,  NULL };
	int status, rc = file_mkdirs(folder, err);

	if (rc)
		return rc;
	buf_addf(&word, "%s=%s", name, version);
	if (word.oom)
		return uspl_fail_nomem(err);
	fetch[4] = buf_str(&word);
	status = dpkg_run(fetch, folder, NULL, &errors, err);
	*ret_there = status == 0;
	if (status > 0)
		log_info("package", "no %s: %s", buf_str(&word), dpkg_complaint(&errors));
	if (status)
		return status < 0 ? status : 0;
	status = dpkg_run(unpack, folder, NULL, &errors, err);
	if (status > 0)
		return uspl_fail(err, USPL_E_FILE, "cannot unpack the package in '%s': %.300s",
				 folder, dpkg_complaint(&errors));
	return status;
}

const char *dpkg_without_epoch(const char *version)
{
	const char *colon = strchr(version, ':');

	return colon ? colon + 1 : version;
}

char *dpkg_source_version(const char *version)
{
	const char *at = strrchr(version, '+');
	size_t len = strlen(version);

	if (at && at[1] == 'b' && isdigit((unsigned char)at[2]) &&
	    !at[2 + strspn(at + 2, "0123456789")])
		len = (size_t)(at - version);
	return strndup(version, len);
}
