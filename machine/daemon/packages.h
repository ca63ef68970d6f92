/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packages.h - what dpkg's upgrades mean for what is enabled */
#ifndef USPL_MACHINE_DAEMON_PACKAGES_H
#define USPL_MACHINE_DAEMON_PACKAGES_H

#include "base/strvec.h"
#include "machine/daemon/goals.h"

/* A descriptor that is readable when dpkg has written its database anew; -1: there is no dpkg. */
int packages_open_news(void);
/* Takes what the descriptor has to say. True if the database is another one. */
bool packages_read_news(int fd);
/*
 * Disables the updates that goals_read has found to be superseded, with a note in the machine's
 * log, and says so on stdout unless it is to be quiet. What fails is told of on stderr, and is
 * tried again when the list is read anew.
 */
void packages_let_go(const strvec *superseded, bool quiet);

#endif
