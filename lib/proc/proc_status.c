// SPDX-License-Identifier: GPL-3.0-or-later
// proc_status.c - the lines of /proc/PID/status that decide whether we can work with a process, and
// the fields of /proc/PID/stat

#include "proc/proc_status.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the line behind a name and its colon; NULL for the line of another field. */
static const char *value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(line, name, len) && line[len] == ':' ? line + len + 1 : NULL;
}

/* True if a word is among those up to the line's end, which blanks separate. */
static bool has_word(const char *value, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		value += strspn(value, " \t");
		if (!*value || *value == '\n')
			return false;
		if (strcspn(value, " \t\n") == len && !strncmp(value, word, len))
			return true;
		value += strcspn(value, " \t\n");
	}
}

/* The second one of a line's numbers: real, effective, saved, of the file system. */
static uid_t effective_of(const char *value)
{
	char *end = NULL;

	(void)strtoul(value, &end, 10);
	return (uid_t)strtoul(end, NULL, 10);
}

static void parse_line(const char *line, struct proc_status *ret)
{
	const char *value;

	if ((value = value_of(line, "State")))
		ret->state = value[strspn(value, " \t")];
	else if ((value = value_of(line, "Tgid")))
		ret->tgid = (pid_t)atol(value);
	else if ((value = value_of(line, "TracerPid")))
		ret->tracer = (pid_t)atol(value);
	else if ((value = value_of(line, "Seccomp")))
		ret->seccomp = atoi(value);
	else if ((value = value_of(line, "Uid")))
		ret->uid = effective_of(value);
	else if ((value = value_of(line, "SigCgt")))
		ret->catches_sigsys = strtoull(value, NULL, 16) >> (SIGSYS - 1) & 1;
	else if (value_of(line, "VmSize"))
		ret->has_memory = true;
	else if ((value = value_of(line, "x86_Thread_features")))
		ret->shadow_stack = has_word(value, "shstk");
}

void proc_status_parse(const char *text, struct proc_status *ret)
{
	*ret = (struct proc_status){ .uid = (uid_t)-1 };
	for (const char *line = text; line && *line;) {
		parse_line(line, ret);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
}

const char *proc_stat_field(const char *text, int field)
{
	const char *p = strrchr(text, ')');

	for (int at = 2; p && at < field; at++)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : NULL;
}
