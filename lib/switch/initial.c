// SPDX-License-Identifier: GPL-3.0-or-later
// initial.c - initial values that an update changes

#include "switch/initial.h"

#include <string.h>

#include "base/log.h"

bool initial_any(const struct transition *t)
{
	for (size_t i = 0; i < t->n_regions; i++)
		if (t->regions[i]->data_values.n)
			return true;
	for (size_t i = 0; i < t->n_replaced; i++)
		if (t->replaced[i]->data_values.n)
			return true;
	return false;
}

/* Has a replaced update given the variable this value, in the place of the same old one? */
static bool is_replaced(const struct transition *t, const struct region_datum *datum,
			const uint8_t *have)
{
	const struct region_datum *other;

	for (size_t i = 0; i < t->n_replaced; i++)
		vec_for_each (&t->replaced[i]->data_values, other)
			if (other->addr == datum->addr && other->len == datum->len &&
			    !memcmp(other->was, datum->was, datum->len) &&
			    !memcmp(other->is, have, datum->len))
				return true;
	return false;
}

int initial_check(const struct transition *t, struct uspl_err *err)
{
	const struct region_datum *datum;
	uint8_t have[USPL_SITE_BYTES_MAX];

	for (size_t i = 0; i < t->n_regions && t->direction == TRANSITION_ON; i++)
		vec_for_each (&t->regions[i]->data_values, datum) {
			int rc = proc_read(t->proc, datum->addr, have, datum->len, err);

			if (rc)
				return rc;
			/* A tool that has died may have written the new value already. */
			if (!memcmp(have, datum->was, datum->len) || is_replaced(t, datum, have) ||
			    (region_is_interrupted(t->regions[i]) &&
			     !memcmp(have, datum->is, datum->len)))
				continue;
			uspl_fail(err, USPL_E_CONFLICT,
				  "'%s', whose initial value the update changes, has another value "
				  "in pid %d",
				  datum->name, t->proc->pid);
			uspl_hint(err, "the process has set it; let a hook of the patch decide "
				       "what is right there");
			return -USPL_E_CONFLICT;
		}
	return 0;
}

static int put(const struct transition *t, struct region_datum *datum, bool on,
	       struct uspl_err *err)
{
	int rc = proc_write(t->proc, datum->addr, on ? datum->is : datum->was, datum->len, err);

	datum->changed = !rc;
	return rc;
}

/* What the program has made of it since stays. */
static int switch_off(const struct transition *t, struct region *region, struct uspl_err *err)
{
	uint8_t have[USPL_SITE_BYTES_MAX];
	struct region_datum *datum;

	vec_for_each (&region->data_values, datum) {
		int rc = proc_read(t->proc, datum->addr, have, datum->len, err);

		if (!rc && !memcmp(have, datum->is, datum->len))
			rc = put(t, datum, false, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int switch_on(const struct transition *t, struct region *region, struct uspl_err *err)
{
	struct region_datum *datum;

	vec_for_each (&region->data_values, datum) {
		int rc = put(t, datum, true, err);

		if (rc)
			return rc;
	}
	return 0;
}

int initial_switch(const struct transition *t, struct uspl_err *err)
{
	bool on = t->direction == TRANSITION_ON;
	int rc = 0;

	for (size_t i = t->n_replaced; i-- && !rc;)
		rc = switch_off(t, t->replaced[i], err);
	for (size_t i = 0; i < t->n_regions && !rc; i++)
		rc = on ? switch_on(t, t->regions[i], err) : switch_off(t, t->regions[i], err);
	if (rc)
		initial_restore(t);
	return rc;
}

static void restore_region(const struct transition *t, struct region *region, bool on)
{
	struct region_datum *datum;

	vec_for_each (&region->data_values, datum) {
		if (datum->changed && put(t, datum, !on, NULL) != 0)
			log_info("switch", "'%s' in pid %d can't be put back", datum->name,
				 t->proc->pid);
		datum->changed = false;
	}
}

void initial_restore(const struct transition *t)
{
	for (size_t i = 0; i < t->n_regions; i++)
		restore_region(t, t->regions[i], t->direction == TRANSITION_ON);
	for (size_t i = 0; i < t->n_replaced; i++)
		restore_region(t, t->replaced[i], false);
}
