// SPDX-License-Identifier: GPL-3.0-or-later
// give_back.c - pages of code that are again what the file has go back to it
/*
 * Code that is run can't be written by the program itself, and other tools of ours wait meanwhile:
 * what was compared is what is given up. The agent is in its place before: so its page differs,
 * and stays, for the thread that gives up the others may have to go on in it by itself. A file
 * that has been changed in its place since it was mapped has changed under the pages that were
 * never written to as well.
 */

#include "text/give_back.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "inject/inject.h"
#include "proc/private_pages.h"

#define PAGES 64   /* looked at together, and given up by one request: some 10 us */
#define REQUESTS 8 /* in one run of a thread */

/* A module while its pages are given back. */
struct giving {
	struct proc *proc;
	struct inject_agent *agent;
	int fd;
	struct inject_req reqs[REQUESTS];
	size_t n, pages;
};

static int flush(struct giving *giving, struct uspl_err *err)
{
	const struct inject_choice choice = { .agent = giving->agent };
	size_t n = giving->n, done;

	giving->n = 0;
	return n ? inject_run_in(giving->proc, &choice, giving->reqs, n, &done, err) : 0;
}

/* Up to PAGES pages. */
static int give_pages(struct giving *giving, taddr addr, uint64_t offset, size_t n,
		      struct uspl_err *err)
{
	uint8_t have[PAGES * PAGE], want[PAGES * PAGE];
	bool copies[PAGES], any = false;
	size_t first = 0;
	int rc;

	private_pages_copied(giving->proc, addr, n, copies);
	for (size_t i = 0; i < n; i++)
		any |= copies[i];
	if (!any || pread(giving->fd, want, n * PAGE, (off_t)offset) != (ssize_t)(n * PAGE))
		return 0;
	rc = proc_read(giving->proc, addr, have, n * PAGE, err);
	for (size_t i = 0; !rc && i <= n; i++) {
		if (i < n && copies[i] && !memcmp(have + i * PAGE, want + i * PAGE, PAGE))
			continue;
		/* The pages [first, i) are the file's. */
		if (first < i) {
			giving->pages += i - first;
			giving->reqs[giving->n++] =
				inject_syscall(SYS_madvise, addr + first * PAGE, (i - first) * PAGE,
					       MADV_DONTNEED);
		}
		if (giving->n == REQUESTS)
			rc = flush(giving, err);
		first = i + 1;
	}
	return rc;
}

static int give_mapping(struct giving *giving, const struct mapping *map, struct uspl_err *err)
{
	struct stat st;
	int rc = 0;

	if (!map->exec || map->write || map->shared || !map->inode || fstat(giving->fd, &st) < 0 ||
	    st.st_ino != map->inode)
		return 0;
	for (taddr at = map->start; !rc && at < map->end; at += PAGES * PAGE) {
		size_t n = (map->end - at) / PAGE;

		rc = give_pages(giving, at, map->offset + (at - map->start), n < PAGES ? n : PAGES,
				err);
	}
	return rc;
}

void give_back_code(struct proc *proc, const struct module *module)
{
	auto_close int fd = module_open_file(proc, module);
	struct giving giving = { .proc = proc, .fd = fd };
	struct uspl_err err = { 0 };
	int rc = fd >= 0 ? agent_new(proc, NULL, &giving.agent, &err) : 0;

	for (size_t i = 0; fd >= 0 && !rc && i < proc->maps.n; i++) {
		const struct mapping *map = &proc->maps.items[i];

		if (map->start >= module->start && map->end <= module->end)
			rc = give_mapping(&giving, map, &err);
	}
	rc = rc ? rc : flush(&giving, &err);
	agent_free(giving.agent);
	log_info("text", "%zu pages of '%s' are the file's again%s%s", giving.pages, module->name,
		 rc ? ": " : "", rc ? err.msg : "");
}
