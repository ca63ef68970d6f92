/* SPDX-License-Identifier: GPL-3.0-or-later */
/* busy.h - how busy the machine is, for messages */
#ifndef USPL_THREAD_BUSY_H
#define USPL_THREAD_BUSY_H

#define BUSY_TEXT_LEN 80

/* "the machine has a load of 34.2 on 2 processors": of the last minute, as uptime(1) says. */
void busy_describe(char ret[BUSY_TEXT_LEN]);

#endif
