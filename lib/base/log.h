/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.h - what -v and -vv show
 *
 * Debug lines go to stderr as "DOMAIN: text". They are for people who look for a mistake; results
 * and refusals never travel this way.
 */
#ifndef USPL_BASE_LOG_H
#define USPL_BASE_LOG_H

#include "base/types.h"

/*
 * How much to show: 0 nothing, 1 the steps (-v), 2 the details (-vv). Set once, by the option
 * parser.
 */
void log_set_level(int level);
/* True if lines of this level are shown; lets a caller skip the work of preparing one. */
bool log_enabled(int level);
/* A step, shown with -v. domain is a part's name: "build", "match", "stop". */
void log_info(const char *domain, const char *fmt, ...) uspl_printf(2, 3);
/* A detail, shown with -vv. */
void log_debug(const char *domain, const char *fmt, ...) uspl_printf(2, 3);

#endif
