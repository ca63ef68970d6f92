// SPDX-License-Identifier: GPL-3.0-or-later
// lock_report.c - what the tracers lock and sigoff have in common: a table of spans with their
// maxima

#include "trace/tally/lock_report.h"

#include <stdlib.h>

#include "trace/tally/chains.h"
#include "uspl/listen_abi.h"

static int by_maximum(const void *a, const void *b)
{
	const struct uspl_lock *x = a, *y = b;

	if (x->hold_max != y->hold_max)
		return x->hold_max > y->hold_max ? -1 : 1;
	return x->wait_max > y->wait_max ? -1 : x->wait_max < y->wait_max;
}

/* ret->items is to be freed. */
static int read_table(const struct tally *tally, struct lock_table *ret, struct uspl_err *err)
{
	auto_free struct uspl_lock *locks = calloc(USPL_LOCKS, sizeof(*locks));
	size_t n = 0;
	int rc;

	if (!locks)
		return uspl_fail_nomem(err);
	rc = proc_read(tally->view.proc, tally->own, locks, USPL_LOCKS * sizeof(*locks), err);
	if (rc)
		return rc;
	for (size_t i = 0; i < USPL_LOCKS; i++)
		if (locks[i].addr && locks[i].taken)
			locks[n++] = locks[i];
	qsort(locks, n, sizeof(*locks), by_maximum);
	*ret = (struct lock_table){ take_ptr(locks), n };
	return 0;
}

static int add_lines(struct tally *tally, const struct lock_table *table,
		     const struct lock_form *form, struct buf *out, struct uspl_err *err)
{
	auto_json struct json json = { 0 };
	int rc = 0;

	for (size_t i = 0; i < table->n; i++) {
		rc = form->json(tally, &table->items[i], &json, err);
		tally_take_json(&json, out);
		if (rc)
			return rc;
	}
	return 0;
}

int lock_report(struct tally *tally, const struct lock_form *form, bool json, struct buf *out,
		struct uspl_err *err)
{
	struct lock_table table = { 0 };
	int rc = read_table(tally, &table, err);

	if (rc)
		return rc;
	rc = json ? add_lines(tally, &table, form, out, err) : form->text(tally, &table, out, err);
	free(table.items);
	return rc;
}

int lock_add_longest(struct tally *tally, const struct uspl_lock *lock, const char *what,
		     struct buf *out, struct uspl_err *err)
{
	if (!lock->hold_max)
		return 0;
	buf_addf(out, "    %s for %.3f us by thread %d, from ", what,
		 tally_us(tally, lock->hold_max), (int)lock->hold_tid);
	places_add_caller(&tally->places, lock->hold_site, out);
	buf_addstr(out, " to\n");
	return chains_add(tally, &lock->chain, "        ", out, err);
}

int lock_json_longest(struct tally *tally, const struct uspl_lock *lock, struct json *json,
		      struct uspl_err *err)
{
	auto_buf struct buf from = { 0 };

	if (!lock->hold_max)
		return 0;
	places_add_caller(&tally->places, lock->hold_site, &from);
	json_number(json, "longest_tid", (int64_t)lock->hold_tid);
	json_string(json, "longest_from", buf_str(&from));
	return chains_add_json(tally, &lock->chain, "longest_to", json, err);
}
