// SPDX-License-Identifier: GPL-3.0-or-later
// running.c - what the processes run: programs and libraries, by path and build-id
/*
 * The child that looks writes what it finds into memory that it shares with its parent: for each
 * process one run of lines, "P PID STARTTIME" and then "M BUILD-ID PATH", which counts when all of
 * it is there. A child that dies of a process is followed by another one, which begins anew: so of
 * several runs for one process the last one counts.
 */

#include "machine/upgrade/running.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/text.h"
#include "machine/search.h"
#include "proc/module.h"

/* Pages that nothing is written to take no memory. */
#define AREA_SIZE (64u << 20)
/* What one process may take of it: more than a thousand modules. */
#define PROCESS_MAX (128u << 10)

struct area {
	size_t len;
	char text[];
};

/* In the child. */
static int look(struct proc *proc, const void *ctx, enum search_answer *ret, struct uspl_err *err)
{
	struct area *area = *(struct area *const *)ctx;
	auto_modules module_vec modules = { 0 };
	auto_buf struct buf text = { 0 };
	const struct module *module;
	int rc;

	if (!census_had_our_root(proc->pid))
		return 0;
	rc = modules_read(proc, &modules, err);
	if (rc)
		return rc;
	buf_addf(&text, "P %d %" PRIu64 "\n", proc->pid, proc->starttime);
	vec_for_each (&modules, module)
		if (module->path[0] == '/')
			buf_addf(&text, "M %s %s\n", module->build_id ? module->build_id : "-",
				 module->path);
	if (text.oom)
		return uspl_fail_nomem(err);
	if (text.len > PROCESS_MAX || text.len > AREA_SIZE - sizeof(*area) - 1 - area->len)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "pid %d is left out: its modules' paths take too much memory",
				 proc->pid);
	memcpy(area->text + area->len, text.data, text.len);
	area->len += text.len;
	*ret = SEARCH_DONE;
	return 0;
}

static void release_process(struct running_process *process)
{
	struct running_module *module;

	vec_for_each (&process->modules, module) {
		free(module->path);
		free(module->build_id);
	}
	vec_release(&process->modules);
	free(process->name);
	process->name = NULL;
}

/* The process that the following lines are of; one that is known begins anew. */
static struct running_process *begin_process(struct running *running,
					     const struct census_process *known)
{
	struct running_process *process;

	vec_for_each (&running->processes, process)
		if (process->process.pid == known->pid) {
			release_process(process);
			process->process = *known;
			return process;
		}
	process = vec_push(&running->processes);
	if (process)
		process->process = *known;
	return process;
}

static int take_lines(char *text, struct running *ret, struct uspl_err *err)
{
	struct running_process *process = NULL;
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		struct census_process known = { 0 };
		struct running_module *module;
		size_t len;

		if (sscanf(line, "P %d %" SCNu64, &known.pid, &known.starttime) == 2) {
			process = begin_process(ret, &known);
			if (!process)
				return uspl_fail_nomem(err);
			continue;
		}
		if (strncmp(line, "M ", 2) != 0 || !process)
			continue;
		line += 2;
		len = strcspn(line, " ");
		if (!line[len])
			continue;
		module = vec_push(&process->modules);
		if (!module)
			return uspl_fail_nomem(err);
		module->build_id = *line == '-' ? strdup("") : strndup(line, len);
		module->path = strdup(line + len + 1);
		if (!module->build_id || !module->path)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int name_processes(struct running *running, struct uspl_err *err)
{
	struct running_process *process;

	vec_for_each (&running->processes, process) {
		auto_buf struct buf comm = { 0 };
		auto_buf struct buf shown = { 0 };
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/comm", process->process.pid);
		if (file_read(path, &comm, NULL) == 0 && comm.len)
			text_add_printable(&shown, comm.data, comm.len - 1, false);
		process->name = strdup(buf_str(&shown));
		if (!process->name)
			return uspl_fail_nomem(err);
	}
	return 0;
}

int running_find(const struct selection *sel, struct running *ret, struct uspl_err *err)
{
	struct area *area = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct search search = { .sel = sel, .look = look, .ctx = &area };
	auto_search_result struct search_result result = { 0 };
	int rc;

	if (area == MAP_FAILED)
		return uspl_fail_errno(err, "cannot map memory");
	rc = search_run(&search, &result, err);
	search_release(&search);
	if (!rc)
		rc = take_lines(area->text, ret, err);
	munmap(area, AREA_SIZE);
	ret->n_denied = result.n_denied;
	return rc ? rc : name_processes(ret, err);
}

void running_release(struct running *running)
{
	struct running_process *process;

	vec_for_each (&running->processes, process)
		release_process(process);
	vec_release(&running->processes);
}
