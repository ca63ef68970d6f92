// SPDX-License-Identifier: GPL-3.0-or-later
// core_fuzz.c - any bytes as a core dump: no crash, no leak, no answer but a process or a refusal
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc/core.h"
#include "record/region.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_regions region_vec regions = { 0 };
	auto_proc struct proc *proc = NULL;
	auto_close int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct uspl_err err = { 0 };
	char path[64];
	int rc;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = core_open(path, &proc, &err);
	if (rc ? !err.msg[0] || err.code != (enum uspl_code) - rc : !proc)
		abort();
	/* What it says of updates is looked at as a process's memory is. */
	if (!rc && regions_read(proc, &regions, &err) && !err.msg[0])
		abort();
	return 0;
}
