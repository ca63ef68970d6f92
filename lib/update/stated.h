/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stated.h - the manifest's keys `states` and `data`: what becomes of the program's data */
#ifndef USPL_UPDATE_STATED_H
#define USPL_UPDATE_STATED_H

#include <json-c/json.h>

#include "base/buf.h"
#include "base/json.h"
#include "update/update.h"

#define STATED_NUMBER_MAX 999999999u

/* Fills in target->states and data from a target's object, if that has the keys. */
int stated_read(json_object *object, struct update_target *target,
		struct uspl_err *err) uspl_must_check;
/* Writes the key, if there is something to say. */
int stated_write(struct json *json, const struct update_target *target,
		 struct uspl_err *err) uspl_must_check;
/* What asks must be a variable of new.o; USPL_E_FILE. */
int stated_check(const struct update_target *target, struct uspl_err *err) uspl_must_check;

/* Adds all of an update's, as a record has them: "NAME=NUMBER NAME=NUMBER". */
void stated_text(const struct update *update, struct buf *ret);
/*
 * Reads the next one of such a text at *at, which moves on; false if there is no other. name has
 * STATED_NAME_SIZE bytes.
 */
#define STATED_NAME_SIZE 64
bool stated_next(const char **at, char *name, uint32_t *ret_number);
/* The update's number for that name, 0: it doesn't know it. */
uint32_t stated_number(const struct update *update, const char *name);

#endif
