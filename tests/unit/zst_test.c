// SPDX-License-Identifier: GPL-3.0-or-later
// zst_test.c - what is packed comes back, in one frame or several; what isn't whole, or holds too
// much, doesn't

#include "trace/log/zst.h"

#include <string.h>

#include "base/cleanup.h"
#include "tap.h"

#define ZEROS (1 << 20)
#define ZEROS_TIMES 256 /* more than 64 MiB and 4096 times what comes of it */

static void test_frames(void)
{
	auto_buf struct buf packed = { 0 }, back = { 0 }, cut = { 0 };
	struct uspl_err err = { 0 };

	ok(zst_pack("one ", 4, &packed, &err) == 0 && zst_pack("", 0, &packed, &err) == 0 &&
		   zst_pack("two", 3, &packed, &err) == 0,
	   "three frames, one of nothing %s", err.msg);
	ok(zst_is_frame(packed.data, packed.len) && !zst_is_frame("uspl", 4), "it is a frame");
	ok(zst_unpack("x", packed.data, packed.len, &back, &err) == 0 &&
		   !strcmp(buf_str(&back), "one two"),
	   "all of them come back %s", err.msg);
	ok(zst_unpack("x", packed.data, packed.len - 1, &cut, &err) == -USPL_E_FILE &&
		   strstr(err.msg, "cut short"),
	   "one that is cut short: %s", err.msg);
	memset(&err, 0, sizeof(err));
	ok(zst_unpack("x", "something else", 14, &cut, &err) == -USPL_E_FILE, "none: %s", err.msg);
}

static void test_pieces(void)
{
	auto_free uint8_t *zeros = calloc(1, ZEROS);
	auto_buf struct buf packed = { 0 }, back = { 0 };
	struct uspl_err err = { 0 };
	struct zst *zst = NULL;
	int rc = zst_new(&zst, &err);

	for (int i = 0; zeros && !rc && i < ZEROS_TIMES; i++)
		rc = zst_add(zst, zeros, ZEROS, i + 1 == ZEROS_TIMES, &packed, &err);
	ok(zeros && !rc, "a frame in pieces %s", err.msg);
	ok(zst_unpack("x", packed.data, packed.len, &back, &err) == -USPL_E_HOSTILE,
	   "%zu bytes that hold 256 MiB: %s", packed.len, err.msg);
	zst_free(zst);
}

int main(void)
{
	test_frames();
	test_pieces();
	return tap_done();
}
