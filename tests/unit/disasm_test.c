// SPDX-License-Identifier: GPL-3.0-or-later
// disasm_test.c - instructions as objdump prints them

#include "objfile/disasm.h"
#include "tests/unit/tap.h"

int main(void)
{
	static const uint8_t mov[] = { 0xb8, 5, 0, 0, 0, 0x90 };
	static const uint8_t call[] = { 0xe8, 0xfb, 0x0f, 0, 0 };
	static const uint8_t bad[] = { 0x06 };
	char text[64], small[8];

	ok(disasm_insn(mov, sizeof(mov), 0x1000, text, sizeof(text)) == 5, "mov is 5 bytes long");
	ok_str(text, "mov $0x5,%eax", "mov, in AT&T's order");
	ok(disasm_insn(call, sizeof(call), 0x1000, text, sizeof(text)) == 5, "call, too");
	ok_str(text, "call 0x2000", "a target is an address");
	ok(disasm_insn(call, 3, 0x1000, text, sizeof(text)) == 0, "half a call is none");
	ok(disasm_insn(bad, sizeof(bad), 0x1000, text, sizeof(text)) == 0, "push %%es is gone");
	ok_str(text, "(bad)", "and shown as bad");
	ok(disasm_insn(mov, sizeof(mov), 0, small, sizeof(small)) == 5, "text that is cut");
	ok_str(small, "mov $0x", "ends with its NUL");
	ok(disasm_targets_register("mov 0x0(%rip),%eax"), "a load targets a register");
	ok(!disasm_targets_register("mov %eax,0x0(%rip)"), "a store targets memory");
	ok(!disasm_targets_register("mov %eax,(%rbx,%rcx)"), "with an index, too");
	ok(!disasm_targets_register("ret"), "ret has no operand");
	return tap_done();
}
