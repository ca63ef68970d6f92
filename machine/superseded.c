// SPDX-License-Identifier: GPL-3.0-or-later
// superseded.c - whether the packages that are installed have what an update brings

#include "machine/superseded.h"

#include <string.h>

#include "base/log.h"

int superseded_read_installed(dpkg_packages *ret, struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = dpkg_installed(ret, &why);

	if (!rc || rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
		*err = why;
		return rc;
	}
	log_info("superseded", "what is installed isn't known: %s", why.msg);
	dpkg_release(ret);
	return 0;
}

int superseded_by(const struct update *update, const dpkg_packages *installed, const char **ret,
		  struct uspl_err *err)
{
	const struct update_upgrade *upgrade = &update->upgrade;
	const char *version = NULL;
	const struct dpkg_package *package;

	*ret = NULL;
	if (!upgrade->source)
		return 0;
	vec_for_each (installed, package) {
		bool lacks_it;
		int rc;

		if (strcmp(package->source, upgrade->source) != 0)
			continue;
		/* Mostly all are of one version. */
		if (version && !strcmp(version, package->source_version))
			continue;
		rc = dpkg_is_later(upgrade->to, package->source_version, &lacks_it, err);
		if (rc || lacks_it)
			return rc;
		version = package->source_version;
	}
	*ret = version;
	return 0;
}
