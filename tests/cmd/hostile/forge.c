// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * forge.c - a process that says of itself what isn't so: forge WHAT [ID [DESCRIPTION]]
 *
 * It makes records by the headers of include/uspl, prints "ready", and sleeps.
 *
 *     loop      probes of one site whose thunks lead to each other
 *     names     functions whose names are one string of 4000 bytes
 *     sparse    records of traces with as many sites as memory that is all zeros has room for
 *     rings     a trace with 2^40 rings
 *     version   an update of an ABI version to come
 *     claim     an update with that id and description
 *     maps      60,000 mappings
 *     modules   7,000 libraries that are all called libc.so.6 and need 250 others with long names,
 *               and an update
 *     ids       1,000 updates, each for all of 1,000 libraries
 *     paths     700 libraries with long paths
 *     escape    a name that acts on a terminal
 *     slots     updates whose threads are said to go over one by one, by selectors that follow each
 *               other, or nothing
 *     changing  records that change all the time
 *     waiting   an update, a trace, and as a library the file DESCRIPTION
 */

#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "uspl/abi.h"
#include "uspl/mark_abi.h"
#include "uspl/trace_abi.h"

enum { PAGE = 4096, PROBES = 20000, NAMES = 100000, MAPS = 60000 };
enum { LIBRARIES = 7000, NEEDED = 250, NAME = 4000 };
enum { SLOTTED = 100 };

/* What lies between the head of an update and its strings. */
static size_t behind_head;

/* Memory that a record may lie in: between pages that can't be read, so that nothing merges. */
static void *room(size_t len)
{
	char *all = mmap(NULL, len + 2 * PAGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED || mprotect(all + PAGE, len, PROT_READ | PROT_WRITE))
		exit(1);
	return all + PAGE;
}

static size_t pages(size_t len)
{
	return (len + PAGE - 1) / PAGE * PAGE;
}

static void put_jump(unsigned char *at, const void *to)
{
	int distance = (int)((const unsigned char *)to - (at + 5));

	at[0] = 0xe9;
	memcpy(at + 1, &distance, sizeof(distance));
}

/* An update without sites: it is only claimed. */
static struct uspl_region *claim(const char *id, const char *description, size_t more)
{
	size_t len = pages(sizeof(struct uspl_region) + 8192 + more);
	struct uspl_region *head = room(len);
	uint32_t at = (uint32_t)(sizeof(*head) + behind_head);
	char *strings = (char *)head + at;

	*head = (struct uspl_region){
		.magic = USPL_REGION_MAGIC,
		.version = USPL_ABI_VERSION,
		.state = USPL_REGION_APPLIED,
		.self = (uintptr_t)head,
		.map = (uintptr_t)head,
		.map_len = len,
		.info_len = len,
		.module = 0x1000,
		.applied_at = 1,
		.order = 1,
	};
	snprintf(head->id, sizeof(head->id), "%s", id);
	strings[0] = '\0';
	head->module_name = head->build_id = head->builds_on = at;
	strcpy(strings + 1, description);
	head->description = at + 1;
	head->patch = head->description;
	head->patch_len = (uint32_t)strlen(description);
	return head;
}

static void make_names(const char *id)
{
	struct uspl_region *head = claim(id, "names", NAMES * sizeof(struct uspl_range));
	char *name = (char *)head + sizeof(*head) + 1024;
	struct uspl_range *range = (struct uspl_range *)((char *)head + 8192);

	memset(name, 'n', 4000);
	head->names = 8192;
	head->n_names = NAMES;
	for (size_t i = 0; i < NAMES; i++)
		range[i].name = (uint32_t)sizeof(*head) + 1024;
}

static struct uspl_trace_region *make_trace(uint64_t len, uint32_t sites)
{
	struct uspl_trace_region *head = room(len);

	head->magic = USPL_TRACE_MAGIC;
	head->version = USPL_TRACE_ABI_VERSION;
	head->state = USPL_TRACE_ON;
	head->self = (uintptr_t)head;
	head->info_len = len;
	head->sites = sizeof(*head);
	head->n_sites = sites;
	head->first_id = 1;
	head->ring_mask = 4095;
	head->ring_bytes = 4096 + USPL_TRACE_RING_HEADER;
	head->module_name = offsetof(struct uspl_trace_region, rings_len) + 4;
	return head;
}

static void make_sparse(void)
{
	const uint64_t len = 128 << 20;

	for (int i = 0; i < 8; i++)
		make_trace(len, (uint32_t)((len - PAGE) / sizeof(struct uspl_trace_site)));
}

static void make_rings(void)
{
	struct uspl_trace_region *head = make_trace(2 * PAGE, 1);
	struct uspl_trace_counters *counters = (void *)((char *)head + PAGE);

	head->counters = (uintptr_t)counters;
	head->n_rings = 1ull << 40;
	head->rings = (uintptr_t)head;
	counters->next_ring = 1ull << 40;
}

/* Each thunk's link leads to another probe: as many steps as there are, again from each site. */
static void make_loop(void)
{
	size_t len = pages(sizeof(struct uspl_mark_region) + PROBES * sizeof(struct uspl_probe));
	struct uspl_mark_region *head = room(len);
	struct uspl_probe *probe = (struct uspl_probe *)(head + 1);
	unsigned char *code = room((PROBES + 2) * 16);

	*head = (struct uspl_mark_region){ .magic = USPL_MARK_MAGIC,
					   .version = USPL_MARK_VERSION,
					   .self = (uintptr_t)head,
					   .info_len = len,
					   .probes = sizeof(*head),
					   .n_probes = PROBES,
					   .first_id = 1 };
	head->shared.ring_mask = 4095;
	head->shared.ring_bytes = 8192;
	put_jump(code, code + 16);
	for (size_t i = 0; i < PROBES; i++) {
		unsigned char *link = code + 16 * (i + 1);
		/* What it leads to lies in the second half, in a circle. */
		size_t next =
			i < PROBES / 2 ? PROBES / 2 + i : PROBES / 2 + (i * 7 + 1) % (PROBES / 2);

		probe[i] = (struct uspl_probe){ .site = (uintptr_t)code,
						.thunk = (uintptr_t)link,
						.inner = (uintptr_t)link,
						.chain_slot = (uintptr_t)link,
						.slots = 1 };
		put_jump(link, code + 16 * (next + 1));
	}
	/* And a claim, for which chains are looked at. */
	claim("forged", "loop", 0);
}

/* The kernel joins what looks the same: every second one can be read. */
static void make_maps(void)
{
	char *all = mmap(NULL, (size_t)MAPS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < MAPS; i += 2)
		if (mprotect(all + i * PAGE, PAGE, PROT_READ))
			break;
}

/* What a library begins with, as far as the tools look. */
struct library {
	Elf64_Ehdr head;
	Elf64_Phdr phdrs[3];
	Elf64_Dyn dynamic[NEEDED + 3];
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[4];
	} note;
	char soname[16], name[NAME + 1];
} __attribute__((aligned(PAGE)));

/*
 * It is mapped n times: the file, of that name, is one, the libraries are many. needed: how many it
 * needs.
 */
static void make_libraries(size_t n, const char *file, size_t needed, const char *soname)
{
	static struct library lib;
	int fd = memfd_create(file, 0);
	Elf64_Dyn *entry = lib.dynamic;

	lib.head = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				 .e_type = ET_DYN,
				 .e_phoff = offsetof(struct library, phdrs),
				 .e_phentsize = sizeof(Elf64_Phdr),
				 .e_phnum = 3 };
	lib.phdrs[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_filesz = sizeof(lib),
				     .p_memsz = sizeof(lib) };
	lib.phdrs[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				     .p_vaddr = offsetof(struct library, dynamic),
				     .p_memsz = sizeof(lib.dynamic) };
	lib.phdrs[2] = (Elf64_Phdr){ .p_type = PT_NOTE,
				     .p_vaddr = offsetof(struct library, note),
				     .p_filesz = sizeof(lib.note),
				     .p_align = 4 };
	*entry++ = (Elf64_Dyn){ DT_STRTAB, { offsetof(struct library, soname) } };
	*entry++ = (Elf64_Dyn){ DT_SONAME, { 1 } };
	for (size_t i = 0; i < needed; i++)
		*entry++ = (Elf64_Dyn){ DT_NEEDED, { sizeof(lib.soname) } };
	lib.note.head = (Elf64_Nhdr){ 4, 4, NT_GNU_BUILD_ID };
	memcpy(lib.note.name, "GNU", 4);
	snprintf(lib.soname, sizeof(lib.soname), "?%s", soname);
	memset(lib.name, 'n', NAME);
	if (fd < 0 || write(fd, &lib, sizeof(lib)) != sizeof(lib))
		exit(1);
	for (size_t i = 0; i < n; i++)
		if (mmap(NULL, sizeof(lib), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
		    MAP_FAILED)
			exit(1);
	close(fd);
}

static void make_paths(void)
{
	char file[240];

	memset(file, 'p', sizeof(file));
	for (int i = 0; i < 700; i++) {
		snprintf(file + sizeof(file) - 8, 8, "%d", i);
		make_libraries(1, file, 0, "lib");
	}
}

/* Each is in effect in a library that isn't there, and could be in all that are. */
static void make_ids(void)
{
	for (int i = 0; i < 1000; i++) {
		struct uspl_region *head;
		char id[16];

		snprintf(id, sizeof(id), "forged-%d", i);
		head = claim(id, "ids", 0);
		strcpy((char *)(head + 1) + 16, "00000000");
		head->build_id = sizeof(*head) + 16;
		head->info_len = sizeof(*head) + 32;
	}
	make_libraries(1000, "library", 0, "lib");
}

static void make_slots(void)
{
	struct uspl_selector *before = (struct uspl_selector *)0xfff0;

	behind_head = sizeof(struct uspl_region_hooks) + sizeof(struct uspl_region_more) +
		      sizeof(struct uspl_region_by_thread);
	for (int i = 0; i < SLOTTED; i++) {
		struct uspl_selector *selector;
		struct uspl_region_more *more;
		struct uspl_region *head;
		char id[16];

		snprintf(id, sizeof(id), "forged-%d", i);
		head = claim(id, "slots", PAGE + USPL_SELECTOR_LEN_BY_THREAD);
		head->version = USPL_ABI_VERSION_BY_THREAD;
		head->state = USPL_REGION_SWITCHING_ON;
		more = (void *)((char *)(head + 1) + sizeof(struct uspl_region_hooks));
		more->replaces = more->states = head->module_name;
		head->info_len = PAGE;
		head->trampolines = (uintptr_t)head + PAGE;
		head->trampolines_len = PAGE;
		head->selector = head->trampolines + PAGE;
		selector = (void *)(uintptr_t)head->selector;
		memset((char *)selector + USPL_SLOTS_AT, 0xff, 2 * USPL_SLOTS_LEN);
		selector->value = i % 3 ? USPL_SELECTOR_FOLLOW
					: USPL_SELECTOR_BY_THREAD | USPL_SELECTOR_SECOND;
		selector->leader = (uintptr_t)before;
		before = selector;
	}
}

/* Each word of the records says by turns what it did, that it is nothing, and that it is huge. */
static void *change(void *arg)
{
	struct uspl_region **heads = arg;
	uint64_t random = 1;

	for (;;) {
		uint32_t *words, was;
		size_t n = sizeof(struct uspl_region) / sizeof(*words);

		random = random * 6364136223846793005 + 1442695040888963407;
		words = (uint32_t *)heads[random >> 60];
		/* It stays a record: else it wouldn't be read. */
		words += 2 + (random >> 32) % (n - 2);
		was = *(volatile uint32_t *)words;
		for (int i = 0; i < 100; i++)
			*(volatile uint32_t *)words = i % 3 ? 0xffffffffu * (i % 2) : was;
		*(volatile uint32_t *)words = was;
	}
	return NULL;
}

static void make_changing(void)
{
	static struct uspl_region *heads[16];
	pthread_t thread;

	for (int i = 0; i < 16; i++) {
		char id[16];

		snprintf(id, sizeof(id), "changing-%d", i);
		heads[i] = claim(id, "changing", 0);
	}
	if (pthread_create(&thread, NULL, change, heads))
		exit(1);
}

static void make_waiting(const char *id, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		exit(1);
	claim(id, "waiting", 0);
	make_trace(16 * PAGE, 100);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *id = argc > 2 ? argv[2] : "forged";

	if (!strcmp(what, "loop"))
		make_loop();
	else if (!strcmp(what, "names"))
		make_names(id);
	else if (!strcmp(what, "sparse"))
		make_sparse(), claim("forged", "sparse", 0);
	else if (!strcmp(what, "rings"))
		make_rings();
	else if (!strcmp(what, "version"))
		claim(id, "version", 0)->version = USPL_ABI_VERSION + 93;
	else if (!strcmp(what, "claim"))
		claim(id, argc > 3 ? argv[3] : "it isn't so", 0);
	else if (!strcmp(what, "maps"))
		make_maps();
	else if (!strcmp(what, "modules"))
		make_libraries(LIBRARIES, "library", NEEDED, "libc.so.6"), claim(id, "modules", 0);
	else if (!strcmp(what, "ids"))
		make_ids();
	else if (!strcmp(what, "paths"))
		make_paths();
	else if (!strcmp(what, "escape"))
		claim(id, "\033[2J", 0), prctl(PR_SET_NAME, "\033[2J\nx");
	else if (!strcmp(what, "slots"))
		make_slots();
	else if (!strcmp(what, "changing"))
		make_changing();
	else if (!strcmp(what, "waiting"))
		make_waiting(id, argv[3]);
	else
		return 2;
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
