/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.h - an update and one process: from finding the module to the switch */
#ifndef USPL_APPLY_PROCESS_H
#define USPL_APPLY_PROCESS_H

#include "command/live_options.h"
#include "command/report.h"
#include "update/update.h"

/*
 * Applies the update to the process, all of it or nothing. Fills in what the report says;
 * ret_regions are the update's regions in the process, the caller's to release, filled in on
 * success only.
 */
int process_apply(const struct update *update, pid_t pid, const struct live_options *opts,
		  region_vec *ret_regions, struct report *ret_report,
		  struct uspl_err *err) uspl_must_check;

#endif
