/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - what more than one module defines */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

const char *whose(void);
const char *only_first(void);
extern int number;
int nobody(void) __attribute__((weak));
int own_plain(void);
int own_symbolic(void);

/* What a library sees. */
void tell_plain(char *reply, size_t size);
void tell_symbolic(char *reply, size_t size);

#endif
