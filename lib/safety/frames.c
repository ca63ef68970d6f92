// SPDX-License-Identifier: GPL-3.0-or-later
// frames.c - new code and the unwinder of the program itself
/*
 * libgcc's __register_frame(section) takes a whole .eh_frame up to its terminator. It has to be
 * called by the program itself. It takes libgcc's lock for such sections, and allocates: so it
 * takes malloc's locks too, and may be bound by the dynamic linker on the way (safe_call.c).
 */

#include "safety/frames.h"

#include <string.h>

#include "proc/dynsym.h"
#include "safety/safe_call.h"

/* The functions by which an unwinder of libgcc's kind is told of frames; 0 if there are none. */
struct unwinder_api {
	taddr enter, leave; /* __register_frame and __deregister_frame */
	bool other;         /* there is an unwinder that can't be told */
};

static bool defines(struct dynsyms *dyn, const char *name, taddr *ret)
{
	const Elf64_Sym *sym = dynsyms_find(dyn, name, NULL);

	if (!sym || sym->st_shndx == SHN_UNDEF)
		return false;
	*ret = dynsyms_address(dyn, sym->st_value);
	return true;
}

/*
 * True if the program throws exceptions: the languages' runtimes mark theirs by these eight bytes
 * (Itanium C++ ABI, "Exception Handling", 2.2.1), which are constants of their code.
 */
static bool throws(const struct image *image)
{
	static const char classes[][9] = { "\0++CCUNG", "TSUR\0ZOM" };
	const struct image_seg *seg;

	vec_for_each (&image->segs, seg)
		for (size_t i = 0; seg->exec && seg->bytes && i < ARRAY_SIZE(classes); i++)
			if (memmem(seg->bytes, seg->len, classes[i], sizeof(classes[i]) - 1))
				return true;
	return false;
}

static int look_into_program(const struct proc *proc, const struct module *module,
			     const struct image *known, struct unwinder_api *api,
			     struct uspl_err *err)
{
	struct image *image = NULL;
	const struct image_sym *sym;
	int rc = known ? 0 : module_image(proc, module, &image, err);

	if (rc)
		return rc;
	if (!known)
		known = image;
	/* A static program has libgcc inside; then only its symbol table knows where. */
	vec_for_each (&known->syms, sym) {
		if (!strcmp(sym->name, "__register_frame"))
			api->enter = sym->addr;
		if (!strcmp(sym->name, "__deregister_frame"))
			api->leave = sym->addr;
	}
	api->other |= !api->enter && throws(known);
	image_free(image);
	return 0;
}

static int find_api(const struct proc *proc, const module_vec *modules, const struct image *image,
		    struct unwinder_api *ret, struct uspl_err *err)
{
	const struct module *program = module_main(modules);
	struct unwinder_api api = { 0 };
	taddr enter, leave, unused;
	int rc = 0;

	for (size_t i = 0; i < modules->n; i++) {
		auto_dynsyms struct dynsyms *dyn = NULL;

		rc = dynsyms_open(proc, &modules->items[i], &dyn, err);
		if (rc)
			return rc;
		/* LLVM's unwinder has them too, but takes a single record, not a section. */
		if (defines(dyn, "__unw_getcontext", &unused)) {
			api.other = true;
		} else if (defines(dyn, "__register_frame", &enter) &&
			   defines(dyn, "__deregister_frame", &leave)) {
			api.enter = enter;
			api.leave = leave;
		}
	}
	if (!api.enter && program) {
		rc = look_into_program(proc, program, image, &api, err);
		if (rc)
			return rc;
	}
	*ret = api;
	return 0;
}

static int call(struct proc *proc, const module_vec *modules, taddr function,
		const struct frames *frames, bool known, struct uspl_err *err)
{
	struct inject_req req = { .kind = INJECT_CALL,
				  .what = function,
				  .args = { frames->section } };
	const struct safe_call_note note = { frames->noted, known };
	int rc = safe_call_run_noted(proc, modules, &req, &note, NULL, err);

	if (rc == -USPL_E_BUSY)
		uspl_context(err, "cannot tell the unwinder of the new code");
	return rc;
}

int frames_register(struct proc *proc, const module_vec *modules, const struct frames *frames,
		    enum frames_need need, bool *ret_told, struct uspl_err *err)
{
	struct unwinder_api api;
	int rc = find_api(proc, modules, frames->program, &api, err);

	if (rc)
		return rc;
	if (!api.enter && need == FRAMES_NEEDED)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the new code handles exceptions, but pid %d has no "
				 "__register_frame to make it known with",
				 proc->pid);
	if (!api.enter && need != FRAMES_OPTIONAL && api.other)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "exceptions could not pass through traced functions: the unwinder "
				 "of pid %d can't be told of them",
				 proc->pid);
	if (api.enter) {
		rc = call(proc, modules, api.enter, frames, true, err);
		if (rc)
			return rc;
	}
	*ret_told = api.enter != 0;
	return 0;
}

int frames_forget(struct proc *proc, const module_vec *modules, const struct frames *frames,
		  struct uspl_err *err)
{
	struct unwinder_api api;
	uint32_t known;
	int rc = proc_read(proc, frames->noted, &known, sizeof(known), err);

	if (rc || !known)
		return rc;
	rc = find_api(proc, modules, frames->program, &api, err);
	if (rc)
		return rc;
	if (!api.leave) {
		rc = uspl_fail(err, USPL_E_UNSUPPORTED, "pid %d has no __deregister_frame any more",
			       proc->pid);
		if (rc)
			return rc;
	}
	return call(proc, modules, api.leave, frames, false, err);
}
