// SPDX-License-Identifier: GPL-3.0-or-later
// view_test.c - updates in processes are found, grouped and shown; the process is this one

#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "update_sample.h"
#include "view/scan.h"
#include "view/show.h"
#include "view/table.h"

enum { PAGE = 4096, PAGES = 4 };

/* Puts the record of an update into this process, as apply would: between guards, read-only. */
static char *place_region(const char *id, enum uspl_region_state state, uint64_t order)
{
	char *map = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	auto_region struct region region = { .state = state,
					     .order = order,
					     .applied_at = 1700000000 };
	struct region_site *site = sample_need(vec_push(&region.sites));
	auto_buf struct buf info = { 0 };
	struct uspl_err err;

	*site = (struct region_site){
		.name = sample_str("par\x1bse"), .addr = 0x401000, .new_addr = 0x501000, .len = 5
	};
	snprintf(region.id, sizeof(region.id), "%s", id);
	region.self = (uintptr_t)map + PAGE;
	region.description = sample_str("fix\nit");
	region.module_name = sample_str("server");
	region.patch = sample_str("--- a\n+++ b\n\x1b[2J");
	region.patch_len = strlen(region.patch);
	if (region_encode(&region, &info, &err) || info.len > (PAGES - 2) * PAGE)
		return NULL;
	mprotect(map + PAGE, info.len, PROT_READ | PROT_WRITE);
	memcpy(map + PAGE, info.data, info.len);
	mprotect(map + PAGE, info.len, PROT_READ);
	return map;
}

/* Scans this process and groups. */
static int scan_self(struct scan *scan, const char *id, bool all, struct uspl_err *err)
{
	pid_vec pids = { 0 };
	pid_t *pid = sample_need(vec_push(&pids));
	int rc;

	*pid = getpid();
	rc = scan_processes(&pids, scan, err);
	vec_release(&pids);
	return rc ? rc : scan_group(scan, id, all, err);
}

static void test_group(void)
{
	auto_scan struct scan live = { 0 }, all = { 0 }, one = { 0 }, none = { 0 };
	struct uspl_err err = { 0 };

	ok(!scan_self(&live, NULL, false, &err) && !live.failures.n && live.updates.n == 2,
	   "of three updates two are live: %s", err.msg);
	ok(live.updates.n == 2 && !strcmp(live.updates.items[0].region->id, "first") &&
		   live.updates.items[0].presences.n == 1 &&
		   live.updates.items[0].presences.items[0].functions == 2,
	   "two regions of one id are one update, the oldest comes first");
	ok_str(live.updates.n ? live.updates.items[0].presences.items[0].state : NULL,
	       "interrupted", "regions of different states: interrupted");
	ok_str(live.updates.n == 2 ? live.updates.items[1].presences.items[0].state : NULL,
	       "applied", "an applied one");
	ok(!scan_self(&all, NULL, true, &err) && all.updates.n == 3, "with all there are three");
	ok(!scan_self(&one, "gone", true, &err) && one.updates.n == 1 &&
		   !strcmp(one.updates.items[0].presences.items[0].state, "undone"),
	   "one by its id");
	ok(!scan_self(&none, "gon", true, &err) && !none.updates.n, "an id is not a prefix");
}

static void test_show(void)
{
	auto_scan struct scan scan = { 0 };
	auto_buf struct buf list = { 0 }, detail = { 0 };
	auto_json struct json json = { 0 };
	struct uspl_err err = { 0 };

	if (scan_self(&scan, "second", false, &err) || !scan.updates.n) {
		ok(false, "the update is found: %s", err.msg);
		return;
	}
	show_list(&scan, &list);
	ok(strstr(buf_str(&list), "2023-11-14T22:13:20Z  fix\\nit\n"),
	   "the list shows when, and what, in one line");
	show_update(&scan.updates.items[0], &detail);
	ok(strstr(buf_str(&detail), "  par\\x1bse  0x401000  0x501000  server\n"),
	   "a function, old and new");
	ok(strstr(buf_str(&detail), "\npatch:\n--- a\n+++ b\n\\x1b[2J\n"),
	   "the patch, in lines, and no more than that");
	ok(!strchr(buf_str(&list), '\x1b') && !strchr(buf_str(&detail), '\x1b'),
	   "nothing reaches the terminal");
	json_scan(&scan, true, &json);
	ok(strstr(json_text(&json),
		  "[{\"id\":\"second\",\"description\":\"fix\\nit\",\"processes\":[{\"pid\":") &&
		   strstr(json_text(&json), "\"patch\":\"--- a\\n+++ b\\n\\u001b[2J\"}]"),
	   "JSON: %s", json_text(&json));
	ok(strstr(json_text(&json),
		  "{\"name\":\"par\\u001bse\",\"old\":\"0x401000\",\"new\":\"0x501000\","
		  "\"module\":\"server\"}"),
	   "JSON functions");
}

static void test_table(void)
{
	auto_table struct table table = { .columns = 3 };
	auto_buf struct buf out = { 0 };

	table_add(&table, "A");
	table_add(&table, "LONGER");
	table_add(&table, "LAST");
	table_add(&table, "gr\xc3\xbc\xc3\x9f");
	table_add(&table, "");
	table_addf(&table, "%d", 7);
	table_render(&table, " ", &out);
	ok_str(buf_str(&out), " A     LONGER  LAST\n gr\xc3\xbc\xc3\x9f  -       7\n",
	       "columns are aligned");
}

/* A length that the patch doesn't have must not lead us behind its copy. */
static void test_short_patch(char *map)
{
	auto_scan struct scan scan = { 0 };
	auto_buf struct buf detail = { 0 };
	struct uspl_region *head = (struct uspl_region *)(map + PAGE);
	struct uspl_err err = { 0 };

	mprotect(head, PAGE, PROT_READ | PROT_WRITE);
	((char *)head)[head->patch + 3] = '\0';
	head->patch_len = 1000;
	mprotect(head, PAGE, PROT_READ);
	if (!scan_self(&scan, "second", false, &err) && scan.updates.n)
		show_update(&scan.updates.items[0], &detail);
	ok(strstr(buf_str(&detail), "\npatch:\n---\n"), "a patch that is shorter than it says");
}

/* A record that contradicts itself is a failure of that process, not of the scan. */
static void test_damaged(char *map)
{
	auto_scan struct scan scan = { 0 };
	struct uspl_region *head = (struct uspl_region *)(map + PAGE);
	struct uspl_err err = { 0 };

	mprotect(head, PAGE, PROT_READ | PROT_WRITE);
	head->n_sites = 1u << 30;
	mprotect(head, PAGE, PROT_READ);
	ok(!scan_self(&scan, NULL, true, &err) && scan.failures.n == 1 &&
		   scan.failures.items[0].code == USPL_E_HOSTILE && !scan.updates.n,
	   "a damaged record: %s", scan.failures.n ? scan.failures.items[0].msg : "");
}

int main(void)
{
	char *first = place_region("first", USPL_REGION_APPLIED, 1);
	char *second = place_region("second", USPL_REGION_APPLIED, 3);

	if (!first || !second || !place_region("first", USPL_REGION_LOADED, 1) ||
	    !place_region("gone", USPL_REGION_UNDONE, 2))
		tap_skip_all("no region can be made");
	test_table();
	test_group();
	test_show();
	test_short_patch(second);
	test_damaged(first);
	return tap_done();
}
