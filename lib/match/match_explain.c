// SPDX-License-Identifier: GPL-3.0-or-later
// match_explain.c - why a func of pre code doesn't match, in words

#include <inttypes.h>
#include <stdio.h>

#include "image/image_debug.h"
#include "match/match_internal.h"
#include "objfile/disasm.h"

enum { INSN_TEXT = 128, INSN_LOOK = 16 };

static int explain_mismatch(const struct match *match, const struct func *func, const char *name,
			    struct uspl_err *err)
{
	const struct failure *failure = &func->failure;
	const struct objsec *sec = func->pub.sec;
	const struct image_seg *seg = image_seg_at(match->image, failure->run_addr);
	size_t at = seg && seg->bytes ? failure->run_addr - seg->start : 0, len = 0;
	char pre[INSN_TEXT], run[INSN_TEXT] = "(no code)";
	auto_free char *line = NULL;

	if (!failure->show_code)
		return uspl_fail(err, USPL_E_NO_MATCH,
				 "'%s' isn't the code that the update was made from: at +0x%" PRIx64
				 " (0x%" PRIx64 "): %s",
				 name, failure->off, failure->run_addr, failure->what);
	disasm_insn(sec->data + failure->off, sec->size - failure->off, failure->off, pre,
		    sizeof(pre));
	if (seg && seg->bytes)
		len = seg->len - at < INSN_LOOK ? seg->len - at : INSN_LOOK;
	if (len)
		disasm_insn(seg->bytes + at, len, failure->run_addr, run, sizeof(run));
	line = image_line(match->image, failure->run_addr);
	return uspl_fail(err, USPL_E_NO_MATCH,
			 "'%s' isn't the code that the update was made from: at +0x%" PRIx64
			 " the update has '%s', the running program at 0x%" PRIx64
			 "%s%s%s has '%s'",
			 name, failure->off, pre, failure->run_addr, line ? " (" : "",
			 line ? line : "", line ? ")" : "", run);
}

int match_explain_piece(const struct match *match, const struct func *func, const char *name,
			struct uspl_err *err)
{
	if (func->state == FUNC_MISMATCHED)
		return explain_mismatch(match, func, name, err);
	if (func->state != FUNC_AMBIGUOUS)
		return uspl_fail(err, USPL_E_NO_MATCH,
				 "'%s' isn't found in '%s': no symbol has its name, and no code "
				 "that matches refers to it",
				 name, match->image->name);
	uspl_fail(err, USPL_E_NO_MATCH,
		  "'%s' can't be told apart: %zu places of '%s' hold the same code, at 0x%" PRIx64
		  "%s 0x%" PRIx64 "%s",
		  name, func->n_matched, match->image->name, func->equal[0],
		  func->n_matched > 2 ? "," : " and", func->equal[1],
		  func->n_matched > 2 ? " and elsewhere" : "");
	uspl_hint(err, "an update made with 'uspl-create --against=FILE' may know which it is: "
		       "it was compared with all of the program");
	return -USPL_E_NO_MATCH;
}
