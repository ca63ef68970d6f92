/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wait.h - what the library has */
#ifndef WAIT_H
#define WAIT_H

#include <stdatomic.h>

/* Returns when *go is set: 1. */
int wait_for(atomic_bool *go);

#endif
