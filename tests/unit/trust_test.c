// SPDX-License-Identifier: GPL-3.0-or-later
// trust_test.c - texts of keys, signatures and policies, and what a policy answers

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tap.h"
#include "trust/policy.h"
#include "trust/signature.h"

static void test_times(void)
{
	static const char *const wrong[] = { "",
					     "2026-01-31",
					     "2026-01-31 12:00:00Z",
					     "2026-01-31T12:00:00",
					     "2026-01-31T12:00:00Z ",
					     "2026-13-31T12:00:00Z",
					     "1969-12-31T23:59:59Z",
					     "2026-01-31T1x:00:00Z" };
	char text[CLOCK_UTC_LEN];
	int64_t seconds = 0;

	ok(clock_utc_text(1769860800, text) && !strcmp(text, "2026-01-31T12:00:00Z"), "a time");
	ok(clock_utc_read(text, &seconds) && seconds == 1769860800, "and back");
	ok(clock_utc_text(253402300799, text) && !strcmp(text, "9999-12-31T23:59:59Z"), "the last");
	ok(!clock_utc_text(253402300800, text) && !text[0], "none after that");
	ok(!clock_utc_text(-1, text) && !text[0], "none before the epoch");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ok(!clock_utc_read(wrong[i], &seconds), "no time: '%s'", wrong[i]);
}

static void test_conf(void)
{
	static const char *const wrong[] = {
		"key",  "= value",       "key =",      "Key = x", "[a",          "[]",
		"[a]]", "key = \x1b[2J", "key = \xff", "k y = x", "key = \u202e"
	};
	static const char good[] = "# a comment\n\n key\t=  a = b  \n[ part one ]\nother = 1";
	struct uspl_err err = { 0 };
	struct conf conf = { 0 };
	size_t len;
	const char *list = " a,b\t ,cc ", *word;
	char *large;

	ok(!conf_read(good, strlen(good), &conf, &err) && conf.lines.n == 3, "a text");
	ok_str(conf_value(&conf, "key"), "a = b", "a value goes to the line's end");
	ok(!conf_value(&conf, "other"), "what is in a section is not above it");
	ok_str(conf.lines.items[2].section, "part one", "its section");
	ok(conf.lines.items[2].number == 5, "its line");
	conf_release(&conf);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ok(conf_read(wrong[i], strlen(wrong[i]), &conf, &err) == -USPL_E_FILE, "no: %s",
		   err.msg);
	ok(conf_read("a = b\0c = d", 11, &conf, &err) == -USPL_E_FILE, "no NUL");
	large = calloc(1, CONF_MAX_BYTES + 2);
	memset(large, '\n', CONF_MAX_BYTES + 1);
	ok(conf_read(large, CONF_MAX_BYTES + 1, &conf, &err) == -USPL_E_FILE, "not too large");
	ok(!conf_read(large, CONF_MAX_BYTES, &conf, &err), "as large as it may be");
	conf_release(&conf);
	free(large);
	ok(conf_next_word(&list, &word, &len) && len == 1 && *word == 'a', "a word");
	ok(conf_next_word(&list, &word, &len) && len == 1 && *word == 'b', "another");
	ok(conf_next_word(&list, &word, &len) && len == 2 && *word == 'c', "the last");
	ok(!conf_next_word(&list, &word, &len), "and no more");
}

/* Each single changed byte of a signature, and of what was signed, is noticed. */
static void test_signature(void)
{
	static const char data[] = "the bytes of an update";
	auto_buf struct buf public_text = { 0 }, secret_text = { 0 }, text = { 0 }, kept = { 0 };
	char folder[] = "/tmp/uspl-trust.XXXXXX", path[64], beside[80], secret_path[80];
	struct signature_signer signer = { 0 };
	struct key_secret secret = { 0 };
	struct signature_terms terms = { .required = true };
	struct uspl_err err = { 0 };
	struct key key = { 0 };
	size_t passed = 0;

	ok(mkdtemp(folder) && !key_make("maker", 0, &public_text, &secret_text, &err), "a key");
	snprintf(path, sizeof(path), "%s/update", folder);
	snprintf(beside, sizeof(beside), "%s.sig", path);
	snprintf(secret_path, sizeof(secret_path), "%s.key", path);
	ok(!key_read(public_text.data, public_text.len, &key, &err), "its public half");
	umask(077);
	ok(!file_write(secret_path, secret_text.data, secret_text.len, &err) &&
		   !key_secret_read(secret_path, &secret, &err) && !strcmp(secret.id, key.id),
	   "its secret half");
	ok(!signature_make(data, sizeof(data), &secret, "a comment", 1769860800, &text, &err),
	   "a signature");
	terms.only = &key;
	ok(!file_write(beside, text.data, text.len, &err) &&
		   !signature_check_file(path, data, sizeof(data), &terms, &signer, &kept, &err) &&
		   kept.len == text.len,
	   "is good");
	ok(!strcmp(signer.key, key.id) && !strcmp(signer.name, "maker") &&
		   !strcmp(signer.comment, "a comment") && signer.signed_at == 1769860800,
	   "and says by whom");
	for (size_t i = 0; i < text.len; i++) {
		text.data[i] ^= 1;
		passed += file_write(beside, text.data, text.len, &err) != 0 ||
			  signature_check_file(path, data, sizeof(data), &terms, &signer, &kept,
					       &err) != -USPL_E_UNTRUSTED;
		text.data[i] ^= 1;
	}
	ok(!passed, "no changed byte of it passes: %zu", passed);
	ok(!file_write(beside, text.data, text.len, &err) &&
		   signature_check_file(path, data, sizeof(data) - 1, &terms, &signer, &kept,
					&err) == -USPL_E_UNTRUSTED,
	   "%s", err.msg);
	unlink(secret_path);
	unlink(beside);
	rmdir(folder);
}

static const struct caller caller = { .uid = 0, .by = 0, .privileged = true };

/* What a policy says of that question at a time, by the clock of UTC. */
static int ask(const char *text, const char *when, double *ret_stop, struct uspl_err *err)
{
	struct policy_question question = { .command = POLICY_APPLY,
					    .update = "web-1",
					    .signer = "0123456789abcdef",
					    .signer_name = "release",
					    .program = "/usr/sbin/nginx",
					    .owner = 0 };
	auto_policy struct policy policy = { 0 };
	int rc = policy_parse(text, strlen(text), &policy, err);

	if (rc || !clock_utc_read(when, &question.now))
		return rc ? rc : -USPL_E_BUG;
	policy.binds = true;
	return policy_ask(&policy, &caller, &question, ret_stop, err);
}

/* 2026-01-30 is a Friday. */
static void test_policy(void)
{
	static const struct {
		const char *rule, *when;
		bool allows;
	} cases[] = {
		{ "", "2026-01-30T12:00:00Z", true },
		{ "hours = 22:00-05:00", "2026-01-30T22:00:00Z", true },
		{ "hours = 22:00-05:00", "2026-01-30T04:59:59Z", true },
		{ "hours = 22:00-05:00", "2026-01-30T05:00:00Z", false },
		{ "hours = 22:00-05:00", "2026-01-30T21:59:59Z", false },
		{ "hours = 08:30-09:00", "2026-01-30T08:30:00Z", true },
		{ "hours = 08:30-09:00", "2026-01-30T09:00:00Z", false },
		{ "hours = 00:00-24:00", "2026-01-30T23:59:59Z", true },
		{ "days = Mon, Fri", "2026-01-30T12:00:00Z", true },
		{ "days = Sat Sun", "2026-01-30T12:00:00Z", false },
		{ "days = Sat Sun", "2026-01-31T12:00:00Z", true },
		{ "updates = db-* web-?", "2026-01-30T12:00:00Z", true },
		{ "updates = web", "2026-01-30T12:00:00Z", false },
		{ "programs = /usr/sbin/*", "2026-01-30T12:00:00Z", true },
		{ "programs = /usr/*", "2026-01-30T12:00:00Z", false },
		{ "programs = nginx", "2026-01-30T12:00:00Z", false },
		{ "signers = release", "2026-01-30T12:00:00Z", true },
		{ "signers = 0123456789abcdef", "2026-01-30T12:00:00Z", true },
		{ "signers = 0123", "2026-01-30T12:00:00Z", false },
		{ "owners = 1000", "2026-01-30T12:00:00Z", false },
		{ "owners = 1000 0", "2026-01-30T12:00:00Z", true },
		{ "by = 1000", "2026-01-30T12:00:00Z", false },
		{ "commands = undo", "2026-01-30T12:00:00Z", false },
	};
	struct uspl_err err = { 0 };
	double stop = 0;

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];

		snprintf(text, sizeof(text), "[policy]\notherwise = refuse\n[rule it]\n%s\n",
			 cases[i].rule);
		ok((ask(text, cases[i].when, &stop, &err) == 0) == cases[i].allows, "%s at %s: %s",
		   cases[i].rule, cases[i].when, cases[i].allows ? "yes" : "no");
	}
	stop = 0;
	ok(!ask("[policy]\nlongest-stop = 5ms\n[rule it]\nlongest-stop = 200us\n",
		"2026-01-30T12:00:00Z", &stop, &err) &&
		   stop > 0.00019 && stop < 0.00021,
	   "the rule's longest stop is shorter");
	stop = 0.0001;
	ok(!ask("[policy]\nlongest-stop = 5ms\n[rule it]\n", "2026-01-30T12:00:00Z", &stop, &err) &&
		   stop < 0.00011,
	   "the option's is");
	ok(ask("[policy]\n[rule a]\naction = refuse\nupdates = web-1\n[rule b]\n",
	       "2026-01-30T12:00:00Z", &stop, &err) == -USPL_E_POLICY,
	   "the first rule decides: %s", err.msg);
	ok(!ask("[policy]\n[rule a]\naction = refuse\nupdates = web-2\n[rule b]\n",
		"2026-01-30T12:00:00Z", &stop, &err),
	   "of those that are about it");
	ok(ask("[policy]\n", "2026-01-30T12:00:00Z", &stop, &err) == -USPL_E_POLICY,
	   "what no rule is about is refused: %s", err.msg);
}

int main(void)
{
	test_times();
	test_conf();
	test_signature();
	test_policy();
	return tap_done();
}
