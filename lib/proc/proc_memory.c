// SPDX-License-Identifier: GPL-3.0-or-later
// proc_memory.c - a process's memory, read and written

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "proc/force.h"
#include "proc/kept.h"
#include "proc/proc.h"
#include "proc/remains.h"

/*
 * How often memory that is unmapped and mapped again all the time is read before that is a failure.
 */
#define READ_TRIES 8

size_t proc_read_some(const struct proc *proc, taddr addr, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got =
			pread(proc->mem_fd, (char *)buf + done, len - done, (off_t)(addr + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			done += remains_read(proc->remains, addr + done, (char *)buf + done,
					     len - done);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool proc_is_over(const struct proc *proc)
{
	taddr first = proc->maps.n ? proc->maps.items[0].start : 0;
	char byte;

	return pread(proc->mem_fd, &byte, 1, (off_t)first) == 0;
}

int proc_read(const struct proc *proc, taddr addr, void *buf, size_t len, struct uspl_err *err)
{
	errno = 0;
	if (proc_read_some(proc, addr, buf, len) == len)
		return 0;
	if (!errno)
		return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has exited, or called exec",
				 proc->pid);
	return uspl_fail_errno(err, "cannot read %zu bytes at 0x%" PRIx64 " of pid %d", len, addr,
			       proc->pid);
}

/* How many of the len bytes at addr are mapped, readable, from the first one on. */
static size_t mapped_len(const mapping_vec *maps, taddr addr, size_t len)
{
	const struct mapping *map = mappings_at(maps, addr);
	taddr at = addr;

	while (map && map->read && at - addr < len) {
		at = map->end;
		map = mappings_at(maps, at);
	}
	return at - addr < len ? at - addr : len;
}

bool proc_maps_now(const struct proc *proc, taddr addr, size_t len)
{
	auto_mappings mapping_vec maps = { 0 };
	bool mapped = proc_read_maps(proc, &maps, NULL) != 0 || mapped_len(&maps, addr, len) == len;

	return mapped;
}

int proc_read_if_mapped(const struct proc *proc, taddr addr, void *buf, size_t len, bool *ret_there,
			struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = 0;

	if (mapped_len(&proc->maps, addr, len) != len) {
		*ret_there = false;
		return 0;
	}
	/*
	 * The program may have unmapped it since the last refresh, a library by dlclose() for
	 * example; and mapped something in the same place, by the time that we look. Then it is
	 * read again.
	 */
	for (int i = 0; i < READ_TRIES; i++) {
		rc = proc_read(proc, addr, buf, len, &why);
		if (!rc || !proc_maps_now(proc, addr, len))
			break;
		if (i + 1 < READ_TRIES)
			continue;
		if (err)
			*err = why;
		return rc;
	}
	*ret_there = !rc;
	return 0;
}

int proc_read_once(const struct proc *proc, taddr addr, void *buf, size_t len, bool *ret_there,
		   struct uspl_err *err)
{
	int rc;

	*ret_there = kept_recall(proc->kept, addr, buf, len);
	if (*ret_there)
		return 0;
	rc = proc_read_if_mapped(proc, addr, buf, len, ret_there, err);
	if (rc)
		return rc;
	if (*ret_there)
		kept_add(proc->kept, addr, buf, len);
	return 0;
}

typedef ssize_t (*move_fn)(pid_t pid, const struct iovec *ours, unsigned long n_ours,
			   const struct iovec *theirs, unsigned long n_theirs, unsigned long flags);

static bool move_pieces(const struct proc *proc, const struct proc_piece *pieces, size_t n,
			move_fn move)
{
	struct iovec ours[PROC_PIECES_MAX], theirs[PROC_PIECES_MAX];
	size_t len = 0;
	ssize_t moved;

	for (size_t i = 0; i < n; i++) {
		ours[i] = (struct iovec){ pieces[i].to, pieces[i].len };
		/* An address of the target's in the kernel's type for one of ours. */
		theirs[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].addr, pieces[i].len };
		len += pieces[i].len;
	}
	moved = move(proc->tid, ours, n, theirs, n, 0);
	if (moved < 0 && errno == ESRCH)
		moved = move(proc_task(proc), ours, n, theirs, n, 0);
	return moved == (ssize_t)len;
}

bool proc_read_pieces(const struct proc *proc, const struct proc_piece *pieces, size_t n)
{
	return move_pieces(proc, pieces, n, process_vm_readv);
}

bool proc_write_pieces(const struct proc *proc, const struct proc_piece *pieces, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kept_drop(proc->kept, pieces[i].addr, pieces[i].len);
	return move_pieces(proc, pieces, n, process_vm_writev);
}

/*
 * What /proc/PID/mem refuses: memory that isn't there, or, by a setting of the kernel's, writes
 * through its protection.
 */
static int write_refused(const struct proc *proc, taddr addr, const void *buf, size_t len,
			 struct uspl_err *err)
{
	bool mapped = errno == EIO && proc_maps_now(proc, addr, len);
	int rc;

	if (mapped && force_write(proc, addr, buf, len))
		return 0;
	errno = EIO;
	rc = uspl_fail_errno(err, "cannot write %zu bytes at 0x%" PRIx64 " of pid %d", len, addr,
			     proc->pid);
	if (mapped)
		uspl_hint(err, "this kernel doesn't let programs write through protections: see "
			       "proc_mem.force_override among its parameters");
	return rc;
}

static int write_all(const struct proc *proc, taddr addr, const void *buf, size_t len,
		     struct uspl_err *err)
{
	size_t done = 0;

	while (done < len) {
		const char *rest = (const char *)buf + done;
		ssize_t put = pwrite(proc->mem_fd, rest, len - done, (off_t)(addr + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put == 0)
			return uspl_fail(err, USPL_E_NO_PROCESS,
					 "pid %d has exited, or called exec", proc->pid);
		if (put < 0 && errno == EIO)
			return write_refused(proc, addr + done, rest, len - done, err);
		if (put < 0)
			return uspl_fail_errno(err,
					       "cannot write %zu bytes at 0x%" PRIx64 " of pid %d",
					       len, addr, proc->pid);
		done += (size_t)put;
	}
	return 0;
}

int proc_write(const struct proc *proc, taddr addr, const void *buf, size_t len,
	       struct uspl_err *err)
{
	int rc = write_all(proc, addr, buf, len, err);

	/* Some of it may have been written. */
	if (rc)
		kept_drop(proc->kept, addr, len);
	else
		kept_write(proc->kept, addr, buf, len);
	return rc;
}

int proc_read_string(const struct proc *proc, taddr addr, size_t max, char **ret,
		     struct uspl_err *err)
{
	auto_free char *text = malloc(max + 1);
	size_t got;

	if (!text)
		return uspl_fail_nomem(err);
	errno = 0;
	got = proc_read_some(proc, addr, text, max);
	if (!memchr(text, '\0', got) && got < mapped_len(&proc->maps, addr, max))
		return uspl_fail_errno(err, "cannot read a string at 0x%" PRIx64 " of pid %d", addr,
				       proc->pid);
	if (!memchr(text, '\0', got))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "there is no string at 0x%" PRIx64 " of pid %d", addr, proc->pid);
	*ret = take_ptr(text);
	return 0;
}
