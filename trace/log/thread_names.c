// SPDX-License-Identifier: GPL-3.0-or-later
// thread_names.c - what the threads of a traced process are called

#include "trace/log/thread_names.h"

#include <stdlib.h>
#include <string.h>

#include "proc/task.h"

int thread_names_read(const struct proc *proc, thread_names *ret, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	struct thread_name *place;
	char name[TASK_NAME_LEN];
	const pid_t *tid;
	int rc = tasks_list(proc, &tids, err);

	if (rc)
		return rc;
	thread_names_release(ret);
	vec_for_each (&tids, tid) {
		place = vec_push(ret);
		if (!place)
			return uspl_fail_nomem(err);
		task_name(proc, *tid, name);
		*place = (struct thread_name){ task_inner_id(proc, *tid), strdup(name) };
		if (!place->name)
			return uspl_fail_nomem(err);
	}
	return 0;
}

void thread_names_release(thread_names *names)
{
	struct thread_name *name;

	vec_for_each (names, name)
		free(name->name);
	vec_release(names);
}

void thread_names_put(struct buf *out, const thread_names *names)
{
	const struct thread_name *name;

	saved_put_u32(out, (uint32_t)names->n);
	vec_for_each (names, name) {
		saved_put_u32(out, (uint32_t)name->tid);
		saved_put_text(out, name->name);
	}
}

void thread_names_get(struct saved_cursor *in, thread_names *names)
{
	uint32_t n = saved_get_u32(in);

	for (uint32_t i = 0; i < n && !in->rc; i++) {
		struct thread_name *name = saved_get_place(in, names);

		if (!name)
			return;
		name->tid = (pid_t)saved_get_u32(in);
		name->name = saved_get_text(in);
	}
}
