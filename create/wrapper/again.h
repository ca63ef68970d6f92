/* SPDX-License-Identifier: GPL-3.0-or-later */
/* again.h - how a source was compiled, for uspl-create to compile it once more */
#ifndef USPL_CREATE_WRAPPER_AGAIN_H
#define USPL_CREATE_WRAPPER_AGAIN_H

#include "create/wrapper/tool.h"

/*
 * Writes SAVED.again, if uspl-create has asked for it (USPL_CC_AGAIN): a shell script that runs the
 * compiler in the same folder, with the same environment and the same words, but for those that
 * name outputs; its own arguments come behind them.
 */
int again_write(const struct tool *tool, const tool_argv *argv, const char *saved,
		struct uspl_err *err) uspl_must_check;

#endif
