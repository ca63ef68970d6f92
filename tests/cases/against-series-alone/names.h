/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - names.c */

__attribute__((visibility("hidden"))) int count_name(const char *name);
