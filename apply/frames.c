// SPDX-License-Identifier: GPL-3.0-or-later
// frames.c - new code and the unwinder of the program itself
/*
 * libgcc's __register_frame(section) takes a whole .eh_frame up to its terminator. It has to be
 * called by the program, in one of its threads, at a moment that the program doesn't know of. It
 * takes libgcc's lock for such sections, and allocates: so it takes malloc's locks too, and may be
 * bound by the dynamic linker on the way. Other threads run on, so that a lock which one of them
 * holds will be free again. What must not be is that the thread itself holds one of the three.
 * There are two places of which that can be said:
 *
 *   asleep    in a system call that waits for time, input or other processes (epoll_wait, read):
 *             allocators and dynamic linkers make none of these. Or in futex, if the function that
 *             waits is one that programs call for an event: pthread_cond_wait, sem_wait, ...
 *   running   code of the program, or of a library that isn't libc and defines no allocator.
 *
 * In both cases its stack must be unwound to the end, must have no signal frame (a handler may have
 * interrupted malloc), and no frame of the dynamic linker, of libgcc, or of a library that brings
 * its own allocator: a constructor or a callback may be called with their locks held. All other
 * threads are passed over. If none is fit, we look again a little later: threads come by.
 */

#include "apply/frames.h"

#include <string.h>
#include <time.h>

#include "arch/regs.h"
#include "base/cancel.h"
#include "live/stack.h"
#include "proc/dynsym.h"
#include "proc/inject.h"

#define WAIT_NS 5000000000ll
#define PAUSE_NS 2000000
/* Between the system call and the function that programs call lie a few of libc's own. */
#define INNER_FRAMES 4

enum role {
	ROLE_PROGRAM,   /* nothing is known against it */
	ROLE_LIBC,      /* holds locks inside, but calls nobody with them */
	ROLE_SENSITIVE, /* may call others while it holds a lock that we need */
};

/* The functions in which a thread sleeps for an event, holding none of its libc's locks. */
static const char *const wait_functions[] = {
	"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
	"sem_wait",          "sem_timedwait",          "sem_clockwait",
	"pthread_join",      "pthread_timedjoin_np",   "pthread_barrier_wait",
};

struct code {
	taddr start, end;
};

struct guide {
	const module_vec *modules;
	enum role *roles; /* by the module's place in modules */
	VEC(struct code) waits;
	taddr enter, leave; /* __register_frame and __deregister_frame; 0 if there are none */
	struct unwinder *unwinder;
};

/* What is seen of one stack. */
struct view {
	const struct guide *guide;
	size_t n;
	bool in_wait;    /* one of the innermost frames is in a wait function */
	bool in_program; /* the innermost one is the program's own code */
	bool doubtful;
};

static bool starts(const char *str, const char *prefix)
{
	return str && !strncmp(str, prefix, strlen(prefix));
}

static bool defines(struct dynsyms *dyn, const char *name, taddr *ret)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, NULL);

	if (!sym || sym->st_shndx == SHN_UNDEF)
		return false;
	*ret = dynsyms_address(dyn, sym->st_value);
	return true;
}

static enum role role_of(struct dynsyms *dyn)
{
	const struct module *module = dyn->module;
	taddr addr;

	if (starts(module->name, "ld-linux") || starts(module->soname, "ld-linux"))
		return ROLE_SENSITIVE;
	if (defines(dyn, "__register_frame", &addr) && !module->is_main)
		return ROLE_SENSITIVE;
	if (!defines(dyn, "malloc", &addr))
		return ROLE_PROGRAM;
	return module->is_main || defines(dyn, "pthread_create", &addr) ? ROLE_LIBC
									: ROLE_SENSITIVE;
}

/* The functions by which an unwinder of libgcc's kind is told of frames, if this is one. */
static void note_unwinder(struct guide *guide, struct dynsyms *dyn)
{
	taddr enter, leave, unused;

	/* LLVM's has them too, but takes a single record, not a section. */
	if (defines(dyn, "__unw_getcontext", &unused) ||
	    !defines(dyn, "__register_frame", &enter) ||
	    !defines(dyn, "__deregister_frame", &leave))
		return;
	guide->enter = enter;
	guide->leave = leave;
}

static int note_waits(struct guide *guide, struct dynsyms *dyn, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(wait_functions); i++) {
		const Elf64_Sym *sym = dynsyms_find(dyn, wait_functions[i], NULL);
		struct code *code;

		if (!sym || sym->st_shndx == SHN_UNDEF || !sym->st_size)
			continue;
		code = vec_push(&guide->waits);
		if (!code)
			return uspl_fail_nomem(err);
		code->start = dynsyms_address(dyn, sym->st_value);
		code->end = code->start + sym->st_size;
	}
	return 0;
}

/* A static program has libgcc inside; then only its symbol table knows where. */
static int look_into_program(const struct proc *proc, const struct module *module,
			     struct guide *guide, struct uspl_err *err)
{
	struct image *image;
	const struct image_sym *sym;
	int rc = module_image(proc, module, &image, err);

	if (rc)
		return rc;
	vec_for_each (&image->syms, sym) {
		if (!strcmp(sym->name, "__register_frame"))
			guide->enter = sym->addr;
		if (!strcmp(sym->name, "__deregister_frame"))
			guide->leave = sym->addr;
	}
	image_free(image);
	return 0;
}

static int look_at_modules(const struct proc *proc, struct guide *guide, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < guide->modules->n; i++) {
		auto_dynsyms struct dynsyms *dyn = NULL;

		rc = dynsyms_open(proc, &guide->modules->items[i], &dyn, err);
		if (rc)
			break;
		guide->roles[i] = role_of(dyn);
		/* A program without a dynamic linker has its libc inside. */
		if (dyn->module->is_main && !dyn->debug)
			guide->roles[i] = ROLE_LIBC;
		rc = note_waits(guide, dyn, err);
		note_unwinder(guide, dyn);
	}
	for (size_t i = 0; !rc && !guide->enter && i < guide->modules->n; i++)
		if (guide->modules->items[i].is_main)
			rc = look_into_program(proc, &guide->modules->items[i], guide, err);
	return rc;
}

static int guide_init(struct guide *guide, const struct proc *proc, const module_vec *modules,
		      struct uspl_err *err)
{
	guide->modules = modules;
	guide->roles = calloc(modules->n + 1, sizeof(*guide->roles));
	return guide->roles ? look_at_modules(proc, guide, err) : uspl_fail_nomem(err);
}

static void guide_release(struct guide *guide)
{
	free(guide->roles);
	vec_release(&guide->waits);
	unwinder_free(guide->unwinder);
}

DEFINE_AUTO_RELEASE(guide, struct guide, guide_release)
#define auto_guide __attribute__((cleanup(cleanup_guide_)))

static enum role role_at(const struct guide *guide, taddr addr)
{
	const struct module *module = module_at(guide->modules, addr);

	return module ? guide->roles[module - guide->modules->items] : ROLE_PROGRAM;
}

static bool is_wait(const struct guide *guide, taddr addr)
{
	const struct code *code;

	vec_for_each (&guide->waits, code)
		if (addr >= code->start && addr < code->end)
			return true;
	return false;
}

static bool visit_frame(void *ctx, const struct unwind_frame *frame)
{
	struct view *view = ctx;
	taddr pc = frame->is_call ? frame->pc - 1 : frame->pc;
	enum role role = role_at(view->guide, pc);

	if (!view->n)
		view->in_program = role == ROLE_PROGRAM;
	if (view->n < INNER_FRAMES)
		view->in_wait |= is_wait(view->guide, pc);
	/* Only a signal makes a frame behind the first one that no call has left. */
	view->doubtful |= role == ROLE_SENSITIVE || (view->n && !frame->is_call);
	view->n++;
	return !view->doubtful;
}

/* inject_choice.fit: see the essay. */
static bool is_fit(void *ctx, const struct thread *thread)
{
	const struct guide *guide = ctx;
	struct view view = { .guide = guide };
	long call = regs_syscall(&thread->regs);
	struct some_regs regs;
	taddr sp;

	regs_to_dwarf(&thread->regs, &regs);
	if (thread->group_stopped ||
	    unwind(guide->unwinder, &regs, visit_frame, &view, &sp) != UNWIND_COMPLETE ||
	    view.doubtful)
		return false;
	if (call < 0)
		return view.in_program;
	return syscall_waits_for_events(call) || (syscall_waits_for_lock(call) && view.in_wait);
}

static int call(struct proc *proc, struct guide *guide, taddr function, const struct region *region,
		struct uspl_err *err)
{
	const struct inject_choice choice = { is_fit, guide };
	const struct timespec pause = { 0, PAUSE_NS };
	struct inject_req req = { .kind = INJECT_CALL,
				  .what = function,
				  .args = { region->eh_frame } };
	int64_t deadline = clock_now_ns() + WAIT_NS;
	struct uspl_err last = { 0 };
	size_t done;
	int rc = stack_unwinder_new(proc, guide->modules, &guide->unwinder, err);

	if (rc)
		return rc;
	for (;;) {
		rc = inject_run_in(proc, &choice, &req, 1, &done, &last);
		if (rc != -USPL_E_BUSY || clock_now_ns() >= deadline || cancel_requested())
			break;
		nanosleep(&pause, NULL);
	}
	if (rc == -USPL_E_BUSY)
		return uspl_fail(err, USPL_E_BUSY,
				 "no thread of pid %d is at a place where its unwinder can be told "
				 "of the new code",
				 proc->pid);
	if (rc && err)
		*err = last;
	return rc;
}

int frames_register(struct proc *proc, const module_vec *modules, struct region *region,
		    bool needed, struct uspl_err *err)
{
	auto_guide struct guide guide = { 0 };
	int rc;

	if (region->frames || !region->eh_frame)
		return 0;
	rc = guide_init(&guide, proc, modules, err);
	if (rc)
		return rc;
	if (!guide.enter)
		return needed ? uspl_fail(err, USPL_E_UNSUPPORTED,
					  "the new code handles exceptions, but pid %d has no "
					  "__register_frame to make it known with",
					  proc->pid)
			      : 0;
	rc = call(proc, &guide, guide.enter, region, err);
	return rc ? rc : region_write_frames(proc, region, true, err);
}

int frames_forget(struct proc *proc, const module_vec *modules, struct region *region,
		  struct uspl_err *err)
{
	auto_guide struct guide guide = { 0 };
	int rc;

	if (!region->frames)
		return 0;
	rc = guide_init(&guide, proc, modules, err);
	if (!rc && !guide.leave)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED, "pid %d has no __deregister_frame any more",
			       proc->pid);
	if (!rc)
		rc = call(proc, &guide, guide.leave, region, err);
	return rc ? rc : region_write_frames(proc, region, false, err);
}
