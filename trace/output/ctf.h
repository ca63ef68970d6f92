/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctf.h - what was recorded as a folder in the Common Trace Format */
#ifndef USPL_TRACE_OUTPUT_CTF_H
#define USPL_TRACE_OUTPUT_CTF_H

#include "base/error.h"

struct reader;

/* Makes the folder, which must not be there, from what the reader has read. */
int ctf_write(struct reader *reader, const char *dir, struct uspl_err *err) uspl_must_check;

#endif
