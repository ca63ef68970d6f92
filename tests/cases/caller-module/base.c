// SPDX-License-Identifier: GPL-3.0-or-later
// base.c - what the plugin needs

int base(void);

int base(void)
{
	return 1;
}
