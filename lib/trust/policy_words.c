// SPDX-License-Identifier: GPL-3.0-or-later
// policy_words.c - the words that a policy's lists may have

#include "trust/policy_words.h"

#include <string.h>

static const char *const commands[] = {
	[POLICY_APPLY] = "apply",
	[POLICY_UNDO] = "undo",
	[POLICY_TRACE] = "trace",
	[POLICY_ENABLE] = "enable",
};

static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

static bool knows(const char *const *words, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return true;
	return false;
}

bool policy_words_know_command(const char *word, size_t len)
{
	return knows(commands, ARRAY_SIZE(commands), word, len);
}

bool policy_words_know_day(const char *word, size_t len)
{
	return knows(days, ARRAY_SIZE(days), word, len);
}

const char *policy_words_command(enum policy_command command)
{
	return commands[command];
}

const char *policy_words_day(int day)
{
	return days[day % 7];
}
