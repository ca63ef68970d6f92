// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_lock.c - how long locks are waited for and held, and by which threads

#include <string.h>

#include "trace/output/tracer.h"
#include "trace/tally/glob.h"
#include "trace/tally/lock_report.h"
#include "trace/tracers/tracers.h"
#include "uspl/listen_abi.h"

#define SHOWN 20

enum kind { KIND_MUTEX = 1, KIND_RWLOCK, KIND_SPIN, KIND_OWN };

static const char *const kinds[] = { "?", "mutex", "rwlock", "spin", "own" };

/* POSIX, and what glibc adds. */
static const struct {
	const char *name;
	enum uspl_lock_role role;
	enum kind kind;
} functions[] = {
	{ "pthread_mutex_lock", USPL_LOCK_TAKE, KIND_MUTEX },
	{ "pthread_mutex_timedlock", USPL_LOCK_TAKE, KIND_MUTEX },
	{ "pthread_mutex_clocklock", USPL_LOCK_TAKE, KIND_MUTEX },
	{ "pthread_mutex_trylock", USPL_LOCK_TRY, KIND_MUTEX },
	{ "pthread_mutex_unlock", USPL_LOCK_LEAVE, KIND_MUTEX },
	{ "pthread_cond_wait", USPL_LOCK_WAIT, KIND_MUTEX },
	{ "pthread_cond_timedwait", USPL_LOCK_WAIT, KIND_MUTEX },
	{ "pthread_cond_clockwait", USPL_LOCK_WAIT, KIND_MUTEX },
	{ "pthread_rwlock_rdlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_wrlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_timedrdlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_timedwrlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_clockrdlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_clockwrlock", USPL_LOCK_TAKE, KIND_RWLOCK },
	{ "pthread_rwlock_tryrdlock", USPL_LOCK_TRY, KIND_RWLOCK },
	{ "pthread_rwlock_trywrlock", USPL_LOCK_TRY, KIND_RWLOCK },
	{ "pthread_rwlock_unlock", USPL_LOCK_LEAVE, KIND_RWLOCK },
	{ "pthread_spin_lock", USPL_LOCK_TAKE, KIND_SPIN },
	{ "pthread_spin_trylock", USPL_LOCK_TRY, KIND_SPIN },
	{ "pthread_spin_unlock", USPL_LOCK_LEAVE, KIND_SPIN },
};

struct state {
	/* The options: locks of the program's own. */
	const char *own_take, *own_leave;
	bool seen_take, seen_leave;
};

static bool choose_own(struct state *state, const char *const *names, size_t n,
		       struct uspl_listen_site *site)
{
	bool take = state->own_take && glob_matches_any(state->own_take, names, n);
	bool leave = state->own_leave && glob_matches_any(state->own_leave, names, n);

	state->seen_take |= take;
	state->seen_leave |= leave;
	site->role = take ? USPL_LOCK_TAKE : USPL_LOCK_LEAVE;
	site->param = KIND_OWN;
	return take || leave;
}

static bool choose(void *state, const char *const *names, size_t n, struct uspl_listen_site *site)
{
	bool found = choose_own(state, names, n, site);

	for (size_t i = 0; !found && i < n; i++)
		for (size_t k = 0; !found && k < ARRAY_SIZE(functions); k++) {
			found = glob_is_function(names[i], functions[k].name);
			site->role = (uint16_t)functions[k].role;
			site->param = functions[k].kind;
		}
	site->bare = site->role == USPL_LOCK_LEAVE;
	return found;
}

static int check(void *ctx, struct uspl_err *err)
{
	const struct state *state = ctx;

	if (!state->own_take != !state->own_leave)
		return uspl_fail(err, USPL_E_USAGE, "'--lock' and '--unlock' go together");
	if ((state->own_take && !state->seen_take) || (state->own_leave && !state->seen_leave))
		return uspl_fail(err, USPL_E_NO_MODULE, "no function '%s' can be traced",
				 state->seen_take ? state->own_leave : state->own_take);
	return 0;
}

static const char *kind_of(const struct uspl_lock *lock)
{
	return lock->kind < ARRAY_SIZE(kinds) ? kinds[lock->kind] : kinds[0];
}

static int json_add_lock(struct tally *tally, const struct uspl_lock *lock, struct json *json,
			 struct uspl_err *err)
{
	auto_buf struct buf name = { 0 }, waiter = { 0 };
	int rc;

	places_add_object(&tally->places, lock->addr, &name);
	json_open(json, NULL, '{');
	json_string(json, "name", buf_str(&name));
	json_address(json, "address", lock->addr);
	json_string(json, "kind", kind_of(lock));
	json_number(json, "taken", (int64_t)lock->taken);
	json_ns(json, "held_ns", tally_ns(tally, lock->held));
	json_ns(json, "longest_ns", tally_ns(tally, lock->hold_max));
	rc = lock_json_longest(tally, lock, json, err);
	json_ns(json, "waited_ns", tally_ns(tally, lock->waited));
	json_ns(json, "longest_wait_ns", tally_ns(tally, lock->wait_max));
	if (lock->wait_max) {
		places_add_caller(&tally->places, lock->wait_site, &waiter);
		json_number(json, "longest_wait_tid", (int64_t)lock->wait_tid);
		json_string(json, "longest_wait_in", buf_str(&waiter));
	}
	json_close(json, '}');
	return rc;
}

static int add_text(struct tally *tally, const struct lock_table *table, struct buf *out,
		    struct uspl_err *err)
{
	int rc;

	buf_addf(out, "%10s %13s %13s %13s %13s  %-6s  %s\n", "TAKEN", "HELD us", "LONGEST us",
		 "WAITED us", "LONGEST us", "KIND", "LOCK");
	for (size_t i = 0; i < table->n && i < SHOWN; i++) {
		const struct uspl_lock *lock = &table->items[i];

		buf_addf(out, "%10llu %13.3f %13.3f %13.3f %13.3f  %-6s  ",
			 (unsigned long long)lock->taken, tally_us(tally, lock->held),
			 tally_us(tally, lock->hold_max), tally_us(tally, lock->waited),
			 tally_us(tally, lock->wait_max), kind_of(lock));
		places_add_object(&tally->places, lock->addr, out);
		buf_addstr(out, "\n");
		rc = lock_add_longest(tally, lock, "held", out, err);
		if (rc)
			return rc;
		if (!lock->wait_max)
			continue;
		buf_addf(out, "    waited for %.3f us by thread %d, in ",
			 tally_us(tally, lock->wait_max), (int)lock->wait_tid);
		places_add_caller(&tally->places, lock->wait_site, out);
		buf_addstr(out, "\n");
	}
	if (table->n > SHOWN)
		buf_addf(out, "# and %zu locks that were held for less\n", table->n - SHOWN);
	return 0;
}

static int report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	static const struct lock_form form = { .text = add_text, .json = json_add_lock };

	return lock_report(tally, &form, json, out, err);
}

static const struct tracer_option options[] = {
	{ "lock", "GLOB", CLI_STRING, offsetof(struct state, own_take),
	  "functions of your own that take a lock: (lock)" },
	{ "unlock", "GLOB", CLI_STRING, offsetof(struct state, own_leave),
	  "and those that leave it: (lock)" },
};

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_LOCK,
	.own_len = USPL_LOCKS * sizeof(struct uspl_lock),
	.thread_len = sizeof(struct uspl_lock_thread),
	.choose = choose,
	.check = check,
	.report = report,
};

const struct tracer tracer_lock = {
	.name = "lock",
	.help = "how long locks are held and waited for, and by whom",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct state),
	.tally = &tally,
};
