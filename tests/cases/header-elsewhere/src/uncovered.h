/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uncovered.h - in front of the other one */

#define UNCOVERED 7
