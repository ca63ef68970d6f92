/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show.h - what was found, as text for people or as JSON for programs
 *
 * All of it comes from strangers' processes and files. Text is made fit for a terminal; JSON is
 * valid, whatever strings it holds.
 */
#ifndef USPL_VIEW_SHOW_H
#define USPL_VIEW_SHOW_H

#include "base/json.h"
#include "update/update.h"
#include "view/scan.h"

/* A row for each update and process. */
void show_list(const struct scan *scan, struct buf *out);
/* Everything about one update: processes, functions with their addresses, patch. */
void show_update(const struct scan_update *update, struct buf *out);
/* What an update file holds. */
void show_file(const struct update *update, struct buf *out);

/* An array of updates; with_patch adds the source diff to each. */
void json_scan(const struct scan *scan, bool with_patch, struct json *json);
/* An object that says what an update file holds. */
void json_file(const struct update *update, struct json *json);

#endif
