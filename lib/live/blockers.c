// SPDX-License-Identifier: GPL-3.0-or-later
// blockers.c - a thread that is in the way, told to people

#include "live/blockers.h"

#include <inttypes.h>
#include <string.h>

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
	struct image **image;

	if (!module) {
		buf_addf(out, "0x%" PRIx64, pc);
		return;
	}
	image = &names->images[module - names->modules->items];
	if (*image || module_image(names->proc, module, image, NULL) == 0)
		sym = image_sym_at(*image, pc);
	if (sym)
		buf_addstr(out, sym->name);
	else
		buf_addf(out, "%s+0x%" PRIx64, module->name, pc - module->start);
}

/*
 * The frames from the thread's place outwards. What matters is who called the function that is in
 * the way; of the frames inside it (the call that it waits in) the first and the last two tell
 * enough.
 */
static void add_chain(const struct proc *proc, const module_vec *modules,
		      const struct safety_finding *finding, struct buf *out)
{
	struct names names = { proc, modules, calloc(modules->n + 1, sizeof(*names.images)) };
	size_t skip_from = 1,
	       skip_to = finding->at > INNER_SHOWN ? finding->at - INNER_SHOWN + 1 : 1;
	size_t end = finding->at + OUTER_SHOWN < finding->n_chain ? finding->at + OUTER_SHOWN
								  : finding->n_chain;

	for (size_t i = 0; names.images && i < end; i++) {
		if (i >= skip_from && i < skip_to) {
			buf_addstr(out, i == skip_from ? " < ..." : "");
			continue;
		}
		buf_addstr(out, i ? " < " : "");
		add_name(&names, finding->chain[i], out);
	}
	if (finding->n_chain > end)
		buf_addstr(out, " < ...");
	for (size_t i = 0; names.images && i < modules->n; i++)
		image_free(names.images[i]);
	free(names.images);
}

int blocker_fail(const struct proc *proc, const module_vec *modules,
		 const struct safety_finding *finding, struct uspl_err *err)
{
	auto_buf struct buf chain = { 0 };
	char name[32];

	thread_name(proc, finding->tid, name, sizeof(name));
	if (finding->unreadable) {
		uspl_fail(err, USPL_E_BUSY,
			  "the stack of thread %d (%s) of pid %d can't be followed", finding->tid,
			  name, proc->pid);
		return -USPL_E_BUSY;
	}
	add_chain(proc, modules, finding, &chain);
	uspl_fail(err, USPL_E_BUSY, "'%s' is on the stack of thread %d (%s): %s%s",
		  finding->function, finding->tid, name, buf_str(&chain),
		  finding->proven ? "" : " (a word of the stack that may be an old one)");
	uspl_hint(err, "the function has not returned in the time given; wait longer with "
		       "--wait=SECONDS, or, if it never returns "
		       "(an event loop), move the change into a function that it calls");
	return -USPL_E_BUSY;
}
