// SPDX-License-Identifier: GPL-3.0-or-later
// child_output.c - what a child prints, kept until its parent passes it on

#include "machine/child_output.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

bool child_output_open(struct child_output *ret)
{
	*ret = (struct child_output){ .out = memfd_create("uspl-out", MFD_CLOEXEC),
				      .err = memfd_create("uspl-err", MFD_CLOEXEC) };
	if (ret->out >= 0 && ret->err >= 0)
		return true;
	child_output_close(ret);
	return false;
}

void child_output_close(struct child_output *output)
{
	if (output->out >= 0)
		close(output->out);
	if (output->err >= 0)
		close(output->err);
	output->out = output->err = -1;
}

bool child_output_enter(const struct child_output *output)
{
	return dup2(output->out, STDOUT_FILENO) >= 0 && dup2(output->err, STDERR_FILENO) >= 0;
}

static bool pass_on(int from, off_t end, off_t *passed, FILE *to)
{
	char bytes[65536];
	ssize_t got = 0;

	while (*passed < end) {
		off_t left = end - *passed;
		size_t want = left < (off_t)sizeof(bytes) ? (size_t)left : sizeof(bytes);

		got = pread(from, bytes, want, *passed);
		if (got <= 0)
			break;
		*passed += got;
		if (fwrite(bytes, 1, (size_t)got, to) != (size_t)got)
			return false;
	}
	return got >= 0 && fflush(to) == 0;
}

bool child_output_pass_on_to(struct child_output *output, off_t out, off_t err)
{
	bool passed = pass_on(output->err, err, &output->err_passed, stderr);

	return pass_on(output->out, out, &output->out_passed, stdout) && passed;
}

bool child_output_pass_on(struct child_output *output)
{
	return child_output_pass_on_to(output, INT64_MAX, INT64_MAX);
}
