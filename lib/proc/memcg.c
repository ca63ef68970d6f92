// SPDX-License-Identifier: GPL-3.0-or-later
// memcg.c - the limit on memory that a process shares with others (a memory control group)
/*
 * /proc/PID/cgroup has a line for each hierarchy, "ID:CONTROLLERS:PATH"; version 2 is the one with
 * ID 0 and no controllers. PATH is below the hierarchy's root, of which a mount point may show only
 * a part (the "root" in mountinfo). A limit of any group on the way from PATH to there counts.
 */

#include "proc/memcg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* The files of a group, which the versions of the interface call differently. */
struct interface {
	const char *type; /* of the file system */
	const char *limit, *usage;
	const char *file_pages[2]; /* lines of memory.stat: what can be dropped */
};

static const struct interface version_1 = {
	"cgroup",
	"memory.limit_in_bytes",
	"memory.usage_in_bytes",
	{ "total_inactive_file ", "total_active_file " },
};
static const struct interface version_2 = {
	"cgroup2",
	"memory.max",
	"memory.current",
	{ "inactive_file ", "active_file " },
};

/* True if a list of words, separated by commas, has this one. */
static bool has_word(const char *list, size_t len, const char *word)
{
	while (len) {
		size_t n = strcspn(list, ",");

		n = n < len ? n : len;
		if (n == strlen(word) && !memcmp(list, word, n))
			return true;
		n += n < len;
		list += n;
		len -= n;
	}
	return false;
}

/* The path of the process's group in a hierarchy: allocated, NULL if it is in none. */
static char *group_path(const char *text, const struct interface *interface)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *controllers = memchr(text, ':', len);
		const char *path = controllers ? memchr(controllers + 1, ':',
							len - (size_t)(controllers + 1 - text))
					       : NULL;

		if (path && (interface == &version_2
				     ? !strncmp(text, "0::", 3)
				     : has_word(controllers + 1, (size_t)(path - controllers - 1),
						"memory")))
			return strndup(path + 1, len - (size_t)(path + 1 - text));
		text += len + (text[len] == '\n');
	}
	return NULL;
}

/* A hierarchy as it is mounted. */
struct mount {
	char root[1024], point[1024];
};

/*
 * Finds the hierarchy's line in mountinfo (proc(5)): "ID PARENT MAJ:MIN ROOT POINT OPTIONS
 * [FIELD...] - TYPE SOURCE SUPEROPTIONS".
 */
static bool find_mount(const char *text, const struct interface *interface, struct mount *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		auto_free char *line = strndup(text, len);
		const char *rest = line ? strstr(line, " - ") : NULL;
		char type[64], options[1024];

		if (rest && sscanf(rest + 3, "%63s %*s %1023s", type, options) == 2 &&
		    sscanf(line, "%*s %*s %*s %1023s %1023s", ret->root, ret->point) == 2 &&
		    !strcmp(type, interface->type) &&
		    (interface == &version_2 || has_word(options, strlen(options), "memory")))
			return true;
		text += len + (text[len] == '\n');
	}
	return false;
}

static bool read_number(const char *dir, const char *file, uint64_t *ret)
{
	auto_free char *path = file_join(dir, file);
	auto_buf struct buf text = { 0 };

	return path && file_read(path, &text, NULL) == 0 &&
	       sscanf(buf_str(&text), "%" SCNu64, ret) == 1;
}

/* What the kernel can drop when the group needs memory. */
static uint64_t file_pages(const char *dir, const struct interface *interface)
{
	auto_free char *path = file_join(dir, "memory.stat");
	auto_buf struct buf text = { 0 };
	uint64_t sum = 0;

	if (!path || file_read(path, &text, NULL) != 0)
		return 0;
	for (const char *line = buf_str(&text); line && *line;) {
		for (size_t i = 0; i < ARRAY_SIZE(interface->file_pages); i++) {
			const char *name = interface->file_pages[i];

			if (!strncmp(line, name, strlen(name)))
				sum += strtoull(line + strlen(name), NULL, 10);
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return sum;
}

/* A group without a limit has "max" there, or more than any machine has. */
static bool has_room(const char *dir, const struct interface *interface, uint64_t bytes,
		     uint64_t *ret_left)
{
	uint64_t limit, usage, dropped;

	if (!read_number(dir, interface->limit, &limit) ||
	    !read_number(dir, interface->usage, &usage))
		return true;
	/*
	 * Summing up memory.stat takes the kernel longer than all the rest: only where it matters.
	 */
	if (usage <= limit && limit - usage >= bytes)
		return true;
	dropped = file_pages(dir, interface);
	usage -= dropped < usage ? dropped : usage;
	*ret_left = usage < limit ? limit - usage : 0;
	return *ret_left >= bytes;
}

/*
 * The folder of the process's group in a hierarchy, allocated; NULL if there is none that we see.
 */
static char *group_folder(const char *cgroup, const char *mounts, const struct interface *interface,
			  struct mount *mount)
{
	auto_free char *path = group_path(cgroup, interface);
	size_t root;

	if (!path || !find_mount(mounts, interface, mount))
		return NULL;
	root = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
	/* Outside of what we see: "/..", or another part of the tree. */
	if (strstr(path, "/..") || strncmp(path, mount->root, root) != 0)
		return NULL;
	return file_join(mount->point, path + root + (path[root] == '/'));
}

/* A group of the process with its room. */
struct group {
	char *dir;        /* allocated, NULL if none was found */
	const char *name; /* as the hierarchy has it; in dir */
	uint64_t left;
};

/*
 * Finds the first group, from the process's own one upwards, that has less than `bytes` left. False
 * if the hierarchy can't be seen.
 */
static bool find_group(const char *cgroup, const char *mounts, const struct interface *interface,
		       uint64_t bytes, struct group *ret)
{
	struct mount mount;
	auto_free char *dir = group_folder(cgroup, mounts, interface, &mount);

	*ret = (struct group){ 0 };
	if (!dir)
		return false;
	while (dir && strlen(dir) > strlen(mount.point)) {
		if (!has_room(dir, interface, bytes, &ret->left)) {
			ret->dir = take_ptr(dir);
			ret->name = ret->dir + strlen(mount.point);
			return true;
		}
		*strrchr(dir, '/') = '\0';
	}
	return true;
}

static int require(const char *cgroup, const char *mounts, const struct interface *interface,
		   uint64_t bytes, struct uspl_err *err)
{
	struct group group;

	if (!find_group(cgroup, mounts, interface, bytes, &group) || !group.dir)
		return 0;
	uspl_fail(err, USPL_E_MEMORY_LIMIT,
		  "the memory control group '%s' has %" PRIu64 " KiB left, and %" PRIu64
		  " may be needed",
		  group.name, group.left / 1024, bytes / 1024);
	uspl_hint(err,
		  "raise its limit; at the limit the kernel would kill a process of the group");
	free(group.dir);
	return -USPL_E_MEMORY_LIMIT;
}

int memcg_require_in(const char *cgroup, const char *mounts, uint64_t bytes, struct uspl_err *err)
{
	int rc = require(cgroup, mounts, &version_1, bytes, err);

	if (rc)
		return rc;
	return require(cgroup, mounts, &version_2, bytes, err);
}

/* Finds the least that a group of one hierarchy has left. False if the hierarchy can't be seen. */
static bool least_left(const char *cgroup, const char *mounts, const struct interface *interface,
		       uint64_t *least)
{
	struct group group;
	bool seen = find_group(cgroup, mounts, interface, *least, &group);

	while (group.dir) {
		*least = group.left;
		free(group.dir);
		find_group(cgroup, mounts, interface, *least, &group);
	}
	return seen;
}

static bool read_texts(const struct proc *proc, struct buf *cgroup, struct buf *mounts)
{
	return proc_read_file(proc, "cgroup", cgroup, NULL) == 0 &&
	       file_read("/proc/self/mountinfo", mounts, NULL) == 0;
}

bool memcg_left(const struct proc *proc, uint64_t *ret)
{
	auto_buf struct buf cgroup = { 0 }, mounts = { 0 };
	bool seen;

	*ret = MEMCG_NO_LIMIT;
	if (!read_texts(proc, &cgroup, &mounts))
		return false;
	seen = least_left(buf_str(&cgroup), buf_str(&mounts), &version_1, ret);
	return least_left(buf_str(&cgroup), buf_str(&mounts), &version_2, ret) || seen;
}

int memcg_refuse_frozen(const struct proc *proc, struct uspl_err *err)
{
	auto_buf struct buf cgroup = { 0 }, mounts = { 0 }, events = { 0 };
	auto_free char *dir = NULL, *file = NULL;
	struct mount mount;

	if (!read_texts(proc, &cgroup, &mounts))
		return 0;
	dir = group_folder(buf_str(&cgroup), buf_str(&mounts), &version_2, &mount);
	file = dir ? file_join(dir, "cgroup.events") : NULL;
	if (!file || file_read(file, &events, NULL) != 0 || !strstr(buf_str(&events), "frozen 1"))
		return 0;
	uspl_fail(err, USPL_E_UNSTOPPABLE, "pid %d is in the frozen control group '%s'", proc->pid,
		  dir + strlen(mount.point));
	uspl_hint(err, "no thread of it can do anything before the group is thawed");
	return -USPL_E_UNSTOPPABLE;
}

int memcg_require(const struct proc *proc, uint64_t bytes, struct uspl_err *err)
{
	auto_buf struct buf cgroup = { 0 }, mounts = { 0 };

	if (!read_texts(proc, &cgroup, &mounts))
		return 0;
	return memcg_require_in(buf_str(&cgroup), buf_str(&mounts), bytes, err);
}
