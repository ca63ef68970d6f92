// SPDX-License-Identifier: GPL-3.0-or-later
// nothing.c - has no probe

int nothing;
