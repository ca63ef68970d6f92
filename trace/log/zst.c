// SPDX-License-Identifier: GPL-3.0-or-later
// zst.c - zstd, by libzstd

#include "trace/log/zst.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/late.h"
#include "base/text.h"
#include "late_names.h"

#define PIECE (256 * 1024)
/* What strangers may have packed: so much more than what is there. */
#define TIMES_MAX 4096
#define LEAST_MAX (64ull << 20)

LATE(ZSTD_createCCtx);
LATE(ZSTD_freeCCtx);
LATE(ZSTD_compressStream2);
LATE(ZSTD_createDCtx);
LATE(ZSTD_freeDCtx);
LATE(ZSTD_decompressStream);
LATE(ZSTD_isError);

struct zst {
	ZSTD_CCtx *ctx;
	uint8_t piece[PIECE];
};

bool zst_is_name(const char *path)
{
	return text_ends_with(path, ".zst");
}

bool zst_is_frame(const void *bytes, size_t len)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	return len >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

int zst_load(struct uspl_err *err)
{
	static const struct late_function functions[] = {
		LATE_LINE(ZSTD_createCCtx),      LATE_LINE(ZSTD_freeCCtx),
		LATE_LINE(ZSTD_compressStream2), LATE_LINE(ZSTD_createDCtx),
		LATE_LINE(ZSTD_freeDCtx),        LATE_LINE(ZSTD_decompressStream),
		LATE_LINE(ZSTD_isError),
	};

	return late_load(LATE_ZSTD, functions, ARRAY_SIZE(functions))
		       ? 0
		       : uspl_fail(err, USPL_E_UNSUPPORTED, "'.zst' needs libzstd (%s)", LATE_ZSTD);
}

int zst_new(struct zst **ret, struct uspl_err *err)
{
	struct zst *zst = calloc(1, sizeof(*zst));
	int rc = zst_load(err);

	if (!rc && zst)
		zst->ctx = late_ZSTD_createCCtx();
	if (!rc && (!zst || !zst->ctx))
		rc = uspl_fail_nomem(err);
	if (rc)
		zst_free(zst);
	else
		*ret = zst;
	return rc;
}

void zst_free(struct zst *zst)
{
	if (zst && zst->ctx)
		late_ZSTD_freeCCtx(zst->ctx);
	free(zst);
}

DEFINE_AUTO_FREE(zst, struct zst, zst_free)
#define auto_zst __attribute__((cleanup(cleanup_zst_)))

int zst_add(struct zst *zst, const void *bytes, size_t len, bool last, struct buf *out,
	    struct uspl_err *err)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer piece = { zst->piece, sizeof(zst->piece), 0 };

		left = late_ZSTD_compressStream2(zst->ctx, &piece, &in,
						 last ? ZSTD_e_end : ZSTD_e_continue);
		if (late_ZSTD_isError(left))
			return uspl_fail_nomem(err);
		buf_add(out, zst->piece, piece.pos);
	} while (last ? left > 0 : in.pos < in.size);
	return out->oom ? uspl_fail_nomem(err) : 0;
}

int zst_pack(const void *bytes, size_t len, struct buf *out, struct uspl_err *err)
{
	auto_zst struct zst *zst = NULL;
	int rc = zst_new(&zst, err);

	if (rc)
		return rc;
	return zst_add(zst, bytes, len, true, out, err);
}

int zst_unpack(const char *name, const void *bytes, size_t len, struct buf *out,
	       struct uspl_err *err)
{
	uint64_t most = LEAST_MAX + (uint64_t)len * TIMES_MAX;
	ZSTD_inBuffer in = { bytes, len, 0 };
	auto_free uint8_t *piece = malloc(PIECE);
	ZSTD_DCtx *ctx;
	size_t left = 1, got = 1;
	int rc = zst_load(err);

	if (rc)
		return rc;
	ctx = late_ZSTD_createDCtx();
	if (!ctx || !piece)
		rc = uspl_fail_nomem(err);
	/* At the input's end there may be more to come out. */
	while (!rc && (in.pos < in.size || got == PIECE)) {
		ZSTD_outBuffer to = { piece, PIECE, 0 };

		left = late_ZSTD_decompressStream(ctx, &to, &in);
		got = to.pos;
		if (late_ZSTD_isError(left))
			rc = uspl_fail(err, USPL_E_FILE, "'%s' is no zstd, or damaged", name);
		else if (out->len + got > most)
			rc = uspl_fail(err, USPL_E_HOSTILE,
				       "'%s' holds more than %d times its size", name, TIMES_MAX);
		else
			buf_add(out, piece, got);
		if (!rc && out->oom)
			rc = uspl_fail_nomem(err);
	}
	if (!rc && left)
		rc = uspl_fail(err, USPL_E_FILE, "'%s' is cut short", name);
	if (ctx)
		late_ZSTD_freeDCtx(ctx);
	return rc;
}
