/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vec.h - a typed array that grows
 *
 *     VEC(struct site) sites = { 0 };
 *     struct site *site = vec_push(&sites);     // zeroed; NULL when out of memory
 *     vec_for_each(&sites, site) ...
 *     i = vec_lower_bound(&sites, it, it->addr < addr);
 *     vec_release(&sites);
 *
 * Pointers to items are good only until the next push.
 */
#ifndef USPL_BASE_VEC_H
#define USPL_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t n, cap;                                                                     \
	}

/*
 * Makes room for one more item and returns its place, zeroed; NULL when out of memory. Use
 * vec_push.
 */
void *vec_push_(void **items, size_t *n, size_t *cap, size_t size);

#define vec_push(v)                                                                                \
	((__typeof__((v)->items))vec_push_((void **)&(v)->items, &(v)->n, &(v)->cap,               \
					   sizeof(*(v)->items)))

#define vec_for_each(v, it) for (it = (v)->items; (v)->n && it < (v)->items + (v)->n; it++)

/* Behind the last item. An empty list may have no memory, and to add 0 to NULL is undefined. */
#define vec_end(v) ((v)->n ? (v)->items + (v)->n : (v)->items)

/*
 * The index of the first item, called `it`, of which `before` isn't true; n if there is none. Those
 * of which it is true come first.
 */
#define vec_lower_bound(v, it, before)                                                             \
	({                                                                                         \
		size_t low_ = 0, high_ = (v)->n;                                                   \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t mid_ = low_ + (high_ - low_) / 2;                                   \
			__typeof__((v)->items) it = &(v)->items[mid_];                             \
                                                                                                   \
			if (before)                                                                \
				low_ = mid_ + 1;                                                   \
			else                                                                       \
				high_ = mid_;                                                      \
		}                                                                                  \
		low_;                                                                              \
	})

/*
 * Frees the array. What the items point to is the caller's. The vec is empty and usable afterwards.
 */
#define vec_release(v)                                                                             \
	do {                                                                                       \
		free((v)->items);                                                                  \
		(v)->items = NULL;                                                                 \
		(v)->n = (v)->cap = 0;                                                             \
	} while (0)

/* A local vec that frees its array at the end of its scope: `auto_vec site_vec sites = { 0 };` */
static inline void cleanup_vec_(void *vec)
{
	free(*(void **)vec);
}

#define auto_vec __attribute__((cleanup(cleanup_vec_)))

#endif
