/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * running.h - what the processes run: programs and libraries, by path and build-id
 *
 * The build-ids are those in memory (module.h), so a file that was replaced or removed since it was
 * mapped has that of what runs. Processes are looked at by a confined child (search.h).
 */
#ifndef USPL_MACHINE_UPGRADE_RUNNING_H
#define USPL_MACHINE_UPGRADE_RUNNING_H

#include "machine/census.h"

struct running_module {
	char *path;     /* where it was mapped from */
	char *build_id; /* in hex; "" if it has none */
};

struct running_process {
	struct census_process process;
	char *name; /* as /proc/PID/comm has it, fit to be printed */
	VEC(struct running_module) modules;
};

struct running {
	VEC(struct running_process) processes; /* by pid */
	size_t n_denied;                       /* that this user may not read */
};

/*
 * Looks at all processes that the selection means, without those that have mapped what they run in
 * another root folder: what a path means there is another machine's affair. Errors of search_run.
 */
int running_find(const struct selection *sel, struct running *ret,
		 struct uspl_err *err) uspl_must_check;
void running_release(struct running *running);

DEFINE_AUTO_RELEASE(running, struct running, running_release)
#define auto_running __attribute__((cleanup(cleanup_running_)))

#endif
