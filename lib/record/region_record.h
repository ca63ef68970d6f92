/* SPDX-License-Identifier: GPL-3.0-or-later */
/* region_record.h - a region's record as bytes, for region_memory.c; region.h writes it */
#ifndef USPL_RECORD_REGION_RECORD_H
#define USPL_RECORD_REGION_RECORD_H

#include "record/region.h"

/*
 * Decodes a record: all but the header's identity, which the caller has checked. False if it
 * contradicts itself; what was taken until then is the caller's to release.
 */
bool region_decode(const struct buf *info, const struct uspl_region *head, struct region *region);

#endif
