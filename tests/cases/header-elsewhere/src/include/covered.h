/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covered.h - the one that is there */

#define COVERED 5
