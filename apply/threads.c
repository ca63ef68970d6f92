// SPDX-License-Identifier: GPL-3.0-or-later
// threads.c - the key under which threads keep the thread-local variables of new code

#include "apply/threads.h"

#include "arch/arch.h"
#include "arch/regs.h"
#include "proc/dynsym.h"
#include "safety/safe_call.h"

/* pthread_key_delete, wherever the process has it; 0 if it hasn't. */
static int find_delete(const struct proc *proc, const module_vec *modules, taddr *ret,
		       struct uspl_err *err)
{
	const struct module *module;

	*ret = 0;
	vec_for_each (modules, module) {
		auto_dynsyms struct dynsyms *dyn = NULL;
		int rc = dynsyms_open(proc, module, &dyn, err);
		const Elf64_Sym *sym = rc ? NULL : dynsyms_find(dyn, "pthread_key_delete", NULL);

		if (rc)
			return rc;
		if (sym && sym->st_shndx != SHN_UNDEF)
			*ret = dynsyms_address(dyn, sym->st_value);
	}
	return 0;
}

static int delete_key(struct proc *proc, const module_vec *modules, uint32_t key,
		      struct uspl_err *err)
{
	struct inject_req req = { .kind = INJECT_CALL, .args = { key } };
	int rc = find_delete(proc, modules, &req.what, err);

	/* Without that function a key stays; as no thread has data, none asks for it. */
	return rc || !req.what ? rc : safe_call_run(proc, modules, &req, 1, err);
}

/* A thread that waits in such a call holds none of its C library's locks. */
static bool waits(void *ctx, const struct thread *thread)
{
	(void)ctx;
	return !thread->group_stopped && syscall_waits_for_events(regs_syscall(&thread->regs));
}

/*
 * pthread_key_create takes at most a lock that nothing else is done with, and allocates nothing. So
 * the thread's stack need not be known to the outermost frame, which a C library without unwinding
 * information wouldn't allow. Other threads come into question only if none waits.
 */
static int create_key(struct proc *proc, const module_vec *modules, struct inject_req *req,
		      struct uspl_err *err)
{
	const struct inject_choice choice = { .fit = waits };
	size_t done;
	int rc = inject_run_in(proc, &choice, req, 1, &done, err);

	return rc == -USPL_E_BUSY ? safe_call_run(proc, modules, req, 1, err) : rc;
}

/* How many bytes of a function are looked at; more than pthread_getspecific has. */
enum { LOOK = 512 };

int threads_make_key(struct proc *proc, const module_vec *modules, const struct link *link,
		     struct region *region, struct uspl_err *err)
{
	struct inject_req req = {
		.kind = INJECT_CALL,
		.what = link->threads.create,
		.args = { link->threads.scratch, link->threads.leave },
	};
	uint8_t code[LOOK];
	uint32_t key;
	int rc;

	if (!link->has_threads || region->thread_key)
		return 0;
	if (!arch_native()->has_threads())
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"new thread-local variables need XSAVE, which this processor lacks");
	rc = create_key(proc, modules, &req, err);
	if (rc)
		return rc;
	if ((uint32_t)req.result)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "pid %d has no key left for the new thread-local variables",
				 proc->pid);
	rc = proc_read(proc, link->threads.scratch, &key, sizeof(key), err);
	if (rc)
		return rc;
	if (key >= USPL_THREADS_KEYS) {
		rc = delete_key(proc, modules, key, err);
		if (rc)
			return rc;
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "pid %d has used up the %d keys under which threads can keep "
				 "new thread-local variables without allocating memory",
				 proc->pid, USPL_THREADS_KEYS);
	}
	key++;
	if (arch_native()->keeps_vectors(code, proc_read_some(proc, link->threads.get, code,
							      sizeof(code))))
		key |= USPL_THREADS_PLAIN;
	return region_write_thread_key(proc, region, key, err);
}

int threads_drop_key(struct proc *proc, const module_vec *modules, struct region *region,
		     struct uspl_err *err)
{
	struct inject_req req = { .kind = INJECT_CALL,
				  .args = { (region->thread_key & ~USPL_THREADS_PLAIN) - 1 } };
	const struct safe_call_note note = {
		region->self + offsetof(struct uspl_region, thread_key), 0
	};
	int rc;

	if (!region->thread_key)
		return 0;
	rc = find_delete(proc, modules, &req.what, err);
	if (rc)
		return rc;
	if (!req.what)
		return region_write_thread_key(proc, region, 0, err);
	/* A key that is free may become the program's own: no tool may find it in the record. */
	rc = safe_call_run_noted(proc, modules, &req, &note, NULL, err);
	if (rc)
		return rc;
	region->thread_key = 0;
	return 0;
}
