/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count.h - what the program and the library share */
#ifndef COUNT_H
#define COUNT_H

int count();

#endif
