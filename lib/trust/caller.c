// SPDX-License-Identifier: GPL-3.0-or-later
// caller.c - the user that runs the command, and from where

#include "trust/caller.h"

#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

/* A user's number; CALLER_NOBODY for anything else, (uid_t)-1 among that. */
static uid_t parse_uid(const char *text)
{
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return CALLER_NOBODY;
	errno = 0;
	value = strtoul(text, &end, 10);
	return errno || (*end && *end != '\n') || value >= CALLER_NOBODY ? CALLER_NOBODY
									 : (uid_t)value;
}

void caller_find(struct caller *ret)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	auto_buf struct buf loginuid = { 0 };

	*ret = (struct caller){ .uid = getuid(), .loginuid = CALLER_NOBODY };
	if (file_read("/proc/self/loginuid", &loginuid, NULL) == 0)
		ret->loginuid = parse_uid(buf_str(&loginuid));
	ret->sudo_uid = ret->uid ? CALLER_NOBODY : parse_uid(secure_getenv("SUDO_UID"));
	ret->by = ret->loginuid != CALLER_NOBODY   ? ret->loginuid
		  : ret->sudo_uid != CALLER_NOBODY ? ret->sudo_uid
						   : ret->uid;
	for (int fd = 0; fd < 3 && !ret->tty[0]; fd++)
		if (ttyname_r(fd, ret->tty, sizeof(ret->tty)) != 0)
			ret->tty[0] = '\0';
	ret->privileged =
		!geteuid() || getauxval(AT_SECURE) ||
		(syscall(SYS_capget, &head, data) == 0 &&
		 data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE));
}

void caller_name(uid_t uid, char *text, size_t size)
{
	struct passwd entry, *found = NULL;
	char space[4096];

	if (getpwuid_r(uid, &entry, space, sizeof(space), &found) == 0 && found)
		snprintf(text, size, "%s", found->pw_name);
	else
		snprintf(text, size, "%u", uid);
}
