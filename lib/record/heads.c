// SPDX-License-Identifier: GPL-3.0-or-later
// heads.c - the mappings that may hold a record of ours
/*
 * The first page of a mapping may be unreadable, though it is private memory without a name: a
 * guard region (MADV_GUARD_INSTALL, Linux 6.13), which glibc has at the end of threads' stacks
 * since 2.42. A page with a record of ours was written to, and is there, or swapped out. Others
 * hold none, and aren't read: the kernel would have to make them, and where the program does that
 * itself (userfaultfd(2)) a read waits until it has.
 */

#include "record/heads.h"

#include "proc/pagemap.h"

/* What the kernel says of a page; that it is there if it says nothing. */
static uint64_t page_bits(int pagemap, taddr addr)
{
	uint64_t bits;

	return pagemap_read(pagemap, addr, &bits, 1) ? bits : PAGEMAP_PRESENT;
}

/*
 * Reads them one by one, as one of them can't be read. Those that are left out hold no record: what
 * isn't in memory, and can't be brought there, is a guard region.
 */
static void read_each(struct heads *heads)
{
	size_t n = heads->n;
	auto_close int pagemap = pagemap_open(heads->proc);

	heads->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct kept_head head = heads->some[i];

		head.unknown = proc_read_some(heads->proc, head.at, &head.word,
					      sizeof(head.word)) != sizeof(head.word);
		if (!head.unknown || page_bits(pagemap, head.at) & PAGEMAP_PRESENT)
			heads->some[heads->n++] = head;
	}
}

static void leave_rest(struct heads *heads)
{
	heads->n = 0;
	heads->next = heads->proc->maps.n;
}

/* What is known of a mapping's beginning, NULL if nothing is known. */
static const struct kept_head *find_kept(const struct kept *kept, taddr at)
{
	size_t i = vec_lower_bound(&kept->heads, it, it->at < at);
	const struct kept_head *head = &kept->heads.items[i];

	return i < kept->heads.n && head->at == at && !head->unknown ? head : NULL;
}

/*
 * Reads the first words of the next mappings of the kind; all may be left out. Where the budget for
 * a process is spent no others follow, and the next charge says so.
 */
static void read_some(struct heads *heads)
{
	const mapping_vec *maps = &heads->proc->maps;
	struct proc_piece pieces[PROC_PIECES_MAX];
	auto_close int pagemap = pagemap_open(heads->proc);
	size_t looked = 0;
	uint64_t bits;

	heads->at = heads->n = 0;
	for (; heads->next < maps->n && looked < PROC_PIECES_MAX; heads->next++) {
		const struct mapping *map = &maps->items[heads->next];

		if (!mapping_may_hold_record(map) ||
		    (heads->proc->kept && find_kept(heads->proc->kept, map->start)))
			continue;
		looked++;
		bits = page_bits(pagemap, map->start);
		if (!(bits & PAGEMAP_PRESENT) &&
		    (bits & (PAGEMAP_SWAPPED | PAGEMAP_GUARD | PAGEMAP_AWAITED)) != PAGEMAP_SWAPPED)
			continue;
		heads->some[heads->n] = (struct kept_head){ map->start, heads->next, 0, false };
		pieces[heads->n] = (struct proc_piece){ map->start, sizeof(heads->some[0].word),
							&heads->some[heads->n].word };
		heads->n++;
	}
	/* A piece of many takes a quarter of what a read takes, a look at a page half of it. */
	if (proc_charge(heads->proc, 1 + looked / 2 + heads->n / 4, 0, NULL))
		leave_rest(heads);
	else if (!heads->n)
		return;
	else if (proc_read_pieces(heads->proc, pieces, heads->n))
		return;
	else if (proc_charge(heads->proc, 2 * heads->n, 0, NULL))
		leave_rest(heads);
	else
		read_each(heads);
}

/* The next one, whatever it begins with; NULL if there is no other. */
static const struct kept_head *next_read(struct heads *heads)
{
	while (heads->at == heads->n) {
		if (heads->next == heads->proc->maps.n)
			return NULL;
		read_some(heads);
	}
	return &heads->some[heads->at++];
}

static bool add_head(kept_head_vec *heads, const struct kept_head *head)
{
	struct kept_head *item = vec_push(heads);

	if (item)
		*item = *head;
	return item;
}

static int by_place(const void *a, const void *b)
{
	const struct kept_head *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Of a process whose heads are kept: reads all of them, so that it is done once. */
static bool keep_all(const struct proc *proc)
{
	struct heads all = { .proc = proc };
	struct kept *kept = proc->kept;
	const struct kept_head *head;
	kept_head_vec heads = { 0 };
	bool good = true;

	if (!kept || kept->has_heads)
		return kept;
	/* Those of the maps that are known already. */
	for (size_t i = 0; good && i < proc->maps.n; i++) {
		const struct mapping *map = &proc->maps.items[i];
		const struct kept_head *known =
			mapping_may_hold_record(map) ? find_kept(kept, map->start) : NULL;
		struct kept_head moved = known ? *known : (struct kept_head){ 0 };

		moved.map = i;
		good = !known || add_head(&heads, &moved);
	}
	while (good && (head = next_read(&all)))
		good = add_head(&heads, head);
	good = good && !proc_charge(proc, 0, 0, NULL);
	if (heads.n)
		qsort(heads.items, heads.n, sizeof(*heads.items), by_place);
	vec_release(&kept->heads);
	if (good)
		kept->heads = heads;
	else
		vec_release(&heads);
	kept->has_heads = good;
	return good;
}

static const struct kept_head *next(struct heads *heads)
{
	const struct kept *kept = heads->proc->kept;

	if (!heads->began)
		heads->kept = keep_all(heads->proc);
	heads->began = true;
	if (!heads->kept)
		return next_read(heads);
	return heads->at < kept->heads.n ? &kept->heads.items[heads->at++] : NULL;
}

const struct mapping *heads_next(struct heads *heads)
{
	const struct kept_head *head;

	while ((head = next(heads)))
		if (head->unknown || head->word == heads->magic)
			return &heads->proc->maps.items[head->map];
	return NULL;
}
