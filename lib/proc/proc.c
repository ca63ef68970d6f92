// SPDX-License-Identifier: GPL-3.0-or-later
// proc.c - a process: its identity, what it maps, its memory

#include "proc/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "proc/ending.h"
#include "proc/kept.h"
#include "proc/proc_status.h"
#include "proc/remains.h"

/*
 * The link target of the first pid namespace, Linux PROC_PID_INIT_INO: every other one is below it.
 */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

/* How often another thread is asked when the one that was asked has exited meanwhile. */
#define TASK_TRIES 16

/* A link in /proc, "" if it can't be read. */
static void read_link(const char *path, char *buf, size_t size)
{
	ssize_t len = readlink(path, buf, size - 1);

	buf[len < 0 ? 0 : len] = '\0';
}

bool proc_in_first_pid_namespace(void)
{
	char namespace[64];

	read_link("/proc/self/ns/pid", namespace, sizeof(namespace));
	return !namespace[0] || strcmp(namespace, FIRST_PID_NAMESPACE) == 0;
}

/*
 * ptrace(2) takes pids of our own namespace, /proc shows those of the one it was mounted in: if
 * they weren't the same, we would stop one process and write to another.
 */
static int check_proc_is_ours(struct uspl_err *err)
{
	char self[64];

	read_link("/proc/self", self, sizeof(self));
	if (strtol(self, NULL, 10) == getpid())
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED, "'/proc' shows the processes of another pid namespace");
	uspl_hint(err, "mount the proc file system anew in this one, or run the program outside");
	return -USPL_E_UNSUPPORTED;
}

static int read_status(pid_t pid, pid_t tid, struct proc_status *ret, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (file_read(path, &text, NULL) != 0) {
		uspl_fail(err, USPL_E_NO_PROCESS, "there is no process with pid %d", pid);
		if (!proc_in_first_pid_namespace())
			uspl_hint(err, "this program runs in a pid namespace (a container), and "
				       "sees no processes outside of it");
		return -USPL_E_NO_PROCESS;
	}
	proc_status_parse(buf_str(&text), ret);
	return 0;
}

static bool lives(const struct proc_status *st)
{
	return st->state != 'Z' && st->state != 'X';
}

/*
 * A thread that lives and has memory: the main one, or another if the main one has exited. A thread
 * that exits gives its memory up some time before it is a zombie. If none has memory, the main one
 * (it is a kernel thread's, or all are exiting); 0 if all are zombies.
 */
static pid_t living_thread(pid_t pid, struct proc_status *ret)
{
	struct proc_status st, first = { 0 };
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	pid_t found = 0;

	if (read_status(pid, pid, &first, NULL) == 0 && lives(&first)) {
		*ret = first;
		if (first.has_memory)
			return pid;
		found = pid;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)atol(entry->d_name);

		if (tid <= 0 || read_status(pid, tid, &st, NULL) != 0 || !lives(&st) ||
		    !st.has_memory)
			continue;
		*ret = st;
		return tid;
	}
	return found;
}

/* A thread that ends loses its memory; what /proc calls its program tells (proc_pid_exe(5)). */
static bool has_program(pid_t pid, pid_t tid)
{
	char path[64], byte;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", pid, tid);
	return readlink(path, &byte, sizeof(byte)) > 0;
}

pid_t proc_task(const struct proc *proc)
{
	struct proc_status status = { 0 };
	pid_t other;

	if (has_program(proc->pid, proc->tid))
		return proc->tid;
	other = living_thread(proc->pid, &status);
	return other ? other : proc->tid;
}

int proc_read_file(const struct proc *proc, const char *name, struct buf *ret, struct uspl_err *err)
{
	for (int tries = 0;; tries++) {
		pid_t tid = proc_task(proc);
		char path[64];
		int rc;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", proc->pid, tid, name);
		buf_release(ret);
		rc = file_read(path, ret, err);
		if (tries == TASK_TRIES || has_program(proc->pid, tid))
			return rc;
	}
}

static void read_comm(struct proc *proc)
{
	auto_buf struct buf text = { 0 };
	char path[64];

	auto_buf struct buf shown = { 0 };

	/* A program may call itself anything; a new line ends what the kernel says. */
	snprintf(path, sizeof(path), "/proc/%d/comm", proc->pid);
	if (file_read(path, &text, NULL) != 0)
		return;
	text_add_printable(&shown, buf_str(&text), text.len ? text.len - 1 : 0, false);
	snprintf(proc->comm, sizeof(proc->comm), "%.31s", buf_str(&shown));
}

static int read_starttime(struct proc *proc, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	const char *field;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", proc->pid);
	rc = file_read(path, &text, err);
	if (rc)
		return rc;
	field = proc_stat_field(buf_str(&text), PROC_STAT_STARTTIME);
	if (!field)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot understand '%s'", path);
	proc->starttime = strtoull(field, NULL, 10);
	return 0;
}

static int check_not_traced(pid_t pid, const struct proc_status *st, struct uspl_err *err)
{
	auto_buf struct buf comm = { 0 };
	char path[64];

	if (!st->tracer || ending_await(st->tracer))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", st->tracer);
	if (file_read(path, &comm, NULL) != 0)
		buf_addstr(&comm, "?");
	uspl_fail(err, USPL_E_TRACED, "pid %d is traced by pid %d ('%.*s') already", pid,
		  st->tracer, (int)strcspn(buf_str(&comm), "\n"), buf_str(&comm));
	uspl_hint(err, "detach the debugger or tracer, then try again");
	return -USPL_E_TRACED;
}

/* The class of the program: from its file, which /proc shows even if it was deleted. */
static int check_class(const struct proc *proc, struct uspl_err *err)
{
	unsigned char ident[EI_NIDENT];
	char path[64];
	auto_close int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", proc->pid, proc->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot read the program of pid %d", proc->pid);
	if (read(fd, ident, sizeof(ident)) != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the program of pid %d is not an ELF file", proc->pid);
	if (ident[EI_CLASS] != ELFCLASS64)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "pid %d is a 32-bit process", proc->pid);
	return 0;
}

/* Says which user may, by Yama's setting if any (Documentation/admin-guide/LSM/Yama.rst). */
static void hint_permission(struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	int scope = file_read("/proc/sys/kernel/yama/ptrace_scope", &text, NULL) == 0
			    ? atoi(buf_str(&text))
			    : 0;

	if (scope <= 0)
		uspl_hint(err, "run as the process's user or as root; a process that has changed "
			       "its user, or may not be dumped, is for root only");
	else if (scope <= 2)
		uspl_hint(err, "run as root: kernel.yama.ptrace_scope is %d", scope);
	else
		uspl_hint(err,
			  "kernel.yama.ptrace_scope is %d: until the machine is started anew "
			  "nobody may change a process",
			  scope);
}

/*
 * Opens the memory through a thread that lives, and returns its status. That thread may exit in the
 * meantime. Depending on the kernel, the open then fails, or succeeds and has no memory; another
 * thread is taken.
 */
static int open_living(struct proc *proc, bool readonly, struct proc_status *ret,
		       struct uspl_err *err)
{
	for (int tries = 0;; tries++) {
		char path[64];
		int rc;

		proc->tid = living_thread(proc->pid, ret);
		if (!proc->tid)
			return uspl_fail(err, USPL_E_ZOMBIE, "pid %d is a zombie: it has exited",
					 proc->pid);
		if (!ret->has_memory)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "pid %d is a kernel thread or is exiting", proc->pid);
		rc = readonly ? 0 : check_not_traced(proc->pid, ret, err);
		if (rc)
			return rc;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", proc->pid, proc->tid);
		proc->mem_fd = open(path, (readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC);
		if (proc->mem_fd < 0) {
			rc = uspl_fail_errno(err, "cannot open the memory of pid %d", proc->pid);
			if (rc == -USPL_E_PERMISSION)
				hint_permission(err);
		} else if (!readonly) {
			rc = check_class(proc, err);
		}
		if (tries == TASK_TRIES || rc == -USPL_E_PERMISSION ||
		    has_program(proc->pid, proc->tid))
			return rc;
		if (proc->mem_fd >= 0)
			close(proc->mem_fd);
		proc->mem_fd = -1;
	}
}

int proc_new(struct proc **ret, struct uspl_err *err)
{
	auto_proc struct proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return uspl_fail_nomem(err);
	proc->mem_fd = -1;
	for (size_t i = 0; i < PROC_LOCKS; i++)
		proc->lock_fds[i] = -1;
	proc->work = calloc(1, sizeof(*proc->work));
	if (!proc->work)
		return uspl_fail_nomem(err);
	*ret = take_ptr(proc);
	return 0;
}

static int open_common(pid_t pid, bool readonly, bool scan, struct proc **ret, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	struct proc_status st;
	int rc = proc_new(&proc, err);

	if (rc)
		return rc;
	proc->pid = pid;
	*proc->work = (struct proc_work){ .steps = PROC_SCAN_STEPS,
					  .bytes = PROC_SCAN_BYTES,
					  .scan = scan };
	rc = readonly ? 0 : check_proc_is_ours(err);
	if (rc)
		return rc;
	rc = read_status(pid, pid, &st, err);
	if (rc)
		return rc;
	if (st.tgid && st.tgid != pid) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "%d is a thread of pid %d, not a process", pid,
			  st.tgid);
		uspl_hint(err, "name the process, %d: all of its threads are meant", st.tgid);
		return -USPL_E_UNSUPPORTED;
	}
	rc = open_living(proc, readonly, &st, err);
	if (rc)
		return rc;
	proc->seccomp = st.seccomp;
	proc->catches_sigsys = st.catches_sigsys;
	proc->shadow_stack = st.shadow_stack;
	proc->uid = st.uid;
	read_comm(proc);
	rc = read_starttime(proc, err);
	if (rc)
		return rc;
	rc = proc_refresh_maps(proc, err);
	if (rc)
		return rc;
	*ret = take_ptr(proc);
	return 0;
}

int proc_open(pid_t pid, struct proc **ret, struct uspl_err *err)
{
	return open_common(pid, false, false, ret, err);
}

int proc_open_readonly(pid_t pid, struct proc **ret, struct uspl_err *err)
{
	return open_common(pid, true, false, ret, err);
}

int proc_open_scan(pid_t pid, struct proc **ret, struct uspl_err *err)
{
	return open_common(pid, true, true, ret, err);
}

void proc_free(struct proc *proc)
{
	if (!proc)
		return;
	if (proc->mem_fd >= 0)
		close(proc->mem_fd);
	for (size_t i = 0; i < PROC_LOCKS; i++)
		if (proc->lock_fds[i] >= 0)
			close(proc->lock_fds[i]);
	mappings_release(&proc->maps);
	kept_free(proc->kept);
	remains_free(proc->remains);
	free(proc->work);
	free(proc);
}

int64_t proc_deadline(const struct proc *proc, int64_t least_ns)
{
	int64_t least = clock_now_ns() + least_ns;

	return least > proc->wait_until_ns ? least : proc->wait_until_ns;
}

void proc_work_begin(const struct proc *proc)
{
	if (proc->work && !proc->work->scan)
		*proc->work =
			(struct proc_work){ .steps = PROC_WORK_STEPS, .bytes = PROC_WORK_BYTES };
}

const char *proc_owner(const struct proc *proc)
{
	static _Thread_local char name[64], line[1024];
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd user, *found = NULL;

	snprintf(name, sizeof(name), "%u", (unsigned int)proc->uid);
	while (file && fgetpwent_r(file, &user, line, sizeof(line), &found) == 0)
		if (user.pw_uid == proc->uid) {
			snprintf(name, sizeof(name), "%.63s", user.pw_name);
			break;
		}
	if (file)
		fclose(file);
	return name;
}

int proc_charge(const struct proc *proc, uint64_t steps, uint64_t bytes, struct uspl_err *err)
{
	struct proc_work *work = proc->work;

	if (!work)
		return 0;
	/* Nothing is being changed while all processes are looked at. */
	if (work->scan && cancel_requested())
		return cancel_check(err);
	if (work->spent || steps > work->steps || bytes > work->bytes) {
		work->spent = true;
		uspl_fail(
			err, USPL_E_HOSTILE,
			"pid %d (%s, of %s) is left out: what is in its memory takes too much work",
			proc->pid, proc->comm, proc_owner(proc));
		if (work->scan)
			uspl_hint(err, "name the pid to have more of it read");
		return -USPL_E_HOSTILE;
	}
	work->steps -= steps;
	work->bytes -= bytes;
	return 0;
}

/* A program has the same vector from its start to its end. */
uint64_t proc_auxv(const struct proc *proc, uint64_t type)
{
	struct kept own = { 0 }, *kept = proc->kept ? proc->kept : &own;

	if (!kept->auxv_len) {
		auto_buf struct buf raw = { 0 };

		if (proc_read_file(proc, "auxv", &raw, NULL) != 0 || !raw.len ||
		    raw.len > sizeof(kept->auxv))
			return 0;
		memcpy(kept->auxv, raw.data, raw.len);
		kept->auxv_len = raw.len;
	}
	for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= kept->auxv_len;
	     at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t av;

		memcpy(&av, kept->auxv + at, sizeof(av));
		if (av.a_type == type)
			return av.a_un.a_val;
	}
	return 0;
}

/* Reads piece by piece: the kernel works for each line, and there may be 65,000. */
static int read_some_maps(const struct proc *proc, const char *path, struct buf *text,
			  struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t got;

	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		int rc;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return uspl_fail_errno(err, "cannot read '%s'", path);
		/* A line has some 80 bytes. It is kept as text and, for a while, as a structure. */
		rc = proc_charge(proc, (uint64_t)got / 64 + 1, 4 * (uint64_t)got, err);
		if (rc)
			return rc;
		buf_add(text, chunk, (size_t)got);
	}
	return text->oom ? uspl_fail_nomem(err) : 0;
}

static int read_maps_of(const struct proc *proc, pid_t tid, mapping_vec *ret, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", proc->pid, tid);
	rc = proc->work && proc->work->scan ? read_some_maps(proc, path, &text, err)
					    : file_read(path, &text, err);
	if (rc)
		return rc;
	return mappings_parse(buf_str(&text), ret, err);
}

int proc_read_maps(const struct proc *proc, mapping_vec *ret, struct uspl_err *err)
{
	int rc = read_maps_of(proc, proc->tid, ret, err);
	char folder[sizeof("/proc/") + 12];
	pid_t other;

	/* A main thread that has exited has an empty list; any other one has no folder. */
	if (rc == -USPL_E_HOSTILE || rc == -USPL_E_CANCELLED || ret->n)
		return rc;
	other = proc_task(proc);
	if (other != proc->tid)
		return read_maps_of(proc, other, ret, err);
	/* Not asked by a signal, which a command that has given up its powers may not send. */
	snprintf(folder, sizeof(folder), "/proc/%d", proc->pid);
	if (rc && access(folder, F_OK) != 0 && errno == ENOENT)
		return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has exited", proc->pid);
	return rc;
}

int proc_refresh_maps(struct proc *proc, struct uspl_err *err)
{
	mapping_vec maps = { 0 };
	int rc = proc_read_maps(proc, &maps, err);

	if (rc)
		return rc;
	mappings_release(&proc->maps);
	proc->maps = maps;
	if (proc->kept)
		proc->kept->has_heads = false;
	if (!maps.n)
		return uspl_fail(err, USPL_E_NO_PROCESS, "pid %d has exited", proc->pid);
	return 0;
}

const struct mapping *proc_mapping_at(const struct proc *proc, taddr addr)
{
	return mappings_at(&proc->maps, addr);
}
