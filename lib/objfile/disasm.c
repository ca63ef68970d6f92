// SPDX-License-Identifier: GPL-3.0-or-later
// disasm.c - instructions as people read them, with libopcodes

#include "objfile/disasm.h"

#include <dis-asm.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/late.h"
#include "late_names.h"

LATE(disassembler);
LATE(init_disassemble_info);
LATE(disassemble_init_for_target);
LATE(disassemble_free_target);
LATE(buffer_read_memory);

/* libopcodes prints in pieces: where the next one goes. */
struct sink {
	char *text;
	size_t len, size;
};

static int sink_vprintf(struct sink *sink, const char *fmt, va_list ap)
{
	int n = vsnprintf(sink->text + sink->len, sink->size - sink->len, fmt, ap);

	if (n > 0)
		sink->len += (size_t)n;
	if (sink->len >= sink->size)
		sink->len = sink->size - 1;
	return n;
}

static int uspl_printf(2, 3) sink_printf(void *stream, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = sink_vprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

static int uspl_printf(3, 4)
	sink_printf_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;
	int n;

	(void)style;
	va_start(ap, fmt);
	n = sink_vprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

/* A byte that isn't there needs no message: the instruction comes out as "(bad)". */
static void ignore_memory_error(int status, bfd_vma addr, struct disassemble_info *info)
{
	(void)status;
	(void)addr;
	(void)info;
}

/* Prints bare addresses: the names behind them are the caller's to tell. */
static void print_address(bfd_vma addr, struct disassemble_info *info)
{
	info->fprintf_func(info->stream, "0x%" PRIx64, (uint64_t)addr);
}

/* Copies text, with runs of blanks as one and none at the end. */
static void squeeze_blanks(const char *from, char *to, size_t size)
{
	size_t len = 0;

	for (; *from && len + 1 < size; from++) {
		bool blank = *from == ' ' || *from == '\t';

		if (!blank || (len > 0 && to[len - 1] != ' '))
			to[len++] = blank ? ' ' : *from;
	}
	if (len > 0 && to[len - 1] == ' ')
		len--;
	to[len] = '\0';
}

bool disasm_load(void)
{
	static const struct late_function functions[] = {
		LATE_LINE(disassembler),
		LATE_LINE(init_disassemble_info),
		LATE_LINE(disassemble_init_for_target),
		LATE_LINE(disassemble_free_target),
		LATE_LINE(buffer_read_memory),
	};

	return late_load(LATE_OPCODES, functions, ARRAY_SIZE(functions));
}

size_t disasm_insn(const uint8_t *code, size_t len, taddr pc, char *text, size_t size)
{
	disassembler_ftype print;
	char raw[256] = "";
	struct sink sink = { .text = raw, .size = sizeof(raw) };
	struct disassemble_info info;
	int n = -1;

	if (!size)
		return 0;
	if (!disasm_load()) {
		snprintf(text, size, "(libopcodes is missing)");
		return 0;
	}
	print = late_disassembler(bfd_arch_i386, false, bfd_mach_x86_64, NULL);
	late_init_disassemble_info(&info, &sink, sink_printf, sink_printf_styled);
	info.arch = bfd_arch_i386;
	info.mach = bfd_mach_x86_64;
	info.read_memory_func = late_buffer_read_memory;
	info.memory_error_func = ignore_memory_error;
	info.print_address_func = print_address;
	info.buffer = (bfd_byte *)code;
	info.buffer_vma = pc;
	info.buffer_length = len;
	late_disassemble_init_for_target(&info);
	if (print)
		n = print(pc, &info);
	late_disassemble_free_target(&info);
	/* What it can't decode comes as "(bad)", what is cut short as ".byte 0x..". */
	if (n <= 0 || (size_t)n > len || strstr(raw, "(bad)") || raw[0] == '.') {
		snprintf(text, size, "(bad)");
		return 0;
	}
	squeeze_blanks(raw, text, size);
	return (size_t)n;
}

bool disasm_targets_register(const char *text)
{
	const char *target = strrchr(text, ',');

	return target && target[1] == '%' && !strchr(target, ')');
}
