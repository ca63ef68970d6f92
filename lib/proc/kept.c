// SPDX-License-Identifier: GPL-3.0-or-later
// kept.c - what a command has read of a process and needn't read again

#include "proc/kept.h"

#include <stdlib.h>
#include <string.h>

/* A process may claim to have gigabytes of records: what is more than this is read each time. */
#define BYTES_MAX (16u << 20)

/* The first piece that ends behind addr. */
static size_t find(const struct kept *kept, taddr addr)
{
	return vec_lower_bound(&kept->pieces, it, it->addr + it->len <= addr);
}

bool kept_recall(const struct kept *kept, taddr addr, void *buf, size_t len)
{
	const struct kept_piece *piece;
	size_t i = kept ? find(kept, addr) : 0;

	if (!kept || i == kept->pieces.n)
		return false;
	piece = &kept->pieces.items[i];
	if (piece->addr > addr || len > piece->len - (addr - piece->addr))
		return false;
	memcpy(buf, piece->bytes + (addr - piece->addr), len);
	return true;
}

static void drop_pieces(struct kept *kept, taddr addr, taddr end)
{
	size_t first = find(kept, addr), next = first;

	while (next < kept->pieces.n && kept->pieces.items[next].addr < end) {
		kept->bytes -= kept->pieces.items[next].len;
		free(kept->pieces.items[next++].bytes);
	}
	if (next == first)
		return;
	memmove(&kept->pieces.items[first], &kept->pieces.items[next],
		(kept->pieces.n - next) * sizeof(*kept->pieces.items));
	kept->pieces.n -= next - first;
}

static void drop_heads(struct kept *kept, taddr addr, taddr end)
{
	size_t first = vec_lower_bound(&kept->heads, it, it->at + sizeof(it->word) <= addr),
	       next = first;

	while (next < kept->heads.n && kept->heads.items[next].at < end)
		next++;
	if (next == first)
		return;
	memmove(&kept->heads.items[first], &kept->heads.items[next],
		(kept->heads.n - next) * sizeof(*kept->heads.items));
	kept->heads.n -= next - first;
	kept->has_heads = false;
}

void kept_drop(struct kept *kept, taddr addr, size_t len)
{
	if (!kept)
		return;
	drop_pieces(kept, addr, addr + len);
	drop_heads(kept, addr, addr + len);
}

void kept_add(struct kept *kept, taddr addr, const void *buf, size_t len)
{
	struct kept_piece *piece;
	uint8_t *bytes;
	size_t i;

	if (!kept || !len || len > BYTES_MAX)
		return;
	drop_pieces(kept, addr, addr + len);
	bytes = kept->bytes + len > BYTES_MAX ? NULL : malloc(len);
	piece = bytes ? vec_push(&kept->pieces) : NULL;
	if (!piece) {
		free(bytes);
		return;
	}
	memcpy(bytes, buf, len);
	kept->bytes += len;
	for (i = kept->pieces.n - 1; i > 0 && kept->pieces.items[i - 1].addr > addr; i--)
		kept->pieces.items[i] = kept->pieces.items[i - 1];
	kept->pieces.items[i] = (struct kept_piece){ addr, len, bytes };
}

void kept_write(struct kept *kept, taddr addr, const void *buf, size_t len)
{
	taddr end = addr + len;

	if (!kept)
		return;
	for (size_t i = find(kept, addr); i < kept->pieces.n; i++) {
		const struct kept_piece *piece = &kept->pieces.items[i];
		taddr piece_end = piece->addr + piece->len,
		      from = piece->addr > addr ? piece->addr : addr,
		      to = piece_end < end ? piece_end : end;

		if (piece->addr >= end)
			break;
		memcpy(piece->bytes + (from - piece->addr), (const uint8_t *)buf + (from - addr),
		       to - from);
	}
	drop_heads(kept, addr, end);
}

void kept_drop_all(struct kept *kept)
{
	struct kept_piece *piece;

	if (!kept)
		return;
	vec_for_each (&kept->pieces, piece)
		free(piece->bytes);
	kept->pieces.n = kept->bytes = kept->heads.n = 0;
	kept->has_heads = false;
}

void kept_free(struct kept *kept)
{
	if (!kept)
		return;
	kept_drop_all(kept);
	vec_release(&kept->pieces);
	vec_release(&kept->heads);
	free(kept);
}
