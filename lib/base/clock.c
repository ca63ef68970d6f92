// SPDX-License-Identifier: GPL-3.0-or-later
// clock.c - the time that deadlines are on, and the time of day in UTC

#include "base/clock.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

int64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void clock_pause_ns(int64_t ns)
{
	const struct timespec pause = { 0, ns };

	nanosleep(&pause, NULL);
}

bool clock_utc_text(int64_t seconds, char ret[CLOCK_UTC_LEN])
{
	time_t when = (time_t)seconds;
	struct tm tm;

	ret[0] = '\0';
	return seconds >= 0 && gmtime_r(&when, &tm) && tm.tm_year <= 9999 - 1900 &&
	       strftime(ret, CLOCK_UTC_LEN, "%Y-%m-%dT%H:%M:%SZ", &tm) == CLOCK_UTC_LEN - 1;
}

bool clock_utc_read(const char *text, int64_t *ret_seconds)
{
	static const char form[CLOCK_UTC_LEN] = "dddd-dd-ddTdd:dd:ddZ";
	char again[CLOCK_UTC_LEN];
	struct tm tm = { 0 };
	const char *end;
	int64_t seconds;

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end)
		return false;
	seconds = timegm(&tm);
	if (!clock_utc_text(seconds, again))
		return false;
	*ret_seconds = seconds;
	return true;
}
