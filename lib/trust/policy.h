/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h - which changes of processes this machine allows: /etc/uspl/policy.conf
 *
 * uspl-policy(5) describes the file. It binds commands that may change other users' processes
 * (caller.h): a user without such rights can change the own processes with any debugger, too. Where
 * there is no file, all is allowed. A file that can't be read, or understood, is a refusal.
 */
#ifndef USPL_TRUST_POLICY_H
#define USPL_TRUST_POLICY_H

#include "trust/caller.h"
#include "trust/conf.h"

#define POLICY_FILE "policy.conf"
#define POLICY_WORD_MAX 256 /* of a list, with its NUL */

/* What rules tell apart. */
enum policy_command {
	POLICY_APPLY,
	POLICY_UNDO,
	POLICY_TRACE,  /* uspl-trace start, stop, mark, probe */
	POLICY_ENABLE, /* uspl-enable, uspl-disable */
};

/* A rule; what is NULL or 0 is not asked. The strings are the file's. */
struct policy_rule {
	const char *name;
	int line;
	bool refuses;
	const char *by, *commands, *updates, *signers, *programs, *owners, *days;
	int from_minute, to_minute; /* of the day; both 0: any */
	double longest_stop_s;
};

struct policy {
	struct conf conf;
	bool binds; /* there is one, and it is for this caller */
	bool signatures_required;
	bool allows_others; /* what no rule is about */
	double longest_stop_s;
	const char *journal; /* where events go; NULL: not said */
	VEC(struct policy_rule) rules;
};

/* What is to be done. */
struct policy_question {
	enum policy_command command;
	const char *update;               /* its id; NULL: none */
	const char *signer, *signer_name; /* key id and name, "" or NULL: unsigned */
	const char *program;              /* path of the process's program; NULL: no process */
	uid_t owner;                      /* of the process */
	int64_t now;                      /* seconds since the epoch */
};

/*
 * Reads the machine's policy. USPL_E_POLICY, for a caller whom it binds: it can't be read or
 * understood. For others it is read for what isn't a matter of rights, if that can be done.
 */
int policy_read(const struct caller *caller, struct policy *ret,
		struct uspl_err *err) uspl_must_check;
/* The same from a text; `binds` stays false. USPL_E_FILE: it isn't understood. */
int policy_parse(const char *text, size_t len, struct policy *ret,
		 struct uspl_err *err) uspl_must_check;
void policy_release(struct policy *policy);
/*
 * Whether the policy allows it. USPL_E_POLICY, with the rule's name, if it doesn't, or if that
 * can't be told since users can't be looked up. *ret_longest_stop_s, in seconds, becomes less if
 * the rule or the policy asks for that; 0 stands for no limit.
 */
int policy_ask(const struct policy *policy, const struct caller *caller,
	       const struct policy_question *question, double *ret_longest_stop_s,
	       struct uspl_err *err) uspl_must_check;

DEFINE_AUTO_RELEASE(policy, struct policy, policy_release)
#define auto_policy __attribute__((cleanup(cleanup_policy_)))

#endif
