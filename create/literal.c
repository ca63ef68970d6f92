// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * literal.c - is a constant without a name the same in both builds?
 *
 * A string or a number has no identity: what counts is what the code would read. So a reference
 * to a literal is equal to another if the contents are, wherever in their sections they lie. The
 * question is how far a literal reaches.
 *
 *  - In a section of strings (SHF_STRINGS) to its end; in one of mergeable constants one entry.
 *    Code may count from a place before or behind the one that it means (a loop that adds 1 before it
 *    reads, an end pointer): such a reference keeps its symbol, the anchor, for the place it leads to
 *    belongs to another literal, or to none.
 *  - Elsewhere (gcc -O0 keeps strings in plain .rodata; jump tables; constants too large to
 *    merge) nothing in the file says so. It reaches to the next place that something refers to,
 *    unless that place may lie within the same object: if the bytes before it aren't a whole
 *    string and some section refers to both places, it goes on. An object of which one function
 *    reads only the start and only another one a part behind it, without the start, would be cut
 *    too short; compilers don't refer so to what isn't a string.
 */

#include <ctype.h>
#include <string.h>

#include "create/differ.h"

/* Tables of pointers to tables of pointers: more than any compiler nests. */
#define MAX_DEPTH 16

/* Printable text that ends at `end` in one NUL and zeros to align what follows. */
static bool is_whole_string(const struct objsec *sec, uint64_t at, uint64_t end)
{
	uint64_t i = at;

	while (i < end && (isprint(sec->data[i]) || isspace(sec->data[i]) || sec->data[i] >= 0x80))
		i++;
	if (i == end || (i == at && end - at > 1))
		return false;
	for (; i < end; i++)
		if (sec->data[i])
			return false;
	return true;
}

/* Does one section refer to a place in [uses[first], uses[next]) and to uses[next]? */
static bool shares_user(const struct part *part, size_t first, size_t next)
{
	uint64_t place = part->uses.items[next].offset;

	for (size_t i = next; i < part->uses.n && part->uses.items[i].offset == place; i++)
		for (size_t j = first; j < next; j++)
			if (part->uses.items[j].from == part->uses.items[i].from)
				return true;
	return false;
}

/* The end of the literal that begins at `at`. */
static uint64_t literal_end(const struct objsec *sec, uint64_t at)
{
	const struct part *part = part_of(sec);
	size_t first = 0;

	while (first < part->uses.n && part->uses.items[first].offset < at)
		first++;
	for (size_t i = first; i < part->uses.n && part->uses.items[i].offset < sec->size; i++) {
		uint64_t next = part->uses.items[i].offset;

		if (next == at || next == part->uses.items[i - 1].offset)
			continue;
		if (is_whole_string(sec, at, next) || !shares_user(part, first, i))
			return next;
	}
	return sec->size;
}

static bool strings_equal(const struct objsec *pre, uint64_t pre_at, const struct objsec *post,
			  uint64_t post_at)
{
	uint64_t step = pre->entsize ? pre->entsize : 1;

	if (pre->entsize != post->entsize)
		return false;
	for (; pre_at + step <= pre->size && post_at + step <= post->size;
	     pre_at += step, post_at += step) {
		bool end = true;

		if (memcmp(pre->data + pre_at, post->data + post_at, step))
			return false;
		for (uint64_t i = 0; i < step; i++)
			end &= !pre->data[pre_at + i];
		if (end)
			return true;
	}
	return false;
}

static bool entries_equal(const struct objsec *pre, uint64_t pre_at, const struct objsec *post,
			  uint64_t post_at)
{
	uint64_t size = pre->entsize;
	struct range a = { pre, pre_at - pre_at % size, size },
		     b = { post, post_at - post_at % size, size };

	return pre_at % size == post_at % size && range_equal(&a, &b, 0);
}

/*
 * The same for literals of unknown length. Zeros that fill up to the next one may differ in
 * number.
 */
static bool stretches_equal(const struct range *pre, const struct range *post, int depth)
{
	uint64_t len = pre->len < post->len ? pre->len : post->len;
	struct range a = { pre->sec, pre->at, len }, b = { post->sec, post->at, len };
	const struct range *longer = pre->len > post->len ? pre : post;

	for (uint64_t i = longer->at + len; i < longer->at + longer->len; i++)
		if (longer->sec->data[i])
			return false;
	return range_equal(&a, &b, depth);
}

static bool is_strings(const struct objsec *sec)
{
	return (sec->flags & SHF_MERGE) && (sec->flags & SHF_STRINGS);
}

static bool is_entries(const struct objsec *sec)
{
	return (sec->flags & SHF_MERGE) && !(sec->flags & SHF_STRINGS) && sec->entsize;
}

/* Where the string or entry at `at` ends. */
static uint64_t merged_end(const struct objsec *sec, uint64_t at)
{
	uint64_t step = sec->entsize ? sec->entsize : 1;
	bool end = false;

	if (!is_strings(sec))
		return at - at % step + step;
	for (; at + step <= sec->size && !end; at += step) {
		end = true;
		for (uint64_t i = 0; i < step; i++)
			end &= !sec->data[at + i];
	}
	return at;
}

bool literal_is_left(const struct objsec *from, const struct objrel *rel)
{
	const struct objsym *sym = rel->sym;
	int64_t at = reference_target(from, rel);

	if (sym->type == STT_SECTION || !sym->sec || !sym->sec->data ||
	    part_of(sym->sec)->kind != PART_LITERAL || !(sym->sec->flags & SHF_MERGE) ||
	    sym->value >= sym->sec->size)
		return false;
	return at < (int64_t)sym->value || at >= (int64_t)merged_end(sym->sec, sym->value);
}

bool literal_is_anchor(const struct objsym *sym)
{
	return sym->type != STT_SECTION && sym->bind == STB_LOCAL && sym->sec &&
	       part_of(sym->sec)->kind == PART_LITERAL && (sym->sec->flags & SHF_MERGE);
}

bool literal_equal(const struct objsec *pre, int64_t pre_at, const struct objsec *post,
		   int64_t post_at, int depth)
{
	struct range a = { .sec = pre }, b = { .sec = post };

	if (depth > MAX_DEPTH || !pre->data || !post->data || is_strings(pre) != is_strings(post) ||
	    is_entries(pre) != is_entries(post))
		return false;
	if (pre_at < 0 || post_at < 0 || (uint64_t)pre_at >= pre->size ||
	    (uint64_t)post_at >= post->size) {
		/* `table[-1]`: who knows where in the table that ends up. */
		a.len = pre->size;
		b.len = post->size;
		return pre_at == post_at && pre->size == post->size &&
		       range_equal(&a, &b, depth + 1);
	}
	a.at = (uint64_t)pre_at;
	b.at = (uint64_t)post_at;
	if (is_strings(pre))
		return strings_equal(pre, a.at, post, b.at);
	if (is_entries(pre))
		return pre->entsize == post->entsize && entries_equal(pre, a.at, post, b.at);
	a.len = literal_end(pre, a.at) - a.at;
	b.len = literal_end(post, b.at) - b.at;
	return stretches_equal(&a, &b, depth + 1);
}
