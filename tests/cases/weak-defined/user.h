/* SPDX-License-Identifier: GPL-3.0-or-later */
/* user.h - calls a function if it is there */
#ifndef USER_H
#define USER_H

int hook(void) __attribute__((weak));
int call_hook(void);

#endif
