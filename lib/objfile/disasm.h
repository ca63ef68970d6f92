/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disasm.h - instructions as people read them: the words of objdump, for messages */
#ifndef USPL_OBJFILE_DISASM_H
#define USPL_OBJFILE_DISASM_H

#include "base/types.h"

/*
 * Loads libopcodes; false if it isn't there. disasm_insn does it by itself, unless the program has
 * given up opening files by then.
 */
bool disasm_load(void);
/*
 * Writes the instruction at code (of which len bytes may be read, and which runs at pc) to text, at
 * most size bytes with the NUL; longer text is cut. Runs of blanks become one. Returns the
 * instruction's length, or 0 with text "(bad)" if it is none, or with one that says that libopcodes
 * can't be loaded.
 */
size_t disasm_insn(const uint8_t *code, size_t len, taddr pc, char *text, size_t size);
/* Is the last operand of an instruction, as it was written to text, a register? */
bool disasm_targets_register(const char *text);

#endif
