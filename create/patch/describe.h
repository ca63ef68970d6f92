/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.h - a diff's own words */
#ifndef USPL_CREATE_PATCH_DESCRIBE_H
#define USPL_CREATE_PATCH_DESCRIBE_H

/*
 * What a diff says of itself: the subject of a mail or of a Debian patch, else the first line
 * before the diff, else "". The caller frees it; NULL when out of memory.
 */
char *describe_patch(const char *text);

#endif
