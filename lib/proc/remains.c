// SPDX-License-Identifier: GPL-3.0-or-later
// remains.c - what a tool holds of a process, to read it when the process is over

#include "proc/remains.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const struct remains_piece *find(const struct remains *remains, taddr addr)
{
	const struct remains_piece *piece;

	vec_for_each (&remains->pieces, piece)
		if (addr - piece->start < piece->len)
			return piece;
	return NULL;
}

size_t remains_read(const struct remains *remains, taddr addr, void *buf, size_t len)
{
	size_t done = 0;

	while (remains && done < len) {
		const struct remains_piece *piece = find(remains, addr + done);
		uint64_t at = piece ? addr + done - piece->start : 0;
		size_t n = len - done;
		ssize_t got;

		if (!piece)
			break;
		if (n > piece->len - at)
			n = piece->len - at;
		got = pread(piece->fd, (char *)buf + done, n, (off_t)(piece->offset + at));
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

int remains_open_file(const struct remains *remains, taddr module)
{
	const struct remains_file *file;

	if (!remains)
		return -1;
	vec_for_each (&remains->files, file)
		if (file->module == module)
			return fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	return -1;
}

void remains_free(struct remains *remains)
{
	struct remains_file *file;

	if (!remains)
		return;
	vec_for_each (&remains->files, file)
		close(file->fd);
	vec_release(&remains->files);
	vec_release(&remains->pieces);
	free(remains);
}
