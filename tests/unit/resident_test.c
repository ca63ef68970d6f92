// SPDX-License-Identifier: GPL-3.0-or-later
// resident_test.c - what a process has written is found in what it has reserved

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/resident.h"
#include "tap.h"

#define MIB (1ull << 20)

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/*
 * What the reserved memory has in it, from its beginning. Between two of them is a guard region of
 * one page, between others one of many.
 */
#define GUARD (20 * MIB)
#define LONG_GUARD (30 * MIB)
static const uint64_t places[] = { 3 * PAGE,         7 * MIB,        7 * MIB + PAGE,
				   GUARD - PAGE,     GUARD + PAGE,   LONG_GUARD - PAGE,
				   LONG_GUARD + MIB, 40 * MIB - PAGE };
static const uint64_t word = 0x5eed5eed12345678;

/* A child with len bytes that are reserved, and a word at each of the places; ends with us. */
static pid_t start(uint64_t len, taddr *ret)
{
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pid_t pid;

	if (memory == MAP_FAILED)
		tap_skip_all("as much memory can't be reserved");
	madvise(memory, len, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		memcpy(memory + places[i], &word, sizeof(word));
	/* A kernel before 6.13 refuses it, and has no such regions. */
	madvise(memory + GUARD, PAGE, MADV_GUARD_INSTALL);
	madvise(memory + LONG_GUARD, MIB, MADV_GUARD_INSTALL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	munmap(memory, len);
	*ret = (taddr)(uintptr_t)memory;
	return pid;
}

/* What a walk through the child's memory has come to. */
struct result {
	size_t found; /* so many of the places, in their order */
	uint64_t left_out;
	bool by_entries; /* the kernel was of no help */
};

static struct result look(pid_t pid, taddr memory, bool by_entries)
{
	struct resident walk = { .budget = 64 * MIB, .by_entries = by_entries };
	struct result result = { .left_out = UINT64_MAX };
	auto_proc struct proc *proc = NULL;
	mapping_vec maps = { 0 }, reserved = { 0 };
	struct mapping *map;
	int rc = proc_open_readonly(pid, &proc, NULL);

	if (!rc)
		rc = proc_read_maps(proc, &maps, NULL);
	walk.proc = proc;
	/* Not what a sanitizer has reserved for this very program. */
	vec_for_each (&maps, map)
		if (map->start <= memory && memory < map->end)
			reserved = (mapping_vec){ .items = map, .n = 1 };
	walk.maps = &reserved;
	if (rc || resident_open(&walk, NULL))
		return result;
	while (resident_next(&walk))
		for (size_t i = 0; i < walk.n; i++)
			if (walk.words[i] == word && result.found < ARRAY_SIZE(places) &&
			    walk.at + 8 * i == memory + places[result.found])
				result.found++;
	result.left_out = walk.left_out;
	result.by_entries = walk.by_entries;
	resident_close(&walk);
	mappings_release(&maps);
	return result;
}

static struct result try(uint64_t len, bool by_entries)
{
	taddr memory;
	pid_t pid = start(len, &memory);
	struct result result = look(pid, memory, by_entries);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return result;
}

static void expect_all(const struct result *result, const char *what)
{
	ok(result->found == ARRAY_SIZE(places), "%s: all that was written is found", what);
	ok(!result->left_out, "%s: nothing is left out", what);
}

int main(void)
{
	struct result result = try(64 * MIB, true);

	expect_all(&result, "64 MiB, an entry for each page");
	result = try(64 * MIB, false);
	expect_all(&result, "64 MiB");
	if (!result.by_entries) {
		result = try(8ull << 40, false);
		expect_all(&result, "8 TiB");
	}
	return tap_done();
}
