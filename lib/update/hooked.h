/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hooked.h - the manifest's keys `hooks` and `answers`: what of the new code runs by itself */
#ifndef USPL_UPDATE_HOOKED_H
#define USPL_UPDATE_HOOKED_H

#include <json-c/json.h>

#include "base/json.h"
#include "update/update.h"

/* Fills in target->hooks and answers from a target's object, if that has the keys. */
int hooked_read(json_object *object, struct update_target *target,
		struct uspl_err *err) uspl_must_check;
/* Writes those of the keys that have something to say. */
int hooked_write(struct json *json, const struct update_target *target,
		 struct uspl_err *err) uspl_must_check;
/* Each hook must be a function that new.o defines; USPL_E_FILE. */
int hooked_check(const struct update_target *target, struct uspl_err *err) uspl_must_check;

#endif
