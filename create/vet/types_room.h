/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types_room.h - where a structure has room for a new member */
#ifndef USPL_CREATE_VET_TYPES_ROOM_H
#define USPL_CREATE_VET_TYPES_ROOM_H

#include "create/vet/types_changed.h"

/*
 * Appends for each new member where it would change no layout: "bit 3 behind 'closed' is free for
 * 'fresh'"; and to places the same as "fresh>closed", with blanks. Nothing if there is no room for
 * one of them, or if members are gone, too. end_used: the structure's end isn't free, since other
 * types have something there (typeuse.h).
 */
int types_find_room(struct type_change *change, bool end_used, struct buf *text, struct buf *places,
		    struct uspl_err *err) uspl_must_check;

#endif
