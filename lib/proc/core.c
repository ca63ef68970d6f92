// SPDX-License-Identifier: GPL-3.0-or-later
// core.c - a process that is dead, as its core dump has it
/*
 * A process's memory is read by pread of a file, at its addresses (proc_memory.c). So what is to be
 * read of a core dump goes into a file in memory with as many holes, at the addresses that the
 * dump's segments name. All of the dump is hostile: anybody may have made it.
 */

#include "proc/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"

#define ADDRESS_END (1ull << 47)
#define SEGMENTS_MAX (1u << 20)
#define NOTES_MAX (64u << 20)
#define COPY_MAX (1ull << 30)
#define PIECE (1u << 20)

struct core {
	const char *path;
	int fd;
	uint64_t size;
	VEC(Elf64_Phdr) segments;
	struct proc *proc;
};

static int fail_damaged(const struct core *core, const char *what, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "the core dump '%s' is damaged, or was cut off: %s",
			 core->path, what);
}

static int read_at(const struct core *core, uint64_t at, void *buf, uint64_t len,
		   struct uspl_err *err)
{
	size_t done = 0;

	if (at > core->size || len > core->size - at)
		return fail_damaged(core, "it ends too early", err);
	while (done < len) {
		ssize_t got = pread(core->fd, (char *)buf + done, len - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return uspl_fail_errno(err, "cannot read '%s'", core->path);
		done += (size_t)got;
	}
	return 0;
}

static int read_segments(struct core *core, struct uspl_err *err)
{
	Elf64_Ehdr head;
	Elf64_Shdr first;
	uint32_t n;
	int rc = core->size < sizeof(head) ? 0 : read_at(core, 0, &head, sizeof(head), err);

	if (rc)
		return rc;
	if (core->size < sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    head.e_type != ET_CORE || head.e_machine != arch_native()->machine ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return uspl_fail(err, USPL_E_FORMAT, "'%s' is no core dump of this processor's",
				 core->path);
	n = head.e_phnum;
	if (n == PN_XNUM) {
		rc = read_at(core, head.e_shoff, &first, sizeof(first), err);
		if (rc)
			return rc;
		n = first.sh_info;
	}
	if (n > SEGMENTS_MAX)
		return fail_damaged(core, "it has too many segments", err);
	for (uint32_t i = 0; i < n; i++) {
		Elf64_Phdr *segment = vec_push(&core->segments);

		if (!segment)
			return uspl_fail_nomem(err);
		rc = read_at(core, head.e_phoff + i * sizeof(*segment), segment, sizeof(*segment),
			     err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The maps, all taken for memory without a file so far. What is above a process's own isn't its. */
static int make_maps(struct core *core, struct uspl_err *err)
{
	const Elf64_Phdr *segment;
	taddr end = 0;

	vec_for_each (&core->segments, segment) {
		struct mapping *map;

		if (segment->p_type != PT_LOAD || segment->p_vaddr >= ADDRESS_END)
			continue;
		if (segment->p_vaddr < end || segment->p_memsz > ADDRESS_END - segment->p_vaddr ||
		    segment->p_filesz > segment->p_memsz)
			return fail_damaged(core, "its segments overlap", err);
		end = segment->p_vaddr + segment->p_memsz;
		map = vec_push(&core->proc->maps);
		if (!map)
			return uspl_fail_nomem(err);
		*map = (struct mapping){ .start = segment->p_vaddr,
					 .end = end,
					 .read = segment->p_flags & PF_R,
					 .write = segment->p_flags & PF_W,
					 .exec = segment->p_flags & PF_X,
					 .path = strdup("") };
		if (!map->path)
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* NT_FILE (Linux, fs/binfmt_elf.c): the ranges that files lie in; their names follow. */
static void note_files(struct core *core, const uint8_t *data, size_t len)
{
	uint64_t n, range[3];
	size_t at = 2 * sizeof(n);

	if (len < at)
		return;
	memcpy(&n, data, sizeof(n));
	for (uint64_t i = 0; i < n && len - at >= sizeof(range); i++, at += sizeof(range)) {
		size_t k;

		memcpy(range, data + at, sizeof(range));
		k = vec_lower_bound(&core->proc->maps, it, it->start < range[0]);
		for (; k < core->proc->maps.n && core->proc->maps.items[k].start < range[1]; k++)
			core->proc->maps.items[k].inode = 1;
	}
}

static int read_notes(struct core *core, const Elf64_Phdr *segment, struct uspl_err *err)
{
	auto_free uint8_t *notes = NULL;
	size_t at = 0, len = segment->p_filesz;
	int rc;

	if (len > NOTES_MAX)
		return fail_damaged(core, "its notes are too long", err);
	notes = malloc(len + 1);
	if (!notes)
		return uspl_fail_nomem(err);
	rc = read_at(core, segment->p_offset, notes, len, err);
	if (rc)
		return rc;
	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, end;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		end = name + ((note.n_namesz + 3ull) & ~3ull);
		if (end > len || note.n_descsz > len - end)
			return fail_damaged(core, "a note is longer than its segment", err);
		if (note.n_type == NT_FILE && note.n_namesz == sizeof("CORE") &&
		    !memcmp(notes + name, "CORE", sizeof("CORE")))
			note_files(core, notes + end, note.n_descsz);
		end += (note.n_descsz + 3ull) & ~3ull;
		at = end < len ? end : len;
	}
	return 0;
}

static int copy_memory(struct core *core, struct uspl_err *err)
{
	auto_free void *piece = malloc(PIECE);
	const Elf64_Phdr *segment;
	uint64_t left = COPY_MAX, len;

	if (!piece)
		return uspl_fail_nomem(err);
	core->proc->mem_fd = memfd_create("core", MFD_CLOEXEC);
	/* What isn't in the dump is zeros. */
	if (core->proc->mem_fd < 0 || ftruncate(core->proc->mem_fd, ADDRESS_END) != 0)
		return uspl_fail_errno(err, "cannot make a file in memory");
	vec_for_each (&core->segments, segment) {
		int rc;

		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) ||
		    segment->p_vaddr >= ADDRESS_END)
			continue;
		if (segment->p_filesz > left)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "'%s' has more than %llu MiB of constants and code",
					 core->path, COPY_MAX >> 20);
		left -= segment->p_filesz;
		for (uint64_t at = 0; at < segment->p_filesz; at += len) {
			len = segment->p_filesz - at < PIECE ? segment->p_filesz - at : PIECE;
			rc = read_at(core, segment->p_offset + at, piece, len, err);
			if (rc)
				return rc;
			/* To where it was. */
			if (pwrite(core->proc->mem_fd, piece, len,
				   (off_t)(segment->p_vaddr + at)) != (ssize_t)len)
				return uspl_fail_errno(err, "cannot keep what '%s' has",
						       core->path);
		}
	}
	return 0;
}

static int read_core(struct core *core, struct uspl_err *err)
{
	const Elf64_Phdr *segment;
	int rc = read_segments(core, err);

	if (rc)
		return rc;
	rc = make_maps(core, err);
	if (rc)
		return rc;
	vec_for_each (&core->segments, segment) {
		if (segment->p_type != PT_NOTE)
			continue;
		rc = read_notes(core, segment, err);
		if (rc)
			return rc;
	}
	return copy_memory(core, err);
}

int core_open(const char *path, struct proc **ret, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	auto_proc struct proc *proc = NULL;
	struct core core = { .path = path, .fd = fd };
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) != 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	core.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	rc = proc_new(&proc, err);
	if (rc)
		return rc;
	core.proc = proc;
	rc = read_core(&core, err);
	vec_release(&core.segments);
	if (rc)
		return rc;
	*ret = take_ptr(proc);
	return 0;
}
