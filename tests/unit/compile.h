/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compile.h - objects for unit tests, compiled from text when the test runs */
#ifndef USPL_TESTS_COMPILE_H
#define USPL_TESTS_COMPILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder of the test's own. Remove it with compile_rmdir. */
static inline const char *compile_dir(void)
{
	static char dir[64];

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/uspl-test-XXXXXX");
		if (!mkdtemp(dir))
			exit(1);
	}
	return dir;
}

/* Removes the folder and what is in it. */
static inline void compile_rmdir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", compile_dir());
	if (system(cmd))
		exit(1);
}

/*
 * Writes text to DIR/name.c, compiles it with `command` ("gcc -O2") and returns the object's
 * path, DIR/name.o, which the caller frees. Exits if it can't.
 */
static inline char *compile_object(const char *command, const char *name, const char *text)
{
	char *source, *object, *cmd;
	FILE *file;

	if (asprintf(&source, "%s/%s.c", compile_dir(), name) < 0 ||
	    asprintf(&object, "%s/%s.o", compile_dir(), name) < 0 ||
	    asprintf(&cmd, "cd '%s' && %s -c %s.c -o %s.o", compile_dir(), command, name, name) < 0)
		exit(1);
	file = fopen(source, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) || system(cmd)) {
		fprintf(stderr, "cannot compile '%s' with '%s'\n", name, command);
		exit(1);
	}
	free(source);
	free(cmd);
	return object;
}

#endif
