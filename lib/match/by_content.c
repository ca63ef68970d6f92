// SPDX-License-Identifier: GPL-3.0-or-later
// by_content.c - variables that no code refers to, known by what they hold
//
// Programs make tables of functions known to each other without naming them: by sections that the
// linker collects, or by lists that constructors fill. Then nothing leads from code to the table,
// and from there to those of its functions that look like others. But before the program has run,
// the table holds its initial value, among it addresses of functions that were found. So it is
// looked for wherever the rarest of these addresses is, and it is found if just one place has all
// of its contents. References in it count as any others.
//
// Not handled: tables in which no function is known, and those that are there twice.

#include <string.h>

#include "match/match_internal.h"

/* A word of the program's data that may be an address in the program. */
struct word {
	uint64_t value;
	taddr addr;
};

typedef VEC(struct word) word_vec;

static int by_value(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool add_words(const struct image *image, const struct image_seg *seg, word_vec *words)
{
	size_t off = (size_t)(-seg->start % sizeof(uint64_t));

	for (; seg->write && seg->bytes && off + sizeof(uint64_t) <= seg->len;
	     off += sizeof(uint64_t)) {
		struct word word = { .addr = seg->start + off }, *item;

		memcpy(&word.value, seg->bytes + off, sizeof(word.value));
		if (word.value < image->start || word.value >= image->end)
			continue;
		item = vec_push(words);
		if (!item)
			return false;
		*item = word;
	}
	return true;
}

/* What a field with a relocation holds, if that is the address of a function that was found. */
static bool known_value(const struct match *match, const struct objrel *rel, uint64_t *ret)
{
	const struct reloc_info *info = match->arch->reloc(rel->type);
	const struct func *func;

	if (info->kind != RELOC_ABS || info->size != sizeof(*ret) || !rel->sym ||
	    !match_sym_is_code(rel->sym) || rel->sym->value || rel->addend)
		return false;
	func = match->funcs[rel->sym->sec->mark];
	if (!func || func->state != FUNC_MATCHED)
		return false;
	*ret = func->pub.addr;
	return true;
}

/* Where the item may lie: *ret_off bytes before one of these words. NULL: nothing tells. */
static const struct word *find_places(const struct match *match, const word_vec *words,
				      const struct item *item, size_t *ret_n, uint64_t *ret_off)
{
	const struct word *best = NULL;
	const struct objrel *rel;

	vec_for_each (&item->sec->rels, rel) {
		uint64_t value;
		size_t low, high;

		if (rel->offset < item->start || rel->offset >= item->end ||
		    !known_value(match, rel, &value))
			continue;
		/* The words with this value are [low, high). */
		low = vec_lower_bound(words, it, it->value < value);
		for (high = low; high < words->n && words->items[high].value == value; high++)
			;
		if (best && high - low >= *ret_n)
			continue;
		best = words->items + low;
		*ret_n = high - low;
		*ret_off = rel->offset - item->start;
	}
	return best;
}

/* 1 if the item is at addr, 0 if not, or a negative code. */
static int try_at(struct match *match, struct item *item, taddr addr, bool keep,
		  struct uspl_err *err)
{
	struct trial trial = { .match = match };
	bool equal = data_lies_at(&trial, item, addr);
	int rc = trial.oom ? uspl_fail_nomem(err) : equal;

	if (rc != 1 || !keep)
		trial_undo(&trial);
	trial_release(&trial);
	return rc;
}

static int find_item(struct match *match, const word_vec *words, struct item *item,
		     bool *ret_progress, struct uspl_err *err)
{
	uint64_t off = 0;
	taddr place = 0;
	size_t n = 0, equal = 0;
	const struct word *word = find_places(match, words, item, &n, &off);
	int rc = 0;

	for (size_t i = 0; word && i < n && equal < 2 && rc >= 0; i++) {
		rc = try_at(match, item, word[i].addr - off, false, err);
		if (rc == 1) {
			place = word[i].addr - off;
			equal++;
		}
	}
	if (rc >= 0 && equal == 1) {
		rc = try_at(match, item, place, true, err);
		*ret_progress = true;
	}
	return rc < 0 ? rc : 0;
}

int by_content_find(struct match *match, bool *ret_progress, struct uspl_err *err)
{
	const struct image_seg *seg;
	auto_vec word_vec words = { 0 };
	int rc = 0;

	vec_for_each (&match->image->segs, seg)
		if (!rc && !add_words(match->image, seg, &words))
			rc = uspl_fail_nomem(err);
	if (words.n)
		qsort(words.items, words.n, sizeof(*words.items), by_value);
	if (rc)
		return rc;
	for (size_t i = 0; i < match->n_items; i++) {
		struct item *item = &match->items[i];

		if (item->named && !item->place.known && (item->sec->flags & SHF_WRITE) &&
		    item->sec->data) {
			rc = find_item(match, &words, item, ret_progress, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}
