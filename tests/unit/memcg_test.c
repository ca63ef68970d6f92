// SPDX-License-Identifier: GPL-3.0-or-later
// memcg_test.c - which memory control group is nearly full; the groups are folders made for the
// test

#include <unistd.h>

#include "base/file.h"
#include "proc/memcg.h"
#include "tap.h"

#define KIB 1024u

static char top[] = "/tmp/uspl-test-XXXXXX";

/* Writes a file of a group below the folder of the test. */
static void put(const char *path, const char *text)
{
	auto_free char *full = file_join(top, path), *dir = strdup(full);

	*strrchr(dir, '/') = '\0';
	if (file_mkdirs(dir, NULL) || file_write(full, text, strlen(text), NULL))
		tap_skip_all("no files can be made");
}

/* What is said of a process of that group; mounts with %s for the test's folder. */
static int require(const char *cgroup, const char *mounts, uint64_t kib, struct uspl_err *err)
{
	char text[1024];

	snprintf(text, sizeof(text), mounts, top, top);
	*err = (struct uspl_err){ 0 };
	return memcg_require_in(cgroup, text, kib * KIB, err);
}

static void test_version_2(void)
{
	static const char mounts[] = "20 1 0:5 / /proc rw - proc proc rw\n"
				     "31 1 0:20 / %s/two rw,nosuid shared:4 - cgroup2 none rw\n";
	struct uspl_err err;

	put("two/a/memory.max", "1048576\n");
	put("two/a/memory.current", "524288\n");
	put("two/a/memory.stat", "anon 1\nfile 300000\ninactive_file 65536\nactive_file 65536\n");
	put("two/a/b/memory.max", "max\n");
	put("two/a/b/memory.current", "524288\n");
	put("two/a/b/memory.stat", "");
	ok(require("0::/a\n", mounts, 640, &err) == 0, "512 KiB, and 128 that can be dropped");
	ok(require("0::/a\n", mounts, 641, &err) == -USPL_E_MEMORY_LIMIT, "not more: %s", err.msg);
	ok(strstr(err.msg, "'/a' has 640 KiB left"), "the group is named");
	ok(require("0::/a/b\n", mounts, 641, &err) == -USPL_E_MEMORY_LIMIT &&
		   strstr(err.msg, "'/a'"),
	   "a group without a limit, in one with a limit");
	ok(require("0::/elsewhere\n", mounts, 641, &err) == 0, "a group without such files");
	ok(require("0::/../a\n", mounts, 641, &err) == 0, "a group outside of what we see");
	ok(require("3:cpu:/a\n", mounts, 641, &err) == 0, "in no such hierarchy");
	put("two/a/memory.current", "2000000\n");
	ok(require("0::/a\n", mounts, 1, &err) == -USPL_E_MEMORY_LIMIT, "above the limit: %s",
	   err.msg);
}

static void test_version_1(void)
{
	static const char mounts[] = "32 1 0:21 / %s/cpu rw - cgroup none rw,cpu,cpuacct\n"
				     "33 1 0:22 /pod %s/one rw - cgroup none rw,memory\n";
	struct uspl_err err;

	put("one/x/memory.limit_in_bytes", "1048576\n");
	put("one/x/memory.usage_in_bytes", "1048576\n");
	put("one/x/memory.stat",
	    "inactive_file 9\ntotal_inactive_file 8192\ntotal_active_file 0\n");
	ok(require("4:cpu:/\n5:foo,memory:/pod/x\n", mounts, 8, &err) == 0,
	   "a mount that shows a part of the tree");
	ok(require("4:cpu:/\n5:foo,memory:/pod/x\n", mounts, 9, &err) == -USPL_E_MEMORY_LIMIT,
	   "its group: %s", err.msg);
	ok(require("5:memory:/other/x\n", mounts, 9, &err) == 0, "another part of the tree");
}

static void test_nonsense(void)
{
	static const char *const texts[] = {
		"", "\n", ":", "0::", "5:memory", "5:memory:", "::::\n"
	};
	struct uspl_err err;
	bool fine = true;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		fine &= memcg_require_in(texts[i], texts[i], KIB, &err) == 0;
	ok(fine, "texts that make no sense");
}

int main(void)
{
	if (!mkdtemp(top))
		tap_skip_all("no folder can be made");
	test_version_2();
	test_version_1();
	test_nonsense();
	if (file_remove_tree(top, NULL))
		printf("# %s stays\n", top);
	return tap_done();
}
