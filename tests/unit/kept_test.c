// SPDX-License-Identifier: GPL-3.0-or-later
// kept_test.c - what is kept of a process's memory is what was read last, or written since

#include <stdlib.h>
#include <string.h>

#include "proc/kept.h"
#include "tap.h"

#define AT 0x10000ull

static bool has(const struct kept *kept, taddr addr, const char *text)
{
	char have[16];

	return kept_recall(kept, addr, have, strlen(text)) && !memcmp(have, text, strlen(text));
}

static void check_pieces(struct kept *kept)
{
	char some[4];

	ok(!kept_recall(kept, AT, some, 4), "at first nothing is known");
	kept_add(kept, AT, "abcdefgh", 8);
	kept_add(kept, AT + 0x2000, "second", 6);
	kept_add(kept, AT + 0x1000, "between", 7);
	ok(has(kept, AT, "abcdefgh") && has(kept, AT + 0x1000, "between") &&
		   has(kept, AT + 0x2000, "second"),
	   "pieces are found, in whatever order they came");
	ok(has(kept, AT + 3, "def"), "so is a part of one");
	ok(!kept_recall(kept, AT + 6, some, 4), "not what goes beyond it");
	kept_write(kept, AT + 6, "GH--", 4);
	kept_write(kept, AT - 2, "--AB", 4);
	ok(has(kept, AT, "ABcdefGH"), "what is written is noted, as far as it lies in a piece");
	kept_drop(kept, AT + 7, 1);
	ok(!kept_recall(kept, AT, some, 4) && has(kept, AT + 0x1000, "between"),
	   "a piece of which a byte has changed is dropped, and no other");
	kept_add(kept, AT + 0x1000, "between them", 12);
	ok(has(kept, AT + 0x1000, "between them"), "a longer piece takes a shorter one's place");
	kept_drop_all(kept);
	ok(!kept_recall(kept, AT + 0x2000, some, 4) && !kept->bytes, "all can be dropped");
}

static void add_head(struct kept *kept, taddr at)
{
	struct kept_head *head = vec_push(&kept->heads);

	if (head)
		head->at = at;
}

static void check_heads(struct kept *kept)
{
	for (taddr at = AT; at < AT + 0x4000; at += 0x1000)
		add_head(kept, at);
	kept->has_heads = true;
	kept_write(kept, AT + 0x1008, "12345678", 8);
	kept_add(kept, AT, "abcdefgh", 8);
	ok(kept->has_heads && kept->heads.n == 4,
	   "what is written behind the beginning of a mapping, or read there, changes none");
	kept_write(kept, AT + 0x1004, "1234", 4);
	ok(!kept->has_heads && kept->heads.n == 3 && kept->heads.items[1].at == AT + 0x2000,
	   "what is written over one makes that one unknown");
	kept_drop(kept, AT + 0x1800, 0x1000);
	ok(kept->heads.n == 2, "so does what is mapped over one");
}

int main(void)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	char some[4];

	if (!kept)
		return 1;
	check_pieces(kept);
	check_heads(kept);
	kept_free(kept);
	kept_add(NULL, AT, "none", 4);
	kept_write(NULL, AT, "none", 4);
	kept_drop(NULL, AT, 4);
	ok(!kept_recall(NULL, AT, some, 4), "where nothing is to be kept nothing is");
	return tap_done();
}
