// SPDX-License-Identifier: GPL-3.0-or-later
// trust_fuzz.c - any bytes as a policy, a key, and lines: what is accepted is asked, too

#include "trust/key.h"
#include "trust/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct caller caller = { .privileged = true };
	const struct policy_question question = { .update = "id", .program = "/bin/x", .now = 1 };
	auto_policy struct policy policy = { 0 };
	struct uspl_err err = { 0 };
	struct key key = { 0 };
	double stop = 0;

	if (key_read((const char *)data, size, &key, &err) == 0 &&
	    (strlen(key.id) != KEY_ID_HEX - 1 || !key.name[0]))
		abort();
	if (policy_parse((const char *)data, size, &policy, &err))
		return 0;
	policy.binds = true;
	if (policy_ask(&policy, &caller, &question, &stop, &err) > 0 || stop < 0)
		abort();
	return 0;
}
