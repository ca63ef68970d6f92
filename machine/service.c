// SPDX-License-Identifier: GPL-3.0-or-later
// service.c - the processes of a systemd unit: those in its control group
/*
 * /proc/PID/cgroup has a line "ID:CONTROLLERS:PATH" for each hierarchy (cgroups(7)). systemd makes
 * the group of a unit with the unit's name, in version 2 and in its own hierarchy of version 1
 * ("name=systemd"), and where a unit has limits in those of the controllers, too. So all lines are
 * looked at: machines without systemd may have a control group in one of them only.
 */

#include "machine/service.h"

#include <string.h>

/* What the names of units that have processes end in (systemd.unit(5)). */
static const char *const suffixes[] = { ".service", ".scope", ".slice", ".socket",
					".mount",   ".swap",  ".timer" };

static bool ends_in(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(text + len - n, end, n);
}

static bool has_suffix(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (ends_in(name, strlen(name), suffixes[i]))
			return true;
	return false;
}

/* True if a part of a path, len long, is the unit's name. */
static bool is_name(const char *part, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len < n || memcmp(part, name, n) != 0)
		return false;
	return len == n || (!has_suffix(name) && len == n + strlen(".service") &&
			    !memcmp(part + n, ".service", len - n));
}

static bool path_has_part(const char *path, size_t len, const char *name, bool system)
{
	for (size_t at = 0; at < len;) {
		const char *part = path + at;
		size_t n = 0;

		while (at + n < len && part[n] != '/')
			n++;
		if (n && is_name(part, n, name))
			return true;
		/* Behind the manager of a user's own units are those units. */
		if (system && n > 5 && !memcmp(part, "user@", 5) && ends_in(part, n, ".service"))
			return false;
		at += n + 1;
	}
	return false;
}

/* True for the group of that path, and those below. */
static bool path_is_below(const char *path, size_t len, const char *group)
{
	size_t n = strlen(group);

	while (n && group[n - 1] == '/')
		n--;
	return len >= n && !memcmp(path, group, n) && (len == n || path[n] == '/');
}

bool service_has(const char *text, const char *name, bool system)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *end = text + len, *path = memchr(text, ':', len);

		path = path ? memchr(path + 1, ':', (size_t)(end - path) - 1) : NULL;
		if (path && *name == '/' && path_is_below(path + 1, (size_t)(end - path) - 1, name))
			return true;
		if (path && *name != '/' &&
		    path_has_part(path + 1, (size_t)(end - path) - 1, name, system))
			return true;
		text = *end ? end + 1 : end;
	}
	return false;
}
