// SPDX-License-Identifier: GPL-3.0-or-later
// policy_ask.c - which changes of processes this machine allows: the answer
/*
 * The first rule that is about the change decides. A rule is about it if all that the rule asks is
 * so. What can't be looked up, such as a user while the directory service is down, ends the search
 * with a refusal, since a rule that may be about it can't be passed over.
 */

#include <errno.h>
#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "trust/etc.h"
#include "trust/policy_words.h"

#define SPACE_MAX (256u << 10)
#define GROUPS_MAX 4096

/* True if a word of the list is that word, or a pattern for it. */
static bool list_has(const char *list, const char *text, int flags)
{
	char pattern[POLICY_WORD_MAX];
	const char *word;
	size_t len;

	while (text && conf_next_word(&list, &word, &len)) {
		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, word);
		if (fnmatch(pattern, text, flags) == 0)
			return true;
	}
	return false;
}

static int fail_lookup(const char *what, const char *name, int error, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_POLICY,
			 "the %s '%s', which the policy names, can't be looked "
			 "up: %s",
			 what, name, strerror(error));
}

/* What getpwnam_r(3) and getgrnam_r(3) say where there is no such name. */
static bool means_none(int error)
{
	return !error || error == ENOENT || error == ESRCH;
}

/* *ret stays as it is if there is no such user: the word means nobody. */
static int find_user(const char *name, uid_t *ret, struct uspl_err *err)
{
	auto_free char *space = malloc(SPACE_MAX);
	struct passwd entry, *found = NULL;
	char *end;
	unsigned long number = strtoul(name, &end, 10);
	int error;

	if (!space)
		return uspl_fail_nomem(err);
	if (*name >= '0' && *name <= '9' && !*end && number < CALLER_NOBODY) {
		*ret = (uid_t)number;
		return 0;
	}
	error = getpwnam_r(name, &entry, space, SPACE_MAX, &found);
	if (!found && !means_none(error))
		return fail_lookup("user", name, error, err);
	if (found)
		*ret = found->pw_uid;
	return 0;
}

/* The groups of a user, with the user's own. */
static int is_member(uid_t uid, const char *group, bool *ret, struct uspl_err *err)
{
	auto_free char *space = malloc(SPACE_MAX);
	auto_free gid_t *groups = calloc(GROUPS_MAX, sizeof(*groups));
	struct passwd user, *found_user = NULL;
	struct group entry, *found = NULL;
	int error, n = GROUPS_MAX;
	gid_t gid;

	if (!space || !groups)
		return uspl_fail_nomem(err);
	error = getgrnam_r(group, &entry, space, SPACE_MAX, &found);
	if (!found)
		return means_none(error) ? 0 : fail_lookup("group", group, error, err);
	gid = found->gr_gid;
	error = getpwuid_r(uid, &user, space, SPACE_MAX, &found_user);
	if (!found_user)
		return means_none(error) ? 0 : fail_lookup("group", group, error, err);
	if (getgrouplist(user.pw_name, user.pw_gid, groups, &n) < 0)
		return fail_lookup("group", group, E2BIG, err);
	for (int i = 0; i < n; i++)
		*ret |= groups[i] == gid;
	return 0;
}

/* A list of users and, behind an '@', groups. */
static int list_has_user(const char *list, uid_t uid, bool *ret, struct uspl_err *err)
{
	char name[POLICY_WORD_MAX];
	const char *word;
	size_t len;

	*ret = false;
	while (!*ret && conf_next_word(&list, &word, &len)) {
		uid_t found = CALLER_NOBODY;
		int rc;

		snprintf(name, sizeof(name), "%.*s", (int)len, word);
		if (!strcmp(name, "*")) {
			*ret = true;
			return 0;
		}
		rc = *name == '@' ? is_member(uid, name + 1, ret, err)
				  : find_user(name, &found, err);
		if (rc)
			return rc;
		*ret |= *name != '@' && found == uid && found != CALLER_NOBODY;
	}
	return 0;
}

/* By the machine's own clock and zone. A span that ends before it begins goes on after midnight. */
static bool is_time(const struct policy_rule *rule, int64_t now)
{
	time_t when = (time_t)now;
	struct tm tm;
	int minute;

	if (!rule->days && !rule->from_minute && !rule->to_minute)
		return true;
	if (!localtime_r(&when, &tm) ||
	    (rule->days && !list_has(rule->days, policy_words_day(tm.tm_wday), 0)))
		return false;
	minute = tm.tm_hour * 60 + tm.tm_min;
	if (!rule->from_minute && !rule->to_minute)
		return true;
	return rule->from_minute < rule->to_minute
		       ? minute >= rule->from_minute && minute < rule->to_minute
		       : minute >= rule->from_minute || minute < rule->to_minute;
}

/* A list that isn't there asks nothing; one for which there is no text isn't fulfilled. */
static bool fits(const char *list, const char *text, int flags)
{
	return !list || list_has(list, text, flags);
}

static bool fits_signer(const struct policy_rule *rule, const struct policy_question *question)
{
	if (!rule->signers || question->command == POLICY_UNDO)
		return true;
	return question->signer && *question->signer &&
	       (list_has(rule->signers, question->signer, 0) ||
		list_has(rule->signers, question->signer_name, 0));
}

static int is_about(const struct policy_rule *rule, const struct caller *caller,
		    const struct policy_question *question, bool *ret, struct uspl_err *err)
{
	int rc;

	*ret = fits(rule->commands, policy_words_command(question->command), 0) &&
	       fits(rule->updates, question->update, 0) && fits_signer(rule, question) &&
	       fits(rule->programs, question->program, FNM_PATHNAME) &&
	       (!rule->owners || question->program) && is_time(rule, question->now);
	if (*ret && rule->by) {
		rc = list_has_user(rule->by, caller->by, ret, err);
		if (rc)
			return rc;
	}
	return *ret && rule->owners ? list_has_user(rule->owners, question->owner, ret, err) : 0;
}

/* What was asked, for a person that has to find out which rule is missing. */
static void hint_at(const struct caller *caller, const struct policy_question *question,
		    struct uspl_err *err)
{
	char by[POLICY_WORD_MAX], owner[POLICY_WORD_MAX];
	auto_buf struct buf text = { 0 };

	caller_name(caller->by, by, sizeof(by));
	buf_addf(&text, "asked was: command %s, by %s", policy_words_command(question->command),
		 by);
	if (question->update)
		buf_addf(&text, ", update %s", question->update);
	if (question->update && question->command != POLICY_UNDO)
		buf_addf(&text, ", signer %s",
			 question->signer && *question->signer ? question->signer : "none");
	if (question->program) {
		caller_name(question->owner, owner, sizeof(owner));
		buf_addf(&text, ", program %s, owner %s", question->program, owner);
	}
	uspl_hint(err, "%s", buf_str(&text));
}

static void shorten(double *limit, double other)
{
	if (other > 0 && (*limit <= 0 || other < *limit))
		*limit = other;
}

int policy_ask(const struct policy *policy, const struct caller *caller,
	       const struct policy_question *question, double *ret_longest_stop_s,
	       struct uspl_err *err)
{
	const struct policy_rule *rule;

	if (!policy->binds)
		return 0;
	shorten(ret_longest_stop_s, policy->longest_stop_s);
	vec_for_each (&policy->rules, rule) {
		bool decides = false;
		int rc = is_about(rule, caller, question, &decides, err);

		if (rc)
			return rc;
		if (!decides)
			continue;
		shorten(ret_longest_stop_s, rule->longest_stop_s);
		if (!rule->refuses)
			return 0;
		uspl_fail(err, USPL_E_POLICY,
			  "the rule '%s' of the policy refuses it (%s/" POLICY_FILE ", line %d)",
			  rule->name, etc_folder(), rule->line);
		hint_at(caller, question, err);
		return -USPL_E_POLICY;
	}
	if (policy->allows_others)
		return 0;
	uspl_fail(err, USPL_E_POLICY, "no rule of the policy '%s/" POLICY_FILE "' allows it",
		  etc_folder());
	hint_at(caller, question, err);
	return -USPL_E_POLICY;
}
