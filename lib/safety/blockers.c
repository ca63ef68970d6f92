// SPDX-License-Identifier: GPL-3.0-or-later
// blockers.c - a thread that is in the way, described for people

#include "safety/blockers.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "thread/thread.h"

/* How much of a call chain a message shows: within the busy function, and from it outwards. */
#define INNER_SHOWN 3
#define OUTER_SHOWN 8

/* The images of the modules that addresses were looked up in, by the modules' order. */
struct names {
	const struct proc *proc;
	const module_vec *modules;
	struct image **images;
};

/* "parse", or "libc.so.6+0x1234" where there is no symbol. */
static void add_name(struct names *names, taddr pc, struct buf *out)
{
	const struct module *module = module_at(names->modules, pc);
	const struct image_sym *sym = NULL;
	auto_free char *plain = NULL;
	struct image **image;

	if (!module) {
		buf_addf(out, "0x%" PRIx64, pc);
		return;
	}
	image = &names->images[module - names->modules->items];
	if (*image || module_image(names->proc, module, image, NULL) == 0)
		sym = image_sym_at(*image, pc);
	plain = sym ? demangle_name(sym->name) : NULL;
	if (sym)
		buf_addstr(out, plain ? plain : sym->name);
	else
		buf_addf(out, "%s+0x%" PRIx64, module->name, pc - module->start);
}

/*
 * The frames from the thread's place outwards. What matters is what called the function in the way;
 * of the frames inside it (the call that it waits in) the first and the last two tell enough.
 */
static void add_chain(struct names *names, const struct safety_finding *finding, struct buf *out)
{
	size_t skip_from = 1,
	       skip_to = finding->at > INNER_SHOWN ? finding->at - INNER_SHOWN + 1 : 1;
	size_t end = finding->at + OUTER_SHOWN < finding->n_chain ? finding->at + OUTER_SHOWN
								  : finding->n_chain;

	for (size_t i = 0; i < end; i++) {
		if (i >= skip_from && i < skip_to) {
			buf_addstr(out, i == skip_from ? " < ..." : "");
			continue;
		}
		buf_addstr(out, i ? " < " : "");
		add_name(names, finding->chain[i], out);
	}
	if (finding->n_chain > end)
		buf_addstr(out, " < ...");
}

/*
 * Where threads and programs are started from: glibc's and musl's names, older glibc's of threads.
 */
static bool is_c_library(const struct module *module)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl-",
					     "libc.musl" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(module->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * True if only code of the C library that starts a program or a thread called the function; the
 * very last frame may be the program's (_start), or be linked into it. A function that is called by
 * another module, a library or the program, returns to that.
 */
static bool is_outermost(const struct names *names, const struct safety_finding *finding)
{
	const struct module *home, *caller;

	if (!finding->whole || finding->outermost != finding->at)
		return false;
	home = module_at(names->modules, finding->chain[finding->outermost]);
	for (size_t i = finding->outermost + 1; i + 1 < finding->n_chain; i++) {
		caller = module_at(names->modules, finding->chain[i]);
		if (!caller || caller == home || !is_c_library(caller))
			return false;
	}
	return home;
}

static int describe(struct names *names, const struct safety_finding *finding,
		    struct blocker *blocker, struct uspl_err *err)
{
	auto_buf struct buf chain = { 0 };

	blocker->tid = finding->tid;
	if (finding->tid)
		task_name(names->proc, finding->tid, blocker->thread);
	blocker->proven = finding->proven;
	blocker->unreadable = finding->unreadable;
	blocker->outermost = is_outermost(names, finding);
	add_chain(names, finding, &chain);
	blocker->function = strdup(finding->function ? finding->function : "");
	blocker->chain = strdup(buf_str(&chain));
	return blocker->function && blocker->chain && !chain.oom ? 0 : uspl_fail_nomem(err);
}

int blockers_describe(const struct proc *proc, const module_vec *modules,
		      const struct safety_finding *findings, size_t n, blocker_vec *ret,
		      struct uspl_err *err)
{
	struct names names = { proc, modules, calloc(modules->n + 1, sizeof(*names.images)) };
	int rc = names.images ? 0 : uspl_fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		struct blocker *blocker = vec_push(ret);

		rc = blocker ? describe(&names, &findings[i], blocker, err) : uspl_fail_nomem(err);
	}
	for (size_t i = 0; names.images && i < modules->n; i++)
		image_free(names.images[i]);
	free(names.images);
	return rc;
}

void blockers_release(blocker_vec *blockers)
{
	struct blocker *blocker;

	vec_for_each (blockers, blocker) {
		free(blocker->function);
		free(blocker->chain);
	}
	vec_release(blockers);
}

int blocker_fail(pid_t pid, const struct blocker *blocker, struct uspl_err *err)
{
	if (blocker->unreadable)
		return uspl_fail(err, USPL_E_BUSY,
				 "the stack of thread %d (%s) of pid %d can't be followed",
				 blocker->tid, blocker->thread, pid);
	if (!blocker->tid) {
		uspl_fail(
			err, USPL_E_BUSY,
			"'%s' is on a stack of pid %d that no thread is on now (a coroutine's, or "
			"one left by longjmp)",
			blocker->function, pid);
		uspl_hint(err, "the program will go on there in the middle of the function; wait "
			       "longer with --wait=SECONDS, or make the program end it");
		return -USPL_E_BUSY;
	}
	uspl_fail(err, USPL_E_BUSY, "'%s' is on the stack of thread %d (%s): %s%s",
		  blocker->function, blocker->tid, blocker->thread, blocker->chain,
		  blocker->proven ? "" : " (a word of the stack that may be an old one)");
	if (blocker->outermost)
		uspl_hint(err, "the function is the first of its thread and doesn't return before "
			       "that ends; move the change into a function that it calls");
	else
		uspl_hint(err, "the function has not returned in the time given; wait longer with "
			       "--wait=SECONDS, or, if it never returns "
			       "(an event loop), move the change into a function that it calls");
	return -USPL_E_BUSY;
}
