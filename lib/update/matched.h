/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * matched.h - the manifest's key `matched`: where the code of a target lies in builds that
 * were matched ahead
 */
#ifndef USPL_UPDATE_MATCHED_H
#define USPL_UPDATE_MATCHED_H

#include <json-c/json.h>

#include "base/json.h"
#include "update/update.h"

/* Fills in target->matched from a target's object, if that has the key. */
int matched_read(json_object *object, struct update_target *target,
		 struct uspl_err *err) uspl_must_check;
/* Writes the key and its value. */
int matched_write(struct json *json, const struct update_target *target,
		  struct uspl_err *err) uspl_must_check;
/* True for 1 to 64 bytes in lower-case hex. */
bool build_id_valid(const char *text);

#endif
