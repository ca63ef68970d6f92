// SPDX-License-Identifier: GPL-3.0-or-later
// match.c - run-pre matching: the fixpoint over all funcs
//
// The pre code is an object file: its fields with relocations are empty. The running code went
// through a linker: the same fields hold values. Comparing the two therefore does two things at
// once. Where there is no relocation, the code must be equal, or the program isn't what the update
// was made from. Where there is one, the running bytes tell what the symbol's value is in this
// process, and thus where the things lie that have no entry in any symbol table.
//
// Matching a function is a trial. Everything that it learns is noted; when it turns out that the
// function isn't there, the notes are taken back. A note that contradicts an older one ends the
// trial: two references to one symbol can't mean two places.
//
// Where to try: at the one place that a matched function refers to as this one, or else wherever
// the symbol table has a function of its name (there may be several static ones). A place is taken
// if it is the only one that matches. A function whose places can't be told apart yet waits:
// matches of others may refer to it or rule places out. The loop ends when a round finds nothing
// new.
//
// A function that an earlier update redirected is looked for where its calls end (image_follow):
// the pre code of the next update is the earlier one's new code. Its value stays the entry by which
// the program knows it.
//
// A stripped program has no such table: there a function is looked for wherever one begins. Small
// functions then are often found in several places; references to them tell which is meant.
//
// A file tells more than a process: variables hold what they began with (by_content.c).
//
// Not handled: functions that no symbol names and nothing refers to, in a program with symbols.

#include "match/match.h"

#include <string.h>
#include <time.h>

#include "match/match_internal.h"
#include "objfile/refname.h"

typedef VEC(taddr) taddr_vec;

static bool add_unique(taddr_vec *vec, taddr addr)
{
	taddr *item;

	for (size_t i = 0; i < vec->n; i++)
		if (vec->items[i] == addr)
			return true;
	item = vec_push(vec);
	if (item)
		*item = addr;
	return item != NULL;
}

/* Where the func may lie. False: out of memory. */
static bool candidates(const struct match *match, const struct func *func, taddr_vec *ret)
{
	const struct image *image = match->image;
	const struct ref_hint *ref_hint;

	/* A reference to its first byte leaves no choice. */
	vec_for_each (&func->ref_hints, ref_hint)
		if (ref_hint->off == 0)
			return add_unique(ret, ref_hint->addr);
	for (size_t i = 0; i < func->named.n; i++)
		if (!add_unique(ret, func->named.items[i]))
			return false;
	if (ret->n)
		return true;
	/*
	 * References into its middle are right only as long as nothing before them has another
	 * length; the trial will tell.
	 */
	vec_for_each (&func->ref_hints, ref_hint)
		if (!add_unique(ret, ref_hint->addr - ref_hint->off))
			return false;
	if (ret->n || func->broken)
		return true;
	/* Every place where a function begins, as its first bytes are there. */
	for (size_t i = 0; i < image->starts.n; i++) {
		taddr addr = image_follow(image, image->starts.items[i]), *item;
		const uint8_t *run = image_bytes(image, addr, func->prefix);

		if (!run || memcmp(run, func->pub.sec->data, func->prefix))
			continue;
		item = vec_push(ret);
		if (!item)
			return false;
		*item = addr;
	}
	return true;
}

/*
 * Looks whether the func is at addr. Keeps what that taught if `keep`. Returns 1 if it is, 0 if
 * not, or a negative code.
 */
static int try_at(struct match *match, struct func *func, taddr addr, bool keep,
		  struct uspl_err *err)
{
	struct trial trial = { 0 };
	bool equal = trial_run(&trial, match, func, addr);
	int rc = trial.oom ? uspl_fail_nomem(err) : equal;

	if (rc == 1 && keep)
		trial_commit(&trial);
	else
		trial_undo(&trial);
	if (rc == 0 && (!func->n_tried || trial.failure.off >= func->failure.off))
		func->failure = trial.failure;
	func->n_tried++;
	trial_release(&trial);
	return rc;
}

static int64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How long it takes depends on update and program: a match made to take hours is ended. */
static int check_time(const struct match *match, struct uspl_err *err)
{
	if (cpu_now_ns() < match->cpu_end)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "comparing the code of '%s' with '%s' takes more than %d s",
			 match->image->name, match->pre->name, MATCH_CPU_S);
}

/*
 * Tries all candidates; the func is matched if exactly one of them is equal. *ret_progress is set
 * if it is.
 */
static int match_func(struct match *match, struct func *func, bool *ret_progress,
		      struct uspl_err *err)
{
	auto_vec taddr_vec places = { 0 };
	int rc = 0;

	func->n_tried = func->n_matched = 0;
	func->ref_hints_tried = func->ref_hints.n;
	if (!candidates(match, func, &places))
		rc = uspl_fail_nomem(err);
	for (size_t i = 0; i < places.n && rc >= 0; i++) {
		rc = check_time(match, err);
		if (rc)
			break;
		rc = try_at(match, func, places.items[i], places.n == 1, err);
		if (rc == 1) {
			if (func->n_matched < ARRAY_SIZE(func->equal))
				func->equal[func->n_matched] = places.items[i];
			func->n_matched++;
		}
	}
	if (rc >= 0 && func->n_matched == 1 && places.n > 1)
		rc = try_at(match, func, func->equal[0], true, err);
	if (rc >= 0 && func->n_matched == 1)
		*ret_progress = true;
	else if (func->n_matched > 1)
		func->state = FUNC_AMBIGUOUS;
	else if (places.n)
		func->state = FUNC_MISMATCHED;
	return rc < 0 ? rc : 0;
}

/* Finds a first difference to show for each func that is still open. */
static int look_where_expected(struct match *match, struct uspl_err *err)
{
	for (size_t i = 0; i < match->pre->secs.n; i++) {
		struct func *func = match->funcs[i];
		const struct func *before = NULL;
		const taddr *start;
		taddr place = 0;
		int rc;

		if (!func || func->state != FUNC_OPEN)
			continue;
		rc = check_time(match, err);
		if (rc)
			return rc;
		/* It should lie behind the one that stands before it in the pre code. */
		for (size_t sec = i; sec-- && !before;)
			if (match->funcs[sec] && match->funcs[sec]->state == FUNC_MATCHED)
				before = match->funcs[sec];
		vec_for_each (&match->image->starts, start)
			if (before && !place && *start >= before->pub.addr + before->pub.len)
				place = *start;
		rc = place ? try_at(match, func, place, false, err) : 0;
		if (rc < 0)
			return rc;
		if (place && !rc)
			func->state = FUNC_MISMATCHED;
	}
	return 0;
}

static int match_all(struct match *match, struct uspl_err *err)
{
	bool progress = true;
	int rc = 0;

	while (progress) {
		progress = false;
		for (size_t i = 0; i < match->pre->secs.n; i++) {
			struct func *func = match->funcs[i];

			if (!func || func->state == FUNC_MATCHED)
				continue;
			/* It won't match later, unless a reference now says where it lies. */
			if (func->state == FUNC_MISMATCHED &&
			    func->ref_hints_tried == func->ref_hints.n)
				continue;
			rc = match_func(match, func, &progress, err);
			if (rc)
				return rc;
		}
		if (!progress && match->image->pristine) {
			rc = by_content_find(match, &progress, err);
			if (rc)
				return rc;
		}
	}
	return look_where_expected(match, err);
}

int match_run(const struct image *image, const struct objfile *pre, struct match **ret,
	      struct uspl_err *err)
{
	return match_run_hinted(image, pre, NULL, 0, ret, err);
}

int match_run_hinted(const struct image *image, const struct objfile *pre,
		     const struct match_hint *hints, size_t n, struct match **ret,
		     struct uspl_err *err)
{
	auto_match struct match *match = calloc(1, sizeof(*match));
	int rc;

	if (!match)
		return uspl_fail_nomem(err);
	match->image = image;
	match->pre = pre;
	match->arch = arch_native();
	/* A file of the user's own may be of any size. */
	match->cpu_end =
		image->pristine ? INT64_MAX : cpu_now_ns() + (int64_t)MATCH_CPU_S * 1000000000;
	rc = match_index(match, err);
	if (rc)
		return rc;
	/* A hint is what a reference from elsewhere would say. */
	for (size_t i = 0; i < n; i++) {
		struct func *func = match_func_named(match, hints[i].refname);
		struct ref_hint *ref_hint;

		if (!func)
			continue;
		ref_hint = vec_push(&func->ref_hints);
		if (!ref_hint)
			return uspl_fail_nomem(err);
		ref_hint->addr = image_follow(image, hints[i].addr);
	}
	rc = match_all(match, err);
	if (rc)
		return rc;
	*ret = take_ptr(match);
	return 0;
}

void match_free(struct match *match)
{
	if (!match)
		return;
	for (size_t i = 0; match->funcs && i < match->pre->secs.n; i++) {
		struct func *func = match->funcs[i];

		if (!func)
			continue;
		free(func->sites);
		free(func->map);
		vec_release(&func->named);
		vec_release(&func->ref_hints);
		free(func);
	}
	free(match->funcs);
	free(match->items);
	free(match->first_item);
	free(match->addrs);
	free(match->calls);
	free(match->targets);
	free(match->by_name);
	free(match->run_by_name);
	free(match);
}
