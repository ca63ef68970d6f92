// SPDX-License-Identifier: GPL-3.0-or-later
// proc_memory_test.c - what isn't there, and what is there and can't be read, are two things

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc/proc.h"
#include "tap.h"

/* Two pages, of which the second one is mapped behind the end of its file: reading it fails. */
static char *map_short_file(void)
{
	FILE *file = tmpfile();
	char *pages;

	if (!file || ftruncate(fileno(file), PAGE) != 0)
		return MAP_FAILED;
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
	fclose(file);
	return pages;
}

static char *map_page(void)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void test_blocks(struct proc *proc, const char *pages, char *unmapped, char *gone)
{
	bool there = false;
	char byte;

	ok(!proc_read_if_mapped(proc, (taddr)pages, &byte, 1, &there, NULL) && there,
	   "what is mapped is read");
	ok(!proc_read_if_mapped(proc, (taddr)unmapped, &byte, 1, &there, NULL) && !there,
	   "what isn't is not there");
	there = true;
	ok(proc_read_if_mapped(proc, (taddr)pages + PAGE, &byte, 1, &there, NULL) < 0 && there,
	   "what is mapped and can't be read is a failure");
	ok(proc_read_if_mapped(proc, (taddr)pages + PAGE - 1, &byte, 2, &there, NULL) < 0,
	   "so is a part of it");
	munmap(gone, PAGE);
	ok(!proc_read_if_mapped(proc, (taddr)gone, &byte, 1, &there, NULL) && !there,
	   "what the program has unmapped meanwhile is not there");
}

static void test_strings(struct proc *proc, char *pages, char *before_unmapped)
{
	struct uspl_err err = { 0 };
	char *text = NULL;

	memcpy(pages, "text", sizeof("text"));
	ok(!proc_read_string(proc, (taddr)pages, PAGE, &text, &err) && !strcmp(text, "text"),
	   "a string is read");
	free(text);
	memset(before_unmapped, 'x', PAGE);
	ok(proc_read_string(proc, (taddr)before_unmapped, 2 * PAGE, &text, &err) == -USPL_E_HOSTILE,
	   "one without an end is none");
	memset(pages, 'x', PAGE);
	ok(proc_read_string(proc, (taddr)pages, 2 * PAGE, &text, &err) == -USPL_E_SYSTEM,
	   "one whose end can't be read is a failure (%s)", err.msg);
}

int main(void)
{
	char *pages = map_short_file(), *lone = map_page(), *unmapped = map_page();
	char *gone = map_page(), *other;
	struct proc *proc = NULL;
	struct uspl_err err = { 0 };
	int rc;

	munmap(unmapped, PAGE);
	rc = proc_open_readonly(getpid(), &proc, &err);
	ok(!rc && pages != MAP_FAILED && lone != MAP_FAILED && gone != MAP_FAILED,
	   "a process is opened (%s)", err.msg);
	if (rc)
		return tap_done();
	test_blocks(proc, pages, unmapped, gone);
	/* With a hole behind it. */
	munmap(pages + PAGE, PAGE);
	other = map_short_file();
	ok(!proc_refresh_maps(proc, NULL), "its mappings are read again");
	test_strings(proc, other, pages);
	proc_free(proc);
	return tap_done();
}
