// SPDX-License-Identifier: GPL-3.0-or-later
// view_test.c - updates in processes are found, grouped and shown; the process is this one

#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "update_sample.h"
#include "view/scan.h"
#include "view/show.h"
#include "view/table.h"

enum { PAGES = 4 };

/* Puts a record into this process, as apply would: between guards, read-only. */
static char *place_record(struct region *region)
{
	char *map = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	auto_buf struct buf info = { 0 };
	struct uspl_err err;

	region->self = (uintptr_t)map + PAGE;
	if (region_encode(region, &info, &err) || info.len > (PAGES - 2) * PAGE)
		return NULL;
	mprotect(map + PAGE, info.len, PROT_READ | PROT_WRITE);
	memcpy(map + PAGE, info.data, info.len);
	mprotect(map + PAGE, info.len, PROT_READ);
	return map;
}

/* The program that this process runs: the module of the regions. */
static const struct module *own_module(void)
{
	static module_vec modules;
	auto_proc struct proc *proc = NULL;
	const struct module *module;

	if (!modules.n &&
	    (proc_open_readonly(getpid(), &proc, NULL) || modules_read(proc, &modules, NULL)))
		return NULL;
	vec_for_each (&modules, module)
		if (module->is_main)
			return module;
	return NULL;
}

static void describe(struct region *region, const char *id)
{
	snprintf(region->id, sizeof(region->id), "%s", id);
	region->description = sample_str("fix\nit");
	region->module_name = sample_str("server");
	region->patch = sample_str("--- a\n+++ b\n\x1b[2J");
	region->patch_len = strlen(region->patch);
}

/* The record of an update with one function in this program. */
static char *place_region(const char *id, enum uspl_region_state state, uint64_t order)
{
	auto_region struct region region = { .state = state,
					     .order = order,
					     .applied_at = 1700000000,
					     .module = own_module()->start };
	struct region_site *site = sample_need(vec_push(&region.sites));

	*site = (struct region_site){
		.name = sample_str("par\x1bse"), .addr = 0x401000, .new_addr = 0x501000, .len = 5
	};
	describe(&region, id);
	region.build_id = sample_str(own_module()->build_id);
	return place_record(&region);
}

/* Scans this process and groups. */
static int scan_self(struct scan *scan, const char *id, bool all, struct uspl_err *err)
{
	struct selection sel = { 0 };
	pid_t *pid = sample_need(vec_push(&sel.named));
	int rc;

	*pid = getpid();
	rc = scan_processes(&sel, scan, err);
	selection_release(&sel);
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
		   live.updates.items[0].presences.items[0].status.regions.n == 2,
	   "two regions of one id are one update, the oldest comes first");
	ok_str(live.updates.n ? live.updates.items[0].presences.items[0].status.state : NULL,
	       "interrupted", "one of them is interrupted: so is the update");
	ok_str(live.updates.n == 2 ? live.updates.items[1].presences.items[0].status.state : NULL,
	       "applied", "an applied one");
	ok(!scan_self(&all, NULL, true, &err) && all.updates.n == 3, "with all there are three");
	ok(!scan_self(&one, "gone", true, &err) && one.updates.n == 1 &&
		   !strcmp(one.updates.items[0].presences.items[0].status.state, "undone"),
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
	ok(strstr(buf_str(&list), "2023-11-14T22:13:20Z  ") &&
		   strstr(buf_str(&list), "  fix\\nit\n"),
	   "the list shows when, and what, in one line");
	ok(strstr(buf_str(&list), scan.processes.items[0].user) && scan.processes.items[0].user[0],
	   "and whose process it is");
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

/* The tools write to a region's trampolines and selector: these must not lie elsewhere. */
static void test_trampolines_elsewhere(char *map)
{
	static const struct {
		const char *what;
		uint64_t trampolines, trampolines_len, selector;
	} samples[] = {
		{ "gates outside of the region", 0x400000, PAGE, 0x2000 },
		{ "gates that go beyond its end", 0x2000, 1u << 20, 0x1000 },
		{ "a gate too few", 0x2000, 16, 0x1000 },
		{ "a word outside of the region", 0x1000, PAGE, 0x400000 },
		{ "a word without gates", 0, 0, 0x1000 },
	};
	struct uspl_region *head = (struct uspl_region *)(map + PAGE), before = *head;

	mprotect(head, PAGE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		auto_scan struct scan scan = { 0 };
		struct uspl_err err = { 0 };

		*head = before;
		head->map = (uintptr_t)map;
		head->map_len = 4 * PAGE;
		head->trampolines = samples[i].trampolines ? head->map + samples[i].trampolines : 0;
		head->trampolines_len = samples[i].trampolines_len;
		head->selector = head->map + samples[i].selector;
		mprotect(head, PAGE, PROT_READ);
		ok(!scan_self(&scan, NULL, true, &err) && scan.failures.n == 1 &&
			   scan.failures.items[0].code == USPL_E_HOSTILE,
		   "a record with %s is damaged", samples[i].what);
		mprotect(head, PAGE, PROT_READ | PROT_WRITE);
	}
	*head = before;
	mprotect(head, PAGE, PROT_READ);
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

/* Where the jump was there are now these bytes: the module has been loaded anew. */
static uint8_t site_bytes[] = { 0x55, 0x48, 0x89, 0xe5, 0x90 };

/* The record of an update whose module is elsewhere, or has its old code. */
static char *place_lost(const char *id, taddr module, const char *build_id)
{
	auto_region struct region region = { .state = USPL_REGION_APPLIED,
					     .order = 9,
					     .module = module };
	struct region_site *site = sample_need(vec_push(&region.sites));

	*site = (struct region_site){ .name = sample_str("f"),
				      .addr = (uintptr_t)site_bytes,
				      .new_addr = 0x501000,
				      .len = sizeof(site_bytes) };
	memcpy(site->old_bytes, site_bytes, sizeof(site_bytes));
	describe(&region, id);
	free(region.module_name);
	region.module_name = sample_str(own_module()->name);
	region.build_id = sample_str(build_id);
	return place_record(&region);
}

static char *place_pending(const char *id)
{
	auto_region struct region region = { .state = USPL_REGION_PENDING, .order = 4 };

	describe(&region, id);
	free(region.module_name);
	region.module_name = sample_str("lib\x1b.so");
	return place_record(&region);
}

/* State and pending libraries of an update, as view sees them. */
static void expect_pending(const char *id, const char *state, const char *name, const char *what)
{
	auto_scan struct scan scan = { 0 };
	const struct region_status *status = NULL;
	struct uspl_err err = { 0 };

	if (!scan_self(&scan, id, false, &err) && scan.updates.n)
		status = &scan.updates.items[0].presences.items[0].status;
	ok_str(status ? status->state : NULL, state, what);
	ok_str(status && status->pending.n == 1 ? status->pending.items[0] : NULL, name, what);
}

static void test_pending(void)
{
	auto_scan struct scan scan = { 0 };
	auto_buf struct buf list = { 0 }, detail = { 0 };
	auto_json struct json json = { 0 };
	struct uspl_err err = { 0 };

	if (!place_pending("second") || !place_pending("later") ||
	    !place_lost("unloaded", 0x10000, "1234") ||
	    !place_lost("reloaded", own_module()->start, own_module()->build_id)) {
		ok(false, "records can be made");
		return;
	}
	expect_pending("second", "applied", "lib\x1b.so", "a library that isn't there yet");
	expect_pending("later", "pending", "lib\x1b.so", "nothing of the update is there yet");
	expect_pending("unloaded", "pending", own_module()->name, "the module is there no longer");
	expect_pending("reloaded", "pending", own_module()->name, "the module has its old code");
	if (scan_self(&scan, "second", false, &err) || !scan.updates.n)
		return;
	show_list(&scan, &list);
	ok(strstr(buf_str(&list), "second  applied+pending"), "the list says so");
	show_update(&scan.updates.items[0], &detail);
	ok(strstr(buf_str(&detail), "\n  pending for lib\\x1b.so\n"), "and for what");
	json_scan(&scan, false, &json);
	ok(strstr(json_text(&json), "\"state\":\"applied\"") &&
		   strstr(json_text(&json), "],\"pending\":[\"lib\\u001b.so\"]"),
	   "and JSON");
}

int main(void)
{
	char *first, *second;

	/* By these a region knows its module. */
	if (!own_module() || !own_module()->build_id)
		tap_skip_all("this program has no build-id");
	first = place_region("first", USPL_REGION_APPLIED, 1);
	second = place_region("second", USPL_REGION_APPLIED, 3);
	if (!first || !second || !place_region("first", USPL_REGION_SWITCHING_ON, 1) ||
	    !place_region("gone", USPL_REGION_UNDONE, 2))
		tap_skip_all("no region can be made");
	test_table();
	test_group();
	test_show();
	test_pending();
	test_short_patch(second);
	test_trampolines_elsewhere(first);
	test_damaged(first);
	return tap_done();
}
