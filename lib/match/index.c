// SPDX-License-Identifier: GPL-3.0-or-later
// index.c - what is known of the pre object before anything is compared
//
// Code: each section is a piece. It is decoded once to learn which instruction each relocation lies
// in, since a field that is relative to the pc counts from that instruction's end.
//
// Data: a section is cut into items, spans whose inner layout can't differ between two builds: an
// object with a symbol is one; what has no symbol (a switch's table, a string that isn't merged)
// begins where some relocation points to and ends where the next one begins. With -fdata-sections
// most sections are one item; without it, the running program has them in another order.

#include <string.h>

#include "match/internal.h"
#include "update/refname.h"

static int by_symbol_name(const void *a, const void *b)
{
	return strcmp((*(const struct objsym *const *)a)->name,
		      (*(const struct objsym *const *)b)->name);
}

static int by_run_name(const void *a, const void *b)
{
	const struct image_sym *x = *(const struct image_sym *const *)a;
	const struct image_sym *y = *(const struct image_sym *const *)b;

	return strcmp(x->name, y->name);
}

const struct objsym *match_symbol(const struct match *match, const char *refname)
{
	size_t low = 0, high = match->n_by_name;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(match->by_name[mid]->name, refname);

		if (!order)
			return match->by_name[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct image_sym *const *match_run_symbols(const struct match *match, const char *name,
						 size_t *ret_n)
{
	const struct image_sym *const *syms = match->run_by_name;
	size_t low = 0, high = match->n_run_by_name, n = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(syms[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	while (low + n < match->n_run_by_name && !strcmp(syms[low + n]->name, name))
		n++;
	*ret_n = n;
	return syms + low;
}

bool match_sec_is_merged(const struct objsec *sec)
{
	/* Constants that are addresses stay apart: no linker merges what is to be relocated. */
	return (sec->flags & SHF_MERGE) && !(sec->flags & SHF_WRITE) && sec->data && !sec->rels.n;
}

bool match_sym_is_code(const struct objsym *sym)
{
	/*
	 * An indirect function's symbol stands for what its resolver returns, not for the
	 * resolver's code.
	 */
	return sym->sec && objsec_is_code(sym->sec) && sym->type != STT_GNU_IFUNC;
}

static bool is_data(const struct objsec *sec)
{
	return (sec->flags & SHF_ALLOC) && !objsec_is_code(sec);
}

static int sort_names(struct match *match, struct uspl_err *err)
{
	size_t n_syms = match->pre->syms.n, n_run = match->image->syms.n;

	match->by_name = calloc(n_syms + 1, sizeof(*match->by_name));
	match->run_by_name = calloc(n_run + 1, sizeof(*match->run_by_name));
	if (!match->by_name || !match->run_by_name)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n_syms; i++) {
		const struct objsym *sym = match->pre->syms.items[i];

		if (sym->name[0] && sym->type != STT_SECTION && sym->type != STT_FILE)
			match->by_name[match->n_by_name++] = sym;
	}
	for (size_t i = 0; i < n_run; i++)
		match->run_by_name[match->n_run_by_name++] = &match->image->syms.items[i];
	qsort(match->by_name, match->n_by_name, sizeof(*match->by_name), by_symbol_name);
	qsort(match->run_by_name, match->n_run_by_name, sizeof(*match->run_by_name), by_run_name);
	return 0;
}

static int check_relocations(const struct match *match, const struct objsec *sec,
			     struct uspl_err *err)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel) {
		const struct reloc_info *info = match->arch->reloc(rel->type);

		if (info->kind == RELOC_NONE)
			continue;
		if (!sec->data || sec->size < info->size || rel->offset > sec->size - info->size)
			return uspl_fail(err, USPL_E_FILE,
					 "'%s' is damaged: a relocation of section '%s' lies "
					 "outside it",
					 match->pre->name, sec->name);
	}
	return 0;
}

/* The instructions that a piece's relocations lie in. */
static int find_sites(const struct match *match, struct piece *piece, struct uspl_err *err)
{
	const struct objsec *sec = piece->pub.sec;
	size_t i = 0;

	if (!sec->rels.n)
		return 0;
	piece->sites = calloc(sec->rels.n, sizeof(*piece->sites));
	if (!piece->sites)
		return uspl_fail_nomem(err);
	for (uint64_t off = 0; off < sec->size && i < sec->rels.n;) {
		struct insn insn;

		if (!match->arch->insn_decode(sec->data + off, sec->size - off, &insn)) {
			piece->broken = true;
			return 0;
		}
		off += insn.len;
		for (; i < sec->rels.n && sec->rels.items[i].offset < off; i++) {
			piece->sites[i].trail = (uint8_t)(off - sec->rels.items[i].offset);
			piece->sites[i].flow = (uint8_t)insn.flow;
		}
	}
	return 0;
}

/*
 * How many bytes of the first instructions hold no relocation and no branch: these are the same in
 * the running code, which makes it quick to see that a function isn't somewhere.
 */
static void measure_prefix(const struct match *match, struct piece *piece)
{
	const struct objsec *sec = piece->pub.sec;
	uint64_t end = sec->rels.n ? sec->rels.items[0].offset : sec->size;
	struct insn insn;

	while (piece->prefix < end &&
	       match->arch->insn_decode(sec->data + piece->prefix, sec->size - piece->prefix,
					&insn) &&
	       insn.flow == INSN_PLAIN && !insn.is_nop && !insn.pc_relative_mem &&
	       piece->prefix + insn.len <= end)
		piece->prefix += insn.len;
}

static int add_piece(struct match *match, const struct objsec *sec, struct uspl_err *err)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	match->pieces[sec->mark] = piece;
	if (!piece)
		return uspl_fail_nomem(err);
	piece->pub.sec = sec;
	piece->pub.name = sec->name;
	/* Offsets are kept in 32 bits. */
	if (!sec->data || sec->size >= MAP_NONE) {
		piece->broken = true;
		return 0;
	}
	measure_prefix(match, piece);
	return find_sites(match, piece, err);
}

/* True if a symbol of the running program may be the one that a refname means. */
static bool may_be(const char *refname, const struct image_sym *sym)
{
	if (sym->type != STT_FUNC && sym->type != STT_NOTYPE && sym->type != STT_GNU_IFUNC)
		return false;
	/*
	 * A hidden global is local after linking, so a global refname says nothing about the
	 * binding. No linker makes a local one global.
	 */
	if (!refname_is_local(refname))
		return true;
	if (sym->bind != STB_LOCAL)
		return false;
	return !sym->file || !sym->file[0] || refname_in_file(refname, sym->file);
}

static int add_candidates(struct match *match, struct piece *piece, const struct objsym *sym,
			  struct uspl_err *err)
{
	size_t n;
	const struct image_sym *const *syms =
		match_run_symbols(match, refname_symbol(sym->name), &n);

	for (size_t i = 0; i < n; i++) {
		taddr place = image_follow(match->image, syms[i]->addr), *addr;
		bool is_new = may_be(sym->name, syms[i]);

		for (size_t j = 0; j < piece->named.n; j++)
			is_new &= piece->named.items[j] != place;
		if (!is_new)
			continue;
		addr = vec_push(&piece->named);
		if (!addr)
			return uspl_fail_nomem(err);
		*addr = place;
	}
	return 0;
}

/* Pieces get their names, and the places where symbols of these names lie. */
static int name_pieces(struct match *match, struct uspl_err *err)
{
	for (size_t i = 0; i < match->n_by_name; i++) {
		const struct objsym *sym = match->by_name[i];
		struct piece *piece;
		int rc;

		if (!sym->sec || !objsec_is_code(sym->sec) || sym->value != 0)
			continue;
		piece = match->pieces[sym->sec->mark];
		if (piece->pub.name == sym->sec->name || sym->bind == STB_GLOBAL)
			piece->pub.name = sym->name;
		rc = add_candidates(match, piece, sym, err);
		if (rc)
			return rc;
	}
	return 0;
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

static int items_of_symbols(const struct match *match, item_vec *items, struct uspl_err *err)
{
	for (size_t i = 0; i < match->n_by_name; i++) {
		const struct objsym *sym = match->by_name[i];
		int rc;

		if (!sym->sec || !is_data(sym->sec) || match_sec_is_merged(sym->sec))
			continue;
		rc = add_item(items, sym->sec, sym->value, sym->size, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * What is referred to by its section begins an item; unless it lies in an object that has a symbol,
 * see sort_items.
 */
static int items_of_relocations(const struct match *match, const struct objsec *sec,
				item_vec *items, struct uspl_err *err)
{
	const struct piece *piece = match->pieces[sec->mark];

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
		if (kind == RELOC_PCREL && piece)
			off += piece->sites[i].trail;
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

static int cut_items(struct match *match, struct uspl_err *err)
{
	size_t n_secs = match->pre->secs.n;
	item_vec items = { 0 };
	int rc = items_of_symbols(match, &items, err);

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

static int index_sections(struct match *match, struct uspl_err *err)
{
	size_t n_secs = match->pre->secs.n;

	match->pieces = calloc(n_secs + 1, sizeof(*match->pieces));
	if (!match->pieces)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n_secs; i++) {
		struct objsec *sec = match->pre->secs.items[i];
		int rc;

		sec->mark = (uint32_t)i;
		if (!(sec->flags & SHF_ALLOC))
			continue;
		rc = check_relocations(match, sec, err);
		if (!rc && objsec_is_code(sec))
			rc = add_piece(match, sec, err);
		if (rc)
			return rc;
	}
	return 0;
}

int match_index(struct match *match, struct uspl_err *err)
{
	size_t n_syms = match->pre->syms.n;
	int rc;

	for (size_t i = 0; i < n_syms; i++)
		match->pre->syms.items[i]->mark = (uint32_t)i;
	match->addrs = calloc(n_syms + 1, sizeof(*match->addrs));
	match->calls = calloc(n_syms + 1, sizeof(*match->calls));
	if (!match->addrs || !match->calls)
		return uspl_fail_nomem(err);
	rc = index_sections(match, err);
	if (!rc)
		rc = sort_names(match, err);
	if (!rc)
		rc = name_pieces(match, err);
	if (!rc)
		rc = cut_items(match, err);
	return rc;
}
