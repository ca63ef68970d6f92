/* SPDX-License-Identifier: GPL-3.0-or-later */
/* look.h - a subcommand that only looks gives up what it doesn't need for that */
#ifndef USPL_TRACE_OUTPUT_LOOK_H
#define USPL_TRACE_OUTPUT_LOOK_H

/*
 * For a subcommand that only looks at processes, or at a saved trace, before it does: gives up the
 * rest (base/confine.h).
 */
void look_only(void);
/* look_only() leaves what a screen needs, from here on; its library has to be loaded before. */
void look_keep_screen(void);
/* For a command that looks amid other work: look_only() gives up nothing from here on. */
void look_go_on(void);

#endif
