/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.h - a process: its identity, what it maps, its memory
 *
 * Reading and writing memory needs no stop (/proc/PID/mem); the caller has to know whether it is
 * safe. A process is addressed through a thread that is alive, since the main thread may have
 * exited while the others go on.
 */
#ifndef USPL_PROC_PROC_H
#define USPL_PROC_PROC_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "proc/maps.h"

#define PROC_LOCKS 2

struct kept;
struct module;
struct remains;
typedef VEC(struct module) module_vec; /* module.h */

/*
 * How much work the contents of a process's memory may still make the tool do: any user can make a
 * process with any records in it. A step is about a microsecond: a read of its memory, a line of
 * its maps.
 */
struct proc_work {
	uint64_t steps, bytes;
	bool scan; /* it is looked at among all processes: its budget isn't renewed */
	bool spent;
};

struct proc {
	pid_t pid;
	pid_t tid;                /* a thread that lived when it was opened: proc_task() */
	uid_t uid;                /* its owner: the effective user */
	char comm[32];            /* as it may be shown */
	struct proc_work *work;   /* NULL: it isn't limited */
	int mem_fd;               /* /proc/PID/task/TID/mem, read and write */
	int lock_fds[PROC_LOCKS]; /* that the locks of proc_lock.h lie on; -1: none */
	uint64_t starttime;       /* clock ticks since boot: tells a pid from its reuse */
	int64_t wait_until_ns;    /* as proc_open_locked was told (proc_deadline); 0: it wasn't */
	bool catches_sigsys;      /* it had a handler for SIGSYS when it was opened */
	int seccomp;              /* 0 none, 1 strict, 2 filter */
	bool shadow_stack;        /* its thread `tid` has one (shstk.h) */
	/*
	 * Set by the code that has started it: it has one thread, stopped before the first
	 * constructor of its program and libraries, in the dynamic linker, which holds no lock.
	 */
	bool begins;
	mapping_vec maps;  /* as of the last proc_refresh_maps, sorted by address */
	struct kept *kept; /* what needn't be read again (kept.h); NULL: nothing is kept */
	/* What can be read when the process is over (remains.h); NULL: nothing. */
	struct remains *remains;
	/*
	 * What the command has read of its modules, for functions that get only the process; NULL:
	 * they read the modules. These must outlive what is done with the process.
	 */
	const module_vec *modules;
};

/*
 * Opens a process for reading and writing its memory, and finds out beforehand what would go wrong
 * later: it doesn't exist (USPL_E_NO_PROCESS), is one of a process's threads, isn't ours
 * (USPL_E_PERMISSION), is a zombie (USPL_E_ZOMBIE), is traced by another process (USPL_E_TRACED,
 * naming it), is a kernel thread, or is 32-bit (USPL_E_UNSUPPORTED).
 */
int proc_open(pid_t pid, struct proc **ret, struct uspl_err *err) uspl_must_check;
/* The same, for reading only: a traced process is fine, and no write access is asked for. */
int proc_open_readonly(pid_t pid, struct proc **ret, struct uspl_err *err) uspl_must_check;
/*
 * The same for one of all processes, which may be any user's: reading it, its maps included, takes
 * at most PROC_SCAN_STEPS and PROC_SCAN_BYTES, then it fails as proc_charge does.
 */
int proc_open_scan(pid_t pid, struct proc **ret, struct uspl_err *err) uspl_must_check;
/*
 * A thread that has the process's memory: `tid` as a rule, and another one once `tid` has ended. It
 * may end as well, right after this; if all have ended, it is `tid`.
 */
pid_t proc_task(const struct proc *proc);
/*
 * Reads /proc/PID/task/TID/name, which has what belongs to the process's memory or to its place in
 * the system; that of another thread if the one that is asked ends meanwhile. What was in ret is
 * lost.
 */
int proc_read_file(const struct proc *proc, const char *name, struct buf *ret,
		   struct uspl_err *err) uspl_must_check;
/* One with nothing in it, which can't be read before it has a mem_fd. */
int proc_new(struct proc **ret, struct uspl_err *err) uspl_must_check;
void proc_free(struct proc *proc);
/*
 * Until when something that passes by itself is worth being waited for, on CLOCK_MONOTONIC: for
 * least_ns from now, and in any case until the command's --wait is over, which has begun when it
 * opened the process.
 */
int64_t proc_deadline(const struct proc *proc, int64_t least_ns);
DEFINE_AUTO_FREE(proc, struct proc, proc_free)
#define auto_proc __attribute__((cleanup(cleanup_proc_)))

/*
 * True if this program is in the kernel's first pid namespace, whose ids the kernel's tracepoints
 * name (the ids in perf's notes are of the tool's own); true, too, where that can't be told.
 */
bool proc_in_first_pid_namespace(void);
#define PROC_SCAN_STEPS 12000ull
#define PROC_SCAN_BYTES (4ull << 20)
/* Of a process that was named: each time its records are read. */
#define PROC_WORK_STEPS 2000000ull
#define PROC_WORK_BYTES (256ull << 20)

/* Begins a reading of records: a process that was named gets its full budget again. */
void proc_work_begin(const struct proc *proc);
/*
 * Takes this much work from the process's budget, before it is done. USPL_E_HOSTILE if that is
 * spent, with a message that names the process and its owner; in a scan also -USPL_E_CANCELLED
 * after a signal.
 */
int proc_charge(const struct proc *proc, uint64_t steps, uint64_t bytes,
		struct uspl_err *err) uspl_must_check;
/*
 * The name of the process's owner in /etc/passwd, or its number: no service is asked, as that might
 * wait for others. Good until the thread's next call.
 */
const char *proc_owner(const struct proc *proc);

/* What the process maps at this moment; the caller's to release. */
int proc_read_maps(const struct proc *proc, mapping_vec *ret, struct uspl_err *err) uspl_must_check;
/* The same, put into proc->maps. */
int proc_refresh_maps(struct proc *proc, struct uspl_err *err) uspl_must_check;
/* A value of the process's auxiliary vector (AT_*, elf.h), 0 if it has none. */
uint64_t proc_auxv(const struct proc *proc, uint64_t type);
/* The mapping that addr lies in, or NULL. */
const struct mapping *proc_mapping_at(const struct proc *proc, taddr addr);

/*
 * USPL_E_NO_PROCESS if the memory that the tool holds open isn't the thread's any more: the thread
 * has called exec. For a thread that stands still, before its registers are set: what is known of
 * the process doesn't hold for another program, which may also run with other rights. The old
 * memory may live on, in a process that shares it; so it isn't enough that it can be read.
 */
int proc_check_current(const struct proc *proc, pid_t tid, struct uspl_err *err) uspl_must_check;

/* True if the memory that the tool holds open is gone: the process has ended, or called exec. */
bool proc_is_over(const struct proc *proc);
/* Exactly len bytes, or a failure. Of a process that is over, what is held of it. */
int proc_read(const struct proc *proc, taddr addr, void *buf, size_t len,
	      struct uspl_err *err) uspl_must_check;
/* True if all of it is mapped now, and can be read; true as well if that can't be told. */
bool proc_maps_now(const struct proc *proc, taddr addr, size_t len);
/* Up to len bytes; returns how many could be read, 0 if none. Sets no error. */
size_t proc_read_some(const struct proc *proc, taddr addr, void *buf, size_t len);
/*
 * The same where perhaps nothing is mapped: then *ret_there is false. A failure if the process maps
 * it (proc->maps) and it can't be read all the same: nothing must be concluded from that.
 */
int proc_read_if_mapped(const struct proc *proc, taddr addr, void *buf, size_t len, bool *ret_there,
			struct uspl_err *err) uspl_must_check;
/*
 * The same for records of ours, which only tools write: read once as long as the process is locked
 * (kept.h), and nothing is written there. Not for what the program itself may change.
 */
int proc_read_once(const struct proc *proc, taddr addr, void *buf, size_t len, bool *ret_there,
		   struct uspl_err *err) uspl_must_check;
/* A piece of the process's memory, to be read to a place of ours, or written from there. */
struct proc_piece {
	taddr addr;
	size_t len;
	void *to;
};

#define PROC_PIECES_MAX 64
/*
 * Reads up to PROC_PIECES_MAX pieces by one system call (process_vm_readv): half the time that a
 * call for each page takes. False if not all could be read; it doesn't read through protections.
 */
bool proc_read_pieces(const struct proc *proc, const struct proc_piece *pieces, size_t n);
/*
 * Writes up to PROC_PIECES_MAX pieces by one system call (process_vm_writev), not through
 * protections. False if not all could be written; then some may have been.
 */
bool proc_write_pieces(const struct proc *proc, const struct proc_piece *pieces, size_t n);
/*
 * Writes through the mapping's protection (Linux FOLL_FORCE), into this process's private copy of
 * the page. Where the kernel lets only tracers do that, or only ptrace (proc_mem.force_override,
 * 6.12), a thread of the process is attached to for the moment, and may be stopped (force.h).
 */
int proc_write(const struct proc *proc, taddr addr, const void *buf, size_t len,
	       struct uspl_err *err) uspl_must_check;
/* A NUL-terminated string of at most max bytes, allocated. USPL_E_HOSTILE: there is none. */
int proc_read_string(const struct proc *proc, taddr addr, size_t max, char **ret,
		     struct uspl_err *err) uspl_must_check;

#endif
