// SPDX-License-Identifier: GPL-3.0-or-later
// hold.c - opens what of a process can be read when it is over

#include "proc/hold.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "proc/remains.h"
#include "proc/task.h"

static int begin(struct proc *proc, struct uspl_err *err)
{
	if (proc->remains)
		return 0;
	proc->remains = calloc(1, sizeof(*proc->remains));
	if (!proc->remains)
		return uspl_fail_nomem(err);
	proc->remains->main = task_inner_id(proc, proc->pid);
	return 0;
}

/* Takes fd. */
static int add_file(struct remains *remains, taddr module, int fd, struct uspl_err *err)
{
	struct remains_file *file = vec_push(&remains->files);

	if (!file) {
		close(fd);
		return uspl_fail_nomem(err);
	}
	*file = (struct remains_file){ module, fd };
	return 0;
}

static int add_piece(struct remains *remains, const struct remains_piece *piece,
		     struct uspl_err *err)
{
	struct remains_piece *place = vec_push(&remains->pieces);

	if (!place)
		return uspl_fail_nomem(err);
	*place = *piece;
	return 0;
}

int hold_memory(struct proc *proc, taddr addr, struct uspl_err *err)
{
	const struct mapping *map = proc_mapping_at(proc, addr);
	struct remains_piece piece = { .fd = -1 };
	char path[96];
	int rc = begin(proc, err);

	if (rc)
		return rc;
	if (!map || !map->shared)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d shares no memory at 0x%" PRIx64,
				 proc->pid, addr);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, proc_task(proc),
		 map->start, map->end);
	piece = (struct remains_piece){ map->start, map->end - map->start, map->offset,
					open(path, O_RDONLY | O_CLOEXEC) };
	if (piece.fd < 0)
		return uspl_fail_errno(err, "cannot open shared memory of pid %d", proc->pid);
	rc = add_file(proc->remains, 0, piece.fd, err);
	if (rc)
		return rc;
	return add_piece(proc->remains, &piece, err);
}

int hold_files(struct proc *proc, const module_vec *modules, struct uspl_err *err)
{
	const struct module *module;
	const Elf64_Phdr *phdr;
	int rc = begin(proc, err);

	if (rc)
		return rc;
	vec_for_each (modules, module) {
		int fd = module->is_vdso ? -1 : module_open_file(proc, module);

		if (fd < 0)
			continue;
		rc = add_file(proc->remains, module->start, fd, err);
		if (rc)
			return rc;
		vec_for_each (&module->phdrs, phdr) {
			const struct remains_piece piece = { phdr->p_vaddr + (uint64_t)module->bias,
							     phdr->p_filesz, phdr->p_offset, fd };

			if (phdr->p_type != PT_LOAD)
				continue;
			rc = add_piece(proc->remains, &piece, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}
