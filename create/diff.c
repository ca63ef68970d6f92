// SPDX-License-Identifier: GPL-3.0-or-later
// diff.c - from two sets of objects to an update's new code and pre code: the steps in order

#include "create/diff.h"

#include "create/diff/compare.h"
#include "create/diff/correlate.h"
#include "create/diff/hook_list.h"
#include "create/vet/vet_adopt.h"
#include "create/diff/reason.h"
#include "create/diff/select.h"
#include "create/emit/emit_debug.h"
#include "create/emit/emit_objects.h"
#include "create/emit/helpers.h"
#include "create/emit/unwind_info.h"
#include "create/explain.h"
#include "create/tree/authors.h"
#include "create/unit/answer.h"
#include "create/unit/diff_unit.h"
#include "create/unit/normalise.h"
#include "create/unit/report_warn.h"
#include "create/vet/hook_reach.h"
#include "create/vet/vet.h"

#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/file.h"
#include "create/diff/quiet_units.h"
#include "objfile/refname.h"

/*
 * Most units of a target are the same in both builds, and needn't be understood. wanted: those that
 * must be opened all the same.
 */
static int open_units(struct diff *diff, const struct diff_unit *units, size_t n,
		      const bool *wanted, struct uspl_err *err)
{
	diff->inputs = units;
	diff->n_inputs = n;
	diff->units = calloc(n + 1, sizeof(*diff->units));
	if (!diff->units)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct unit_place place = { &diff->left_out, i };
		enum unit_sort sort;
		size_t *quiet;
		int rc = quiet_sort(&units[i], &sort, err);

		if (!rc && (sort == UNIT_DIFFERENT || wanted[i]))
			rc = unit_open(&diff->units[diff->n++], &units[i], &place, err);
		if (rc)
			return rc;
		if (sort != UNIT_QUIET || wanted[i])
			continue;
		quiet = vec_push(&diff->quiet);
		if (!quiet)
			return uspl_fail_nomem(err);
		*quiet = i;
	}
	return 0;
}

static void diff_release(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		unit_release(&diff->units[i]);
	free(diff->units);
	vec_release(&diff->quiet);
	vec_release(&diff->hooks);
	vec_release(&diff->answers);
	strmap_release(&diff->pre_defs);
	strmap_release(&diff->post_defs);
	leave_out_release(&diff->left_out);
}

DEFINE_AUTO_RELEASE(diff, struct diff, diff_release)
#define auto_diff __attribute__((cleanup(cleanup_diff_)))

static int normalise_all(struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		int rc = normalise(&diff->units[i].pre, err);

		if (rc)
			return rc;
		rc = normalise(&diff->units[i].post, err);
		if (rc)
			return rc;
		rc = unwind_index(&diff->units[i], &diff->units[i].pre, err);
		if (rc)
			return rc;
		rc = unwind_index(&diff->units[i], &diff->units[i].post, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool carries_code(const struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		for (size_t j = 0; j < diff->units[i].post.obj->secs.n; j++)
			if (diff->units[i].post.secinfos[j].carried)
				return true;
	return false;
}

static int read_pre(struct diff *diff, const struct diff_unit *units, size_t n,
		    struct uspl_err *err)
{
	int rc;

	diff->units = calloc(n + 1, sizeof(*diff->units));
	if (!diff->units)
		return uspl_fail_nomem(err);
	/* They are opened as if the other build had none of them: nothing is compared. */
	for (size_t i = 0; i < n; i++) {
		const struct diff_unit pre = { .source = units[i].source,
					       .pre_obj = units[i].pre_obj };
		struct unit_place place = { &diff->left_out, 0 };

		if (!pre.pre_obj)
			continue;
		/* Its place among all of the target, of which it is a copy. */
		while (place.index < place.left_out->n &&
		       place.left_out->units[place.index].pre_obj != pre.pre_obj)
			place.index++;
		rc = unit_open(&diff->units[diff->n++], &pre, &place, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < diff->n; i++) {
		rc = normalise(&diff->units[i].pre, err);
		if (rc)
			return rc;
	}
	return correlate(diff, err);
}

/* pre.o, once it is known what new.o refers to. */
static int finish(struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	auto_free struct diff_unit *chosen = calloc(diff->n_inputs + 1, sizeof(*chosen));
	auto_diff struct diff helpers = {
		.left_out = { diff->inputs, diff->n_inputs, diff->left_out.linked, { { 0 } } },
	};
	size_t n = 0;
	int rc = chosen ? helpers_choose(diff, target->new_code, chosen, &n, err)
			: uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = read_pre(&helpers, chosen, n, err);
	if (rc)
		return rc;
	rc = diff->report->debug ? emit_debug(diff, target, err) : 0;
	if (rc)
		return rc;
	return emit_pre(diff, &helpers, target, err);
}

/*
 * New code may refer to what the linker left out of the program (--gc-sections), and what only an
 * unchanged unit has: *ret_more then tells that units are wanted which weren't.
 */
static int want_missing(struct diff *diff, const struct objfile *new_code, bool *wanted,
			bool *ret_more, struct uspl_err *err)
{
	for (size_t i = 0; i < new_code->syms.n; i++) {
		const struct objsym *sym = new_code->syms.items[i];
		size_t index = diff->n_inputs;
		int rc = 0;

		if (!sym->sec && sym->shndx == SHN_UNDEF && sym->name[0] &&
		    !refname_is_local(sym->name) &&
		    linked_lacks_name(diff->left_out.linked, sym->name))
			rc = leave_out_definer(&diff->left_out, sym->name, &index, err);
		if (rc)
			return rc;
		if (index < diff->n_inputs && !wanted[index])
			*ret_more = wanted[index] = true;
	}
	return 0;
}

static int run(struct diff *diff, struct update_target *target, bool *wanted, bool *ret_more,
	       struct uspl_err *err)
{
	int rc = vet_objects(diff, err);

	if (rc)
		return rc;
	rc = normalise_all(diff, err);
	if (rc)
		return rc;
	rc = correlate(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_WHICH);
	rc = compare(diff, err);
	if (rc)
		return rc;
	rc = hook_list_read(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_HOOKS);
	rc = answer_read(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_HOOKS);
	rc = select_parts(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_CODE);
	rc = vet_changes(diff, err);
	if (rc)
		return rc;
	rc = hook_reach_check(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_HOOKS);
	answer_warn_unused(diff);
	if (!carries_code(diff))
		return uspl_fail(err, USPL_E_NO_CHANGE, "the patch changes no code");
	rc = reason_give(diff, err);
	if (rc)
		return rc;
	rc = diff->report->explain ? explain(diff, err) : 0;
	if (rc)
		return rc;
	rc = emit_new(diff, target, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_CODE);
	rc = vet_adopt_list(diff, target, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_VARIABLES);
	rc = want_missing(diff, target->new_code, wanted, ret_more, err);
	if (rc || *ret_more)
		return rc;
	return finish(diff, target, err);
}

/* *ret_more: it has to be done once more, since more units are wanted. */
static int run_once(const struct leave_out *left_out, bool *wanted, bool *ret_more,
		    struct update_target *target, struct report *report, struct uspl_err *err)
{
	auto_diff struct diff diff = {
		.target = target,
		.report = report,
		.left_out = { left_out->units, left_out->n, left_out->linked, { { 0 } } },
	};
	size_t told = report->explanation.len;
	int rc = open_units(&diff, left_out->units, left_out->n, wanted, err);

	*ret_more = false;
	if (rc)
		return rc;
	rc = run(&diff, target, wanted, ret_more, err);
	if (rc || !*ret_more)
		return rc;
	if (report->explanation.data)
		report->explanation.data[told] = '\0';
	report->explanation.len = told;
	objfile_free(target->new_code);
	target->new_code = NULL;
	return 0;
}

int diff_target(const struct diff_unit *units, size_t n, const struct linked *linked,
		struct update_target *target, struct report *report, struct uspl_err *err)
{
	const struct leave_out left_out = { units, n, linked, { { 0 } } };
	auto_free bool *wanted = calloc(n + 1, sizeof(*wanted));
	bool more = true;
	int rc = wanted ? 0 : uspl_fail_nomem(err);

	while (!rc && more)
		rc = run_once(&left_out, wanted, &more, target, report, err);
	/* The steps speak of symbols, people of what they wrote. */
	if (rc && err) {
		demangle_message(err->msg, sizeof(err->msg));
		demangle_message(err->hint, sizeof(err->hint));
	}
	return rc;
}

int diff_whole(const struct diff_unit *units, size_t n, const struct linked *linked,
	       struct objfile **ret, struct uspl_err *err)
{
	auto_diff struct diff diff = { .left_out = { units, n, linked, { { 0 } } } };
	int rc = read_pre(&diff, units, n, err);

	if (rc)
		return rc;
	return emit_whole(&diff, ret, err);
}
