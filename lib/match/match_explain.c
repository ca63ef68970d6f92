// SPDX-License-Identifier: GPL-3.0-or-later
// match_explain.c - why a func of pre code doesn't match, in words

#include <inttypes.h>
#include <stdio.h>

#include "image/image_debug.h"
#include "match/match_internal.h"
#include "objfile/disasm.h"

enum { INSN_TEXT = 128, INSN_LOOK = 16 };

static void show_run(const struct match *match, taddr addr, char *text)
{
	const struct image_seg *seg = image_seg_at(match->image, addr);
	size_t len = seg && seg->bytes ? seg->len - (addr - seg->start) : 0;

	if (!len) {
		snprintf(text, INSN_TEXT, "(no code)");
		return;
	}
	disasm_insn(seg->bytes + (addr - seg->start), len < INSN_LOOK ? len : INSN_LOOK, addr, text,
		    INSN_TEXT);
}

static int explain_mismatch(const struct match *match, const struct func *func, const char *name,
			    struct uspl_err *err)
{
	const struct failure *failure = &func->failure;
	const struct objsec *sec = func->pub.sec;
	char pre[INSN_TEXT], run[INSN_TEXT];
	auto_free char *line = NULL;

	if (!failure->show_code)
		return uspl_fail(err, USPL_E_NO_MATCH,
				 "'%s' isn't the code that the update was made from: at +0x%" PRIx64
				 " (0x%" PRIx64 "): %s",
				 name, failure->off, failure->run_addr, failure->what);
	disasm_insn(sec->data + failure->off, sec->size - failure->off, failure->off, pre,
		    sizeof(pre));
	show_run(match, failure->run_addr, run);
	line = image_line(match->image, failure->run_addr);
	return uspl_fail(err, USPL_E_NO_MATCH,
			 "'%s' isn't the code that the update was made from: at +0x%" PRIx64
			 " the update has '%s', the running program at 0x%" PRIx64
			 "%s%s%s has '%s'",
			 name, failure->off, pre, failure->run_addr, line ? " (" : "",
			 line ? line : "", line ? ")" : "", run);
}

static int explain_ambiguous(const struct match *match, const struct func *func, const char *name,
			     struct uspl_err *err)
{
	int rc = uspl_fail(err, USPL_E_NO_MATCH,
			   "'%s' can't be told apart: %zu places of '%s' hold the same code, at "
			   "0x%" PRIx64 "%s 0x%" PRIx64 "%s",
			   name, func->n_matched, match->image->name, func->equal[0],
			   func->n_matched > 2 ? "," : " and", func->equal[1],
			   func->n_matched > 2 ? " and elsewhere" : "");

	uspl_hint(err, "an update made with 'uspl-create --against=FILE' may know which it is: "
		       "it was compared with all of the program");
	return rc;
}

int match_explain_piece(const struct match *match, const struct func *func, const char *name,
			struct uspl_err *err)
{
	switch (func->state) {
	case FUNC_AMBIGUOUS:
		return explain_ambiguous(match, func, name, err);
	case FUNC_MISMATCHED:
		return explain_mismatch(match, func, name, err);
	default:
		return uspl_fail(err, USPL_E_NO_MATCH,
				 "'%s' isn't found in '%s': no symbol has its name, and no code "
				 "that matches refers to it",
				 name, match->image->name);
	}
}
