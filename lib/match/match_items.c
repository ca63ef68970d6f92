// SPDX-License-Identifier: GPL-3.0-or-later
// match_items.c - the pre object's data, cut into what lies together in any build
//
// A section is cut into items, spans whose inner layout can't differ between two builds: an object
// with a symbol is one; what has no symbol (a switch's table, a string that isn't merged) begins
// where some relocation points to and ends where the next one begins. With -fdata-sections most
// sections are one item; without it, the running program has them in another order.

#include "match/match_internal.h"

bool match_sec_is_merged(const struct objsec *sec)
{
	/* Constants that are addresses stay apart: no linker merges what is to be relocated. */
	return (sec->flags & SHF_MERGE) && !(sec->flags & SHF_WRITE) && sec->data && !sec->rels.n;
}

static bool is_data(const struct objsec *sec)
{
	return (sec->flags & SHF_ALLOC) && !objsec_is_code(sec);
}

typedef VEC(struct item) item_vec;

static int add_item(item_vec *items, const struct objsec *sec, uint64_t start, uint64_t len,
		    struct uspl_err *err)
{
	struct item *item;

	if (start >= sec->size)
		return 0;
	item = vec_push(items);
	if (!item)
		return uspl_fail_nomem(err);
	item->sec = sec;
	item->start = start;
	item->named = len > 0;
	/* A nameless one goes on until another begins (sort_items). */
	item->end = len && len < sec->size - start ? start + len : sec->size;
	return 0;
}

/*
 * What is referred to by its section begins an item; unless it lies in an object that has a symbol,
 * see sort_items.
 */
static int items_of_relocations(const struct match *match, const struct objsec *sec,
				item_vec *items, struct uspl_err *err)
{
	const struct func *func = match->funcs[sec->mark];

	for (size_t i = 0; i < sec->rels.n; i++) {
		const struct objrel *rel = &sec->rels.items[i];
		enum reloc_kind kind = match->arch->reloc(rel->type)->kind;
		const struct objsym *sym = rel->sym;
		uint64_t off;
		int rc;

		if (!sym || sym->type != STT_SECTION || !sym->sec || !is_data(sym->sec) ||
		    match_sec_is_merged(sym->sec) || (kind != RELOC_ABS && kind != RELOC_PCREL))
			continue;
		off = sym->value + (uint64_t)rel->addend;
		if (kind == RELOC_PCREL && func)
			off += func->sites[i].trail;
		rc = add_item(items, sym->sec, off, 0, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->sec != y->sec)
		return x->sec->mark < y->sec->mark ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->named != y->named)
		return x->named ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/*
 * Sorts, drops what begins in or at an item with a name, and lets the nameless ones end where the
 * next begins.
 */
static void sort_items(item_vec *items)
{
	size_t n = 0;

	if (items->n)
		qsort(items->items, items->n, sizeof(*items->items), by_place);
	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->items[i];
		struct item *last = n ? &items->items[n - 1] : NULL;

		if (last && last->sec == item->sec) {
			if (last->start == item->start ||
			    (last->named && !item->named && item->start < last->end))
				continue;
			if (!last->named && last->end > item->start)
				last->end = item->start;
		}
		items->items[n++] = *item;
	}
	items->n = n;
}

int match_cut_items(struct match *match, struct uspl_err *err)
{
	size_t n_secs = match->pre->secs.n;
	item_vec items = { 0 };
	int rc = 0;

	for (size_t i = 0; i < match->n_by_name && !rc; i++) {
		const struct objsym *sym = match->by_name[i];

		if (sym->sec && is_data(sym->sec) && !match_sec_is_merged(sym->sec))
			rc = add_item(&items, sym->sec, sym->value, sym->size, err);
	}
	for (size_t i = 0; i < n_secs && !rc; i++)
		rc = items_of_relocations(match, match->pre->secs.items[i], &items, err);
	sort_items(&items);
	match->items = items.items;
	match->n_items = items.n;
	match->first_item = calloc(n_secs + 1, sizeof(*match->first_item));
	if (rc || !match->first_item)
		return rc ? rc : uspl_fail_nomem(err);
	for (size_t sec = 0, i = 0; sec <= n_secs; sec++) {
		while (i < items.n && items.items[i].sec->mark < sec)
			i++;
		match->first_item[sec] = i;
	}
	return 0;
}

struct item *match_item_at(const struct match *match, const struct objsec *sec, int64_t off)
{
	size_t first = match->first_item[sec->mark], end = match->first_item[sec->mark + 1];
	size_t low = first, high = end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if ((int64_t)match->items[mid].start <= off)
			low = mid + 1;
		else
			high = mid;
	}
	/*
	 * A little below the first one still means the first one: array[-1] of an array that is
	 * indexed from 1.
	 */
	if (low == first)
		return first < end ? &match->items[first] : NULL;
	return &match->items[low - 1];
}
