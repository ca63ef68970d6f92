// SPDX-License-Identifier: GPL-3.0-or-later
// shared.h - what both programs have
#ifndef SHARED_H
#define SHARED_H

/* Counts its calls, and says so. */
const char *version(void);
/* In each program another one. */
const char *name(void);

#endif
