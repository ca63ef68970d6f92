// SPDX-License-Identifier: GPL-3.0-or-later
// policy.c - which changes of processes this machine allows: the file

#include "trust/policy.h"

#include <math.h>
#include <string.h>

#include "trust/etc.h"
#include "trust/policy_words.h"

static int fail_line(const struct conf_line *line, const char *wants, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "line %d: '%s' is %s, not '%s'", line->number, line->key,
			 wants, line->value);
}

/* One of two words. */
static int take_choice(const struct conf_line *line, const char *yes, const char *no, bool *ret,
		       struct uspl_err *err)
{
	*ret = !strcmp(line->value, yes);
	return *ret || !strcmp(line->value, no)
		       ? 0
		       : uspl_fail(err, USPL_E_FILE, "line %d: '%s' is %s or %s, not '%s'",
				   line->number, line->key, yes, no, line->value);
}

/* "5ms", "200us", "1s". */
static int take_time(const struct conf_line *line, double *ret, struct uspl_err *err)
{
	char *end;
	double value = strtod(line->value, &end);

	if (end != line->value && !strcmp(end, "us"))
		value /= 1e6;
	else if (end != line->value && !strcmp(end, "ms"))
		value /= 1e3;
	else if (end == line->value || strcmp(end, "s") != 0)
		value = 0;
	if (!isfinite(value) || value <= 0 || value > 3600)
		return fail_line(line, "a time above 0, such as 500us, 5ms or 1s", err);
	*ret = value;
	return 0;
}

/* "HH:MM", as minutes; the place behind it, NULL if it isn't one. */
static const char *take_minute(const char *text, int *ret)
{
	int hour, minute;

	if (strspn(text, "0123456789") != 2 || text[2] != ':' ||
	    strspn(text + 3, "0123456789") != 2)
		return NULL;
	hour = (text[0] - '0') * 10 + text[1] - '0';
	minute = (text[3] - '0') * 10 + text[4] - '0';
	*ret = hour * 60 + minute;
	return minute < 60 && *ret <= 24 * 60 ? text + 5 : NULL;
}

/* A list whose words a function knows; NULL: any words. */
static int take_list(const struct conf_line *line, bool (*knows)(const char *word, size_t len),
		     const char **ret, struct uspl_err *err)
{
	const char *list = line->value, *word;
	size_t len;

	while (conf_next_word(&list, &word, &len)) {
		if (len >= POLICY_WORD_MAX)
			return uspl_fail(err, USPL_E_FILE,
					 "line %d has a word of more than %d bytes", line->number,
					 POLICY_WORD_MAX - 1);
		if (knows && !knows(word, len))
			return uspl_fail(err, USPL_E_FILE, "line %d: '%s' knows no '%.*s'",
					 line->number, line->key, (int)len, word);
	}
	*ret = line->value;
	return 0;
}

/* The keys of a rule that are lists. */
static const char **list_of(struct policy_rule *rule, const char *key,
			    bool (**ret_knows)(const char *word, size_t len))
{
	const struct {
		const char *key;
		const char **place;
		bool (*knows)(const char *word, size_t len);
	} lists[] = {
		{ "by", &rule->by, NULL },
		{ "commands", &rule->commands, policy_words_know_command },
		{ "updates", &rule->updates, NULL },
		{ "signers", &rule->signers, NULL },
		{ "programs", &rule->programs, NULL },
		{ "owners", &rule->owners, NULL },
		{ "days", &rule->days, policy_words_know_day },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (strcmp(lists[i].key, key) != 0)
			continue;
		*ret_knows = lists[i].knows;
		return lists[i].place;
	}
	return NULL;
}

static int fail_key(const struct conf_line *line, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "line %d: [%s] has no key '%s'", line->number,
			 line->section, line->key);
}

static int read_rule_line(const struct conf_line *line, struct policy_rule *rule,
			  struct uspl_err *err)
{
	bool (*knows)(const char *word, size_t len) = NULL;
	const char **list = list_of(rule, line->key, &knows), *at;

	if (list && *list)
		return uspl_fail(err, USPL_E_FILE, "line %d: [%s] has '%s' twice", line->number,
				 line->section, line->key);
	if (list)
		return take_list(line, knows, list, err);
	if (!strcmp(line->key, "action"))
		return take_choice(line, "refuse", "allow", &rule->refuses, err);
	if (!strcmp(line->key, "longest-stop"))
		return take_time(line, &rule->longest_stop_s, err);
	if (strcmp(line->key, "hours") != 0)
		return fail_key(line, err);
	at = take_minute(line->value, &rule->from_minute);
	at = at && *at == '-' ? take_minute(at + 1, &rule->to_minute) : NULL;
	if (!at || *at || rule->from_minute == rule->to_minute)
		return fail_line(line, "of the form 22:00-05:30", err);
	return 0;
}

static int read_policy_line(const struct conf_line *line, struct policy *policy,
			    struct uspl_err *err)
{
	if (!strcmp(line->key, "signatures"))
		return take_choice(line, "required", "optional", &policy->signatures_required, err);
	if (!strcmp(line->key, "otherwise"))
		return take_choice(line, "allow", "refuse", &policy->allows_others, err);
	if (!strcmp(line->key, "longest-stop"))
		return take_time(line, &policy->longest_stop_s, err);
	if (strcmp(line->key, "journal") != 0)
		return fail_key(line, err);
	if (strcmp(line->value, "none") != 0 && line->value[0] != '/')
		return fail_line(line, "'none' or the path of a socket", err);
	policy->journal = line->value;
	return 0;
}

/* A section begins: it must be a new one. */
static int begin_section(const struct conf_line *line, struct policy *policy, struct uspl_err *err)
{
	static const char rule_word[] = "rule ";
	const struct policy_rule *other;
	struct policy_rule *rule;
	const char *name;

	if (!strcmp(line->section, "policy"))
		return 0;
	if (strncmp(line->section, rule_word, strlen(rule_word)) != 0)
		return uspl_fail(err, USPL_E_FILE, "line %d: there is no section [%s]",
				 line->number, line->section);
	name = line->section + strlen(rule_word);
	vec_for_each (&policy->rules, other)
		if (!strcmp(other->name, name))
			return uspl_fail(err, USPL_E_FILE, "line %d: there are two rules '%s'",
					 line->number, name);
	rule = vec_push(&policy->rules);
	if (!rule)
		return uspl_fail_nomem(err);
	rule->name = name;
	rule->line = line->number;
	return 0;
}

int policy_parse(const char *text, size_t len, struct policy *ret, struct uspl_err *err)
{
	auto_policy struct policy policy = { 0 };
	const struct conf_line *line;
	int rc = conf_read(text, len, &policy.conf, err);

	if (rc)
		return rc;
	vec_for_each (&policy.conf.lines, line) {
		if (!line->key)
			rc = begin_section(line, &policy, err);
		else if (!*line->section)
			rc = uspl_fail(err, USPL_E_FILE, "line %d stands before any section",
				       line->number);
		else if (!strcmp(line->section, "policy"))
			rc = read_policy_line(line, &policy, err);
		else
			rc = read_rule_line(line, &policy.rules.items[policy.rules.n - 1], err);
		if (rc)
			return rc;
	}
	*ret = policy;
	policy = (struct policy){ 0 };
	return 0;
}

int policy_read(const struct caller *caller, struct policy *ret, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	struct uspl_err why = { 0 }, wrong = { 0 };
	bool there = false;
	int rc = etc_read(POLICY_FILE, &text, &there, &why);

	if (!rc && there && policy_parse(buf_str(&text), text.len, ret, &wrong) != 0)
		rc = uspl_fail(&why, USPL_E_POLICY, "the policy '%s/" POLICY_FILE "' is wrong: %s",
			       etc_folder(), wrong.msg);
	ret->binds = there && caller->privileged;
	if (!rc || !caller->privileged)
		return 0;
	if (err)
		*err = why;
	uspl_context(err, "nothing may be changed on this machine");
	return rc;
}

void policy_release(struct policy *policy)
{
	conf_release(&policy->conf);
	vec_release(&policy->rules);
}
