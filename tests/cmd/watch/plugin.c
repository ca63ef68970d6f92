// SPDX-License-Identifier: GPL-3.0-or-later
// plugin.c - the library that an update is for

void plugin(char *reply, unsigned long size);

int snprintf(char *reply, unsigned long size, const char *format, ...);

void plugin(char *reply, unsigned long size)
{
	snprintf(reply, size, "%s library", "old");
}
