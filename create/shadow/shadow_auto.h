/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shadow_auto.h - new members of structures, made shadow variables by the compiler */
#ifndef USPL_CREATE_SHADOW_SHADOW_AUTO_H
#define USPL_CREATE_SHADOW_SHADOW_AUTO_H

#include "base/error.h"
#include "create/tree/build.h"
#include "create/unit/report_warn.h"

/* Before the builds: the wrapper is to note how sources are compiled. */
void shadow_auto_ask(void);
/*
 * Compiles what the build after the patch has compiled once more, with the structures of
 * report->shadowed in their old form, and puts these objects in the place of the others in
 * build->units. work: the work folder. USPL_E_DATA_CHANGE: what the code does with an object can't
 * be made to do the same with what is beside it; USPL_E_UNSUPPORTED: a compiler other than gcc, or
 * one without the headers for plugins.
 */
int shadow_auto_compile(struct build *build, const char *work, struct report *report,
			struct uspl_err *err) uspl_must_check;

#endif
