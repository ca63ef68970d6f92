/* SPDX-License-Identifier: GPL-3.0-or-later */
/* user.h - a function that others may have, too */
#ifndef USER_H
#define USER_H

int limit(void);
int call_limit(void);

#endif
