/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uncovered.h - behind the other one */

#define UNCOVERED 70
