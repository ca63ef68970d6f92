// SPDX-License-Identifier: GPL-3.0-or-later
// extra.c - what the plugin opens

int more(void);

int more(void)
{
	return 1;
}
