// SPDX-License-Identifier: GPL-3.0-or-later
// error.c - how a failure travels from where it happens to the user

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct {
	enum uspl_status status;
	const char *json;
} codes[] = { [USPL_OK] = { USPL_STATUS_DONE, "ok" },
#define X(name, exit_status, json_name)                                                            \
	[USPL_E_##name] = { (enum uspl_status)(exit_status), json_name },
	      USPL_CODES(X)
#undef X
};

int uspl_fail(struct uspl_err *err, enum uspl_code code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		char msg[sizeof(err->msg)];

		va_start(ap, fmt);
		vsnprintf(msg, sizeof(msg), fmt, ap);
		va_end(ap);
		memcpy(err->msg, msg, sizeof(msg));
		err->code = code;
		err->hint[0] = '\0';
		err->page = NULL;
	}
	return -(int)code;
}

int uspl_fail_errno(struct uspl_err *err, const char *fmt, ...)
{
	int errnum = errno;
	enum uspl_code code = USPL_E_SYSTEM;
	char what[sizeof(err->msg) - 128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (errnum == EPERM || errnum == EACCES)
		code = USPL_E_PERMISSION;
	else if (errnum == ESRCH)
		code = USPL_E_NO_PROCESS;
	else if (errnum == ENOMEM)
		code = USPL_E_NOMEM;
	return uspl_fail(err, code, "%s: %s", what, strerror(errnum));
}

int uspl_fail_nomem(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_NOMEM, "out of memory");
}

void uspl_hint(struct uspl_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

void uspl_context(struct uspl_err *err, const char *fmt, ...)
{
	char msg[2 * sizeof(err->msg)];
	va_list ap;
	int len;

	if (!err)
		return;
	va_start(ap, fmt);
	len = vsnprintf(msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(err->msg) - 3)
		return;
	snprintf(msg + len, sizeof(msg) - (size_t)len, ": %s", err->msg);
	msg[sizeof(err->msg) - 1] = '\0';
	memcpy(err->msg, msg, sizeof(err->msg));
}

enum uspl_status uspl_code_status(int code)
{
	size_t i = (size_t)abs(code);

	return i < ARRAY_SIZE(codes) ? codes[i].status : USPL_STATUS_FAILED;
}

const char *uspl_code_name(int code)
{
	size_t i = (size_t)abs(code);

	return i < ARRAY_SIZE(codes) ? codes[i].json : "unknown";
}

/* Messages quote names out of files and processes that any user may have made. */
static void print_line(FILE *out, const char *label, const char *text)
{
	auto_buf struct buf line = { 0 };

	text_add_printable(&line, text, strlen(text), false);
	fprintf(out, "%s: %s\n", label, buf_str(&line));
}

void uspl_err_note(FILE *out, const struct uspl_err *err)
{
	print_line(out, "note", err->msg);
}

void uspl_err_print(FILE *out, const char *prog, const struct uspl_err *err)
{
	print_line(out, prog, err->msg);
	if (err->hint[0])
		print_line(out, "hint", err->hint);
	if (err->page)
		print_line(out, "see", err->page);
}
