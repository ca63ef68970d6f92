// SPDX-License-Identifier: GPL-3.0-or-later
// site_test.c - sites of many pages are written as planned, and nothing between them, and put back

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "text/site.h"

#define PAGES 200
#define LEN (PAGES * PAGE)
#define SITE 5

/*
 * How the sites of a plan lie: every `step` bytes from `first` on, but for `hole` bytes in the
 * middle.
 */
struct layout {
	const char *name;
	size_t first, step, hole;
	size_t pieces; /* that are to come of it; 0: it doesn't matter */
};

static const struct layout layouts[] = {
	{ "functions side by side", 0, 16, 0, 0 },
	{ "sites that don't lie in one word, and some in two pages", 3, 13, 0, 0 },
	{ "a few to a page", 40, 1000, 0, 0 },
	{ "about one to a page", 8, PAGE - 8, 0, 0 },
	{ "less than one to a page", 8, PAGE + 40, 0, 199 },
	{ "one, in two pages", PAGE - 2, LEN, 0, 1 },
	{ "a hole of many pages", 0, 16, LEN / 2, 0 },
};

static uint8_t *code;

/* What is to become of the code, as an array. */
static uint8_t want[LEN];

/* A process that has the code, too. */
static pid_t child_start(struct proc **ret)
{
	struct uspl_err err = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		alarm(300);
		for (;;)
			pause();
	}
	if (pid < 0 || proc_open(pid, ret, &err) != 0) {
		printf("Bail out! no child: %s\n", err.msg);
		exit(1);
	}
	return pid;
}

static void child_end(pid_t pid, struct proc *proc)
{
	proc_free(proc);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int add_site(struct site_plan *plan, size_t at)
{
	struct site site = { .name = "f", .addr = (uintptr_t)code + at, .len = SITE };

	memcpy(site.from, code + at, SITE);
	for (size_t i = 0; i < SITE; i++)
		site.to[i] = (uint8_t)~site.from[i];
	memcpy(want + at, site.to, SITE);
	return site_plan_add(plan, &site, NULL);
}

static int make_plan(const struct layout *layout, struct site_plan *plan)
{
	int rc = 0;

	memcpy(want, code, LEN);
	for (size_t at = layout->first; !rc && at + SITE <= LEN; at += layout->step)
		if (at < LEN / 4 || at >= LEN / 4 + layout->hole)
			rc = add_site(plan, at);
	return rc ? rc : site_plan_check(plan, NULL);
}

/* False if two pieces have a byte in common. */
static bool are_apart(const struct site_plan *plan)
{
	for (size_t i = 1; i < plan->pieces.n; i++)
		if (plan->pieces.items[i - 1].addr + plan->pieces.items[i - 1].len >
		    plan->pieces.items[i].addr)
			return false;
	return true;
}

static bool child_has(const struct proc *proc, const uint8_t *bytes)
{
	auto_free uint8_t *have = malloc(LEN);

	return have && proc_read(proc, (uintptr_t)code, have, LEN, NULL) == 0 &&
	       !memcmp(have, bytes, LEN);
}

static void test(const struct layout *layout)
{
	struct proc *proc = NULL;
	pid_t pid = child_start(&proc);
	struct site_plan plan = { .proc = proc };
	struct uspl_err err = { 0 };

	ok(make_plan(layout, &plan) == 0 && are_apart(&plan) &&
		   (!layout->pieces || plan.pieces.n == layout->pieces),
	   "%s: %zu sites in %zu pieces, which lie apart", layout->name, plan.sites.n,
	   plan.pieces.n);
	ok(site_plan_prepare(&plan, &err) == 0 && child_has(proc, code), "%s: prepared (%s)",
	   layout->name, err.msg);
	ok(site_plan_switch(&plan, &err) == 0 && child_has(proc, want), "%s: all written (%s)",
	   layout->name, err.msg);
	ok(site_plan_restore(&plan, &err) == 0 && child_has(proc, code), "%s: put back (%s)",
	   layout->name, err.msg);
	site_plan_release(&plan);
	child_end(pid, proc);
}

/* Somebody writes between two of the sites. */
static void test_changed(void)
{
	const uint8_t alien = 0xcc;
	struct proc *proc = NULL;
	pid_t pid = child_start(&proc);
	struct site_plan plan = { .proc = proc };
	struct uspl_err err = { 0 };
	bool planned = make_plan(&layouts[0], &plan) == 0;

	ok(planned && proc_write(proc, (uintptr_t)code + 100 * PAGE + 9, &alien, 1, NULL) == 0 &&
		   site_plan_switch(&plan, &err) == -USPL_E_OVERWRITTEN,
	   "what has changed since is noticed (%s)", err.msg);
	memcpy(want, code, LEN);
	want[100 * PAGE + 9] = alien;
	ok(child_has(proc, want), "and nothing is written then");
	site_plan_release(&plan);
	child_end(pid, proc);
}

/* The process ends before what was written is put back. */
static void test_ended(void)
{
	struct proc *proc = NULL;
	pid_t pid = child_start(&proc);
	struct site_plan plan = { .proc = proc };
	struct uspl_err err = { 0 };
	siginfo_t info;
	bool written = make_plan(&layouts[0], &plan) == 0 && site_plan_switch(&plan, &err) == 0;

	kill(pid, SIGKILL);
	ok(written && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 &&
		   site_plan_restore(&plan, &err) == -USPL_E_NO_PROCESS,
	   "what has ended isn't said to be half switched (%s)", err.msg);
	site_plan_release(&plan);
	child_end(pid, proc);
}

/*
 * The sites of one layout, a portion after the other by one plan: small ones, large ones, and small
 * ones again.
 */
static void test_portions(const struct layout *layout)
{
	static const size_t portions[] = { 1, 3000, 2, 700, 1500, 1 };
	struct proc *proc = NULL;
	pid_t pid = child_start(&proc);
	struct site_plan all = { .proc = proc }, plan = { .proc = proc };
	struct uspl_err err = { 0 };
	int rc = make_plan(layout, &all);

	for (size_t at = 0, i = 0, n; !rc && at < all.sites.n; at += n) {
		n = portions[i++ % (sizeof(portions) / sizeof(portions[0]))];
		n = n < all.sites.n - at ? n : all.sites.n - at;
		rc = site_plan_check_these(&plan, all.sites.items + at, n, &err);
		if (!rc)
			rc = site_plan_prepare(&plan, &err);
		if (!rc)
			rc = site_plan_write(&plan, &err);
		if (!rc)
			rc = site_plan_confirm(&plan, &err);
		site_plan_clear(&plan);
	}
	ok(rc == 0 && child_has(proc, want), "%s: written in portions (%s)", layout->name, err.msg);
	ok(site_plan_check_these(&plan, all.sites.items, all.sites.n, &err) == -USPL_E_OVERWRITTEN,
	   "and can't be once more (%s)", err.msg);
	site_plan_release(&plan);
	site_plan_release(&all);
	child_end(pid, proc);
}

int main(void)
{
	code = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < LEN; i++)
		code[i] = (uint8_t)(i * 7 + i / PAGE);
	if (mprotect(code, LEN, PROT_READ | PROT_EXEC) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		test(&layouts[i]);
	test_changed();
	test_ended();
	test_portions(&layouts[0]);
	test_portions(&layouts[1]);
	test_portions(&layouts[2]);
	return tap_done();
}
