/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scale.h - a macro */
#ifndef SCALE_H
#define SCALE_H

#include "serve.h"

#define SCALE(n) (10 * (n))

/* Uses the macro in another unit. */
KEPT int second(int n);

#endif
