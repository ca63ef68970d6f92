// SPDX-License-Identifier: GPL-3.0-or-later
// static_pairs.c - which variable of one list is which of another

#include "create/diff/statics.h"

static bool alike_in_use(const struct objsym *pre, const struct objsym *post)
{
	return static_alike(pre, post) && static_same_use(pre, post);
}

typedef bool (*same_fn)(const struct objsym *pre, const struct objsym *post);

/* Pairs variables that are the same as only one of the other build. */
static void pair_unique(const sym_vec *pre, const sym_vec *post, same_fn same)
{
	for (size_t i = 0; i < post->n; i++) {
		struct objsym *sym = post->items[i], *old = NULL;
		size_t n = 0, back = 0;

		for (size_t j = 0; static_is_loose(sym) && j < pre->n; j++) {
			if (!static_is_loose(pre->items[j]) || !same(pre->items[j], sym))
				continue;
			old = pre->items[j];
			n++;
		}
		for (size_t j = 0; n == 1 && j < post->n; j++)
			back += static_is_loose(post->items[j]) && same(old, post->items[j]);
		if (n == 1 && back == 1)
			sym_pair(old, sym);
	}
}

/* How many have no twin, and how many of these may be written; *ret_last is the last of them. */
static size_t count_loose(const sym_vec *syms, size_t *ret_writable, struct objsym **ret_last)
{
	size_t n = 0;

	*ret_writable = 0;
	for (size_t i = 0; i < syms->n; i++) {
		if (!static_is_loose(syms->items[i]))
			continue;
		*ret_last = syms->items[i];
		*ret_writable += !static_is_constant(syms->items[i]);
		n++;
	}
	return n;
}

bool statics_settle(const sym_vec *pre, const sym_vec *post)
{
	struct objsym *old, *sym;
	size_t n_pre, n_post, writable_pre, writable_post;

	pair_unique(pre, post, static_alike);
	pair_unique(pre, post, alike_in_use);
	/* Constants that are alike are paired in their order. */
	for (size_t i = 0; i < post->n; i++)
		for (size_t j = 0; j < pre->n && static_is_loose(post->items[i]); j++)
			if (static_is_constant(post->items[i]) && static_is_loose(pre->items[j]) &&
			    static_alike(pre->items[j], post->items[i]))
				sym_pair(pre->items[j], post->items[i]);
	n_pre = count_loose(pre, &writable_pre, &old);
	n_post = count_loose(post, &writable_post, &sym);
	if (n_pre == 1 && n_post == 1 && sym_same_sort(old, sym))
		sym_pair(old, sym);
	else if (n_pre && n_post && writable_pre + writable_post)
		return false;
	return true;
}
