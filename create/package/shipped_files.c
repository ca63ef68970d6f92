// SPDX-License-Identifier: GPL-3.0-or-later
// shipped_files.c - the programs and libraries of a source package, as the archive ships them

#include "create/package/shipped_files.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "arch/arch.h"
#include "base/file.h"
#include "create/package/source_package.h"
#include "create/tree/tree.h"

static int add_program(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	Elf64_Ehdr header;

	(void)st;
	/*
	 * A program or library for this processor: neither objects nor what holds debugging
	 * information.
	 */
	if (fd < 0 || strstr(path, "/usr/lib/debug/") ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != arch_native()->machine ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return 0;
	return strvec_add(ctx, path) ? 0 : uspl_fail_nomem(err);
}

/* The files of an installed package, where it lies. */
static int add_installed(const char *package, strvec *ret, struct uspl_err *err)
{
	auto_buf struct buf paths = { 0 };
	int rc = dpkg_files(package, &paths, err);
	char *rest = paths.data, *path;

	if (rc)
		return rc;
	while (rest && (path = strsep(&rest, "\n"))) {
		rc = add_program(path, NULL, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int fetch_one(const char *name, const char *version, const char *folder, bool installed,
		     strvec *ret, struct uspl_err *err)
{
	auto_free char *own = file_join(folder, name);
	auto_free char *root = own ? file_join(own, "root") : NULL;
	bool there = false;
	int rc = root ? dpkg_fetch(name, version, own, &there, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (!there)
		return installed ? add_installed(name, ret, err) : 0;
	return tree_walk(root, add_program, ret, err);
}

/* By the .dsc file's Package-List (deb-src-control(5)). */
static int fetch_listed(const struct source_package *source, const char *folder, strvec *ret,
			struct uspl_err *err)
{
	static const char label[] = "\nPackage-List:";
	const char *list = strstr(source->description, label);
	auto_free char *text = strdup(list ? strchr(list + 1, '\n') + 1 : "");
	char *rest = text, *line;

	if (!text)
		return uspl_fail_nomem(err);
	while ((line = strsep(&rest, "\n")) && *line == ' ') {
		int rc = 0;

		/*
		 * "NAME deb SECTION PRIORITY arch=ARCH ...": one with programs for this processor.
		 */
		if (!strstr(line, " deb ") ||
		    (!strstr(line, "arch=any") && !strstr(line, "amd64") &&
		     !strstr(line, "linux-any")))
			continue;
		line++;
		line[strcspn(line, " ")] = '\0';
		if (dpkg_is_name(line))
			rc = fetch_one(line, source->version, folder, false, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

int shipped_files_fetch(const struct source_package *source, const dpkg_packages *installed,
			const char *folder, strvec *ret, struct uspl_err *err)
{
	const struct dpkg_package *package;
	bool any = false;

	vec_for_each (installed, package) {
		int rc;

		if (strcmp(package->source, source->name) != 0 ||
		    strcmp(package->source_version, source->version) != 0 ||
		    !strcmp(package->arch, "all"))
			continue;
		any = true;
		rc = fetch_one(package->name, package->version, folder, true, ret, err);
		if (rc)
			return rc;
	}
	return any ? 0 : fetch_listed(source, folder, ret, err);
}
