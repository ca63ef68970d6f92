// SPDX-License-Identifier: GPL-3.0-or-later
// srcloc.c - where in the source the symbols and sections of a unit come from

#include "create/unit/srcloc.h"

#include <stdarg.h>
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "create/unit/nameless.h"
#include "create/unit/reference.h"

enum { MAX_TEXT = 60 };

struct dbginfo *side_dbginfo(struct side *side)
{
	if (!side->dbg_asked && side->path)
		side->dbg = dbginfo_open(side->path, side->source);
	side->dbg_asked = true;
	return side->dbg;
}

static void close_dbginfo(struct side *side)
{
	dbginfo_free(take_ptr(side->dbg));
	side->dbg_asked = false;
}

void unit_close_dbginfo(struct unit *unit)
{
	const struct nameless *nameless = unit->nameless;

	if (unit->dbg_held || (nameless && (nameless->pre.types.n || nameless->post.types.n)))
		return;
	close_dbginfo(&unit->pre);
	close_dbginfo(&unit->post);
}

const char *sym_srcloc(const struct objsym *sym, struct buf *buf)
{
	struct side *side = syminfo_of(sym)->side;
	struct dbginfo *dbg = side_dbginfo(side);
	Dwarf_Die die;

	if (!dbg || !dbginfo_find(dbg, sym, &die) || !dbginfo_add_srcloc(dbg, &die, buf))
		buf_addstr(buf, side->source);
	return buf_str(buf);
}

const char *sec_srcloc(const struct objsec *sec, struct buf *buf)
{
	if (secinfo_of(sec)->owner)
		return sym_srcloc(secinfo_of(sec)->owner, buf);
	buf_addstr(buf, secinfo_of(sec)->side->source);
	return buf_str(buf);
}

static int refuse(const char *place, struct uspl_err *err, enum uspl_code code, const char *fmt,
		  va_list ap)
{
	auto_free char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return uspl_fail_nomem(err);
	}
	return uspl_fail(err, code, "%s: %s", place, text);
}

int sym_refuse(const struct objsym *sym, struct uspl_err *err, enum uspl_code code, const char *fmt,
	       ...)
{
	auto_buf struct buf place = { 0 };
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = refuse(sym_srcloc(sym, &place), err, code, fmt, ap);
	va_end(ap);
	return rc;
}

int sec_refuse(const struct objsec *sec, struct uspl_err *err, enum uspl_code code, const char *fmt,
	       ...)
{
	auto_buf struct buf place = { 0 };
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = refuse(sec_srcloc(sec, &place), err, code, fmt, ap);
	va_end(ap);
	return rc;
}

const char *sec_title(const struct objsec *sec)
{
	return secinfo_of(sec)->owner ? secinfo_of(sec)->owner->name : sec->name;
}

/* A string constant, also one in a section that isn't only for strings. */
static bool show_text(const struct objsec *sec, int64_t at, struct buf *buf)
{
	const char *text;
	size_t room, len;

	if (secinfo_of(sec)->kind != SECINFO_LITERAL || !sec->data || at < 0 ||
	    (uint64_t)at >= sec->size)
		return false;
	text = (const char *)sec->data + at;
	room = sec->size - (size_t)at;
	len = strnlen(text, room);
	if (len == room || !text_is_utf8(text, len) || (!len && !(sec->flags & SHF_STRINGS)))
		return false;
	buf_addstr(buf, "\"");
	text_add_printable(buf, text, len < MAX_TEXT ? len : MAX_TEXT, false);
	buf_addstr(buf, len < MAX_TEXT ? "\"" : "...\"");
	return true;
}

void rel_show(const struct objsec *from, const struct objrel *rel, struct buf *buf)
{
	const struct objsec *to = rel->sym->sec;
	bool nameless = rel->sym->type == STT_SECTION || sym_is_compiler_made(rel->sym);
	const char *name = to && nameless ? sec_title(to) : rel->sym->name;
	auto_free char *plain = demangle_name(name);

	if (to && nameless && show_text(to, reference_target(from, rel), buf))
		return;
	buf_addf(buf, "'%s'", plain ? plain : name);
}
