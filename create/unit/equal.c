// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * equal.c - is a piece of code or data the same in both builds?
 *
 * Two pieces are equal if their bytes are and each reference of one means what the other's does:
 * a named symbol with the same refname and distance, a place at the same distance in code that is
 * paired, or a literal with the same contents.
 *
 * A string or a number has no identity: what counts is what the code would read. So a reference
 * to a literal is equal to another if the contents are, wherever in their sections they lie. The
 * question is how far a literal reaches.
 *
 *  - In a section of strings (SHF_STRINGS) it reaches to the string's end; in one of mergeable
 *    constants it is one entry. Code may count from a place before or behind the one that it means
 *    (a loop that adds 1 before it reads, an end pointer): such a reference keeps its symbol, the
 *    anchor, for the place it leads to belongs to another literal, or to none.
 *  - Elsewhere (gcc -O0 keeps strings in plain .rodata; jump tables; constants too large to merge)
 *    nothing in the file says so. It reaches to the next place that something refers to, unless
 *    that place may lie within the same object: if the bytes before it aren't a whole string and
 *    some section refers to both places, it goes on. An object would be cut too short if one
 *    function read only its start, and only another one a part behind it, without the start;
 *    compilers don't refer so to what isn't a string.
 */

#include "create/unit/equal.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "create/unit/literal.h"
#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

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
static bool shares_user(const struct secinfo *secinfo, size_t first, size_t next)
{
	uint64_t place = secinfo->uses.items[next].offset;

	for (size_t i = next; i < secinfo->uses.n && secinfo->uses.items[i].offset == place; i++)
		for (size_t j = first; j < next; j++)
			if (secinfo->uses.items[j].from == secinfo->uses.items[i].from)
				return true;
	return false;
}

/* The end of the literal that begins at `at`. */
static uint64_t literal_end(const struct objsec *sec, uint64_t at)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	size_t first = 0;

	while (first < secinfo->uses.n && secinfo->uses.items[first].offset < at)
		first++;
	for (size_t i = first; i < secinfo->uses.n && secinfo->uses.items[i].offset < sec->size;
	     i++) {
		uint64_t next = secinfo->uses.items[i].offset;

		if (next == at || next == secinfo->uses.items[i - 1].offset)
			continue;
		if (is_whole_string(sec, at, next) || !shares_user(secinfo, first, i))
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
		if (memcmp(pre->data + pre_at, post->data + post_at, step))
			return false;
		if (literal_ends_at(pre, pre_at))
			return true;
	}
	return false;
}

static bool is_entries(const struct objsec *sec)
{
	return (sec->flags & SHF_MERGE) && !(sec->flags & SHF_STRINGS) && sec->entsize;
}

bool equal_literals(const struct objsec *pre, int64_t pre_at, const struct objsec *post,
		    int64_t post_at, int depth)
{
	struct range a = { .sec = pre }, b = { .sec = post };
	const struct range *longer;
	uint64_t len;

	if (depth > MAX_DEPTH || !pre->data || !post->data ||
	    literal_is_string(pre) != literal_is_string(post) ||
	    is_entries(pre) != is_entries(post))
		return false;
	if (pre_at < 0 || post_at < 0 || (uint64_t)pre_at >= pre->size ||
	    (uint64_t)post_at >= post->size) {
		/* `table[-1]`: where in the table that ends up isn't known. */
		a.len = pre->size;
		b.len = post->size;
		return pre_at == post_at && pre->size == post->size &&
		       equal_ranges(&a, &b, depth + 1);
	}
	a.at = (uint64_t)pre_at;
	b.at = (uint64_t)post_at;
	if (literal_is_string(pre))
		return strings_equal(pre, a.at, post, b.at);
	if (is_entries(pre)) {
		a.len = b.len = pre->entsize;
		if (pre->entsize != post->entsize || a.at % a.len != b.at % b.len)
			return false;
		a.at -= a.at % a.len;
		b.at -= b.at % b.len;
		return equal_ranges(&a, &b, 0);
	}
	a.len = literal_end(pre, a.at) - a.at;
	b.len = literal_end(post, b.at) - b.at;
	/*
	 * Of literals of unknown length, the zeros that fill up to the next one may differ in
	 * number.
	 */
	len = a.len < b.len ? a.len : b.len;
	longer = a.len > b.len ? &a : &b;
	for (uint64_t i = longer->at + len; i < longer->at + longer->len; i++)
		if (longer->sec->data[i])
			return false;
	a.len = b.len = len;
	return equal_ranges(&a, &b, depth + 1);
}

static bool is_section(const struct objsym *sym)
{
	return sym->type == STT_SECTION && sym->sec;
}

static bool place_equal(const struct range *pre, const struct objrel *a, const struct range *post,
			const struct objrel *b, int depth)
{
	const struct objsec *x = a->sym->sec, *y = b->sym->sec;
	const struct objsym *was = secinfo_of(x)->owner, *is = secinfo_of(y)->owner;

	if (secinfo_of(x)->kind != secinfo_of(y)->kind)
		return false;
	if (secinfo_of(x)->kind == SECINFO_LITERAL)
		return equal_literals(x, reference_target(pre->sec, a), y,
				      reference_target(post->sec, b), depth);
	if (secinfo_of(x)->kind == SECINFO_CODE && (was || is))
		return a->addend == b->addend && was && is && syminfo_of(is)->twin == was;
	return a->addend == b->addend && !strcmp(x->name, y->name);
}

static bool reference_equal(const struct range *pre, const struct objrel *a,
			    const struct range *post, const struct objrel *b, int depth)
{
	const char *x = syminfo_of(a->sym)->refname, *y = syminfo_of(b->sym)->refname;

	if (a->offset - pre->at != b->offset - post->at || a->type != b->type)
		return false;
	if (x && y)
		return a->addend == b->addend && !strcmp(x, y);
	if (literal_is_anchor(a->sym) && literal_is_anchor(b->sym))
		return a->addend == b->addend &&
		       equal_literals(a->sym->sec, (int64_t)a->sym->value, b->sym->sec,
				      (int64_t)b->sym->value, depth);
	return is_section(a->sym) && is_section(b->sym) && place_equal(pre, a, post, b, depth);
}

static size_t first_reference(const struct range *range)
{
	return vec_lower_bound(&range->sec->rels, it, it->offset < range->at);
}

/* The relocation of that index if it lies in the range, else NULL. */
static const struct objrel *reference_in(const struct range *range, size_t i)
{
	if (i >= range->sec->rels.n || range->sec->rels.items[i].offset >= range->at + range->len)
		return NULL;
	return &range->sec->rels.items[i];
}

bool equal_ranges(const struct range *pre, const struct range *post, int depth)
{
	size_t i = first_reference(pre), j = first_reference(post);

	if (pre->len != post->len || pre->at + pre->len > pre->sec->size ||
	    post->at + post->len > post->sec->size || !pre->sec->data != !post->sec->data)
		return false;
	/* The fields that relocations fill are zero in an object with addends. */
	if (pre->sec->data &&
	    memcmp(pre->sec->data + pre->at, post->sec->data + post->at, pre->len))
		return false;
	for (;; i++, j++) {
		const struct objrel *a = reference_in(pre, i), *b = reference_in(post, j);

		if (!a || !b)
			return !a && !b;
		if (!reference_equal(pre, a, post, b, depth))
			return false;
	}
}

uint64_t equal_first_difference(const struct range *pre, const struct range *post)
{
	size_t i = first_reference(pre), j = first_reference(post);
	uint64_t at = 0, len = pre->len < post->len ? pre->len : post->len;

	while (at < len && pre->sec->data && post->sec->data &&
	       pre->sec->data[pre->at + at] == post->sec->data[post->at + at])
		at++;
	for (;; i++, j++) {
		const struct objrel *a = reference_in(pre, i), *b = reference_in(post, j);
		uint64_t first = at;

		if (a && b && reference_equal(pre, a, post, b, 0))
			continue;
		if (a && a->offset - pre->at < first)
			first = a->offset - pre->at;
		if (b && b->offset - post->at < first)
			first = b->offset - post->at;
		return first;
	}
}
