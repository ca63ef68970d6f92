// SPDX-License-Identifier: GPL-3.0-or-later
// arch_test.c - x86-64: decoding, relocation fields, relaxed instructions, jumps and stubs

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "tests/unit/tap.h"

static const struct arch *arch;

static const struct {
	const char *what;
	uint8_t code[16];
	uint8_t len;
	enum insn_flow flow;
	bool is_nop;
} instructions[] = {
	{ "nop", { 0x90 }, 1, INSN_PLAIN, true },
	{ "xchg ax,ax", { 0x66, 0x90 }, 2, INSN_PLAIN, true },
	{ "nopw 0(rax,rax)", { 0x66, 0x0f, 0x1f, 0x44, 0, 0 }, 6, INSN_PLAIN, true },
	{ "data16 cs nopw", { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84 }, 11, INSN_PLAIN, true },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, INSN_PLAIN, false },
	{ "pause", { 0xf3, 0x90 }, 2, INSN_PLAIN, false },
	{ "xchg r8,rax", { 0x49, 0x90 }, 2, INSN_PLAIN, false },
	{ "call", { 0xe8, 4, 0, 0, 0 }, 5, INSN_CALL, false },
	{ "jmp short", { 0xeb, 4 }, 2, INSN_JUMP, false },
	{ "jmp near", { 0xe9, 4 }, 5, INSN_JUMP, false },
	{ "je short", { 0x74, 4 }, 2, INSN_COND_JUMP, false },
	{ "je near", { 0x0f, 0x84, 4 }, 6, INSN_COND_JUMP, false },
	{ "jrcxz", { 0xe3, 4 }, 2, INSN_COND_JUMP, false },
	{ "jmp *rax", { 0xff, 0xe0 }, 2, INSN_JUMP_INDIRECT, false },
	{ "notrack jmp *rax", { 0x3e, 0xff, 0xe0 }, 3, INSN_JUMP_INDIRECT, false },
	{ "call *0(rip)", { 0xff, 0x15 }, 6, INSN_CALL_INDIRECT, false },
	{ "ret", { 0xc3 }, 1, INSN_RETURN, false },
	{ "ud2", { 0x0f, 0x0b }, 2, INSN_TRAP, false },
	{ "int3", { 0xcc }, 1, INSN_TRAP, false },
};

static void test_decode(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		struct insn insn;
		bool decoded = arch->insn_decode(instructions[i].code, sizeof(instructions[i].code),
						 &insn);

		ok(decoded && insn.len == instructions[i].len &&
			   insn.flow == instructions[i].flow &&
			   insn.is_nop == instructions[i].is_nop,
		   "decodes %s", instructions[i].what);
	}
}

static void test_fields(void)
{
	static const uint8_t je_short[] = { 0x74, 0xfe };
	static const uint8_t je_near[] = { 0x0f, 0x84, 0x10, 0, 0, 0 };
	static const uint8_t jne_short[] = { 0x75, 0xfe };
	/* cmpl $0x12345678, 0x10(%rip) */
	static const uint8_t cmp[] = { 0x81, 0x3d, 0x10, 0, 0, 0, 0x78, 0x56, 0x34, 0x12 };
	static const uint8_t movabs[] = { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint8_t cut[] = { 0xe8, 0, 0 };
	struct insn a, b, c;

	ok(arch->insn_decode(je_short, sizeof(je_short), &a) &&
		   arch->insn_decode(je_near, sizeof(je_near), &b) &&
		   arch->insn_decode(jne_short, sizeof(jne_short), &c) && a.op == b.op &&
		   a.op != c.op,
	   "a short and a near je are one operation, jne is another");
	ok(a.rel == -2 && a.rel_off == 1 && a.rel_size == 1, "the short distance");
	ok(b.rel == 16 && b.rel_off == 2 && b.rel_size == 4, "the near distance");
	ok(arch->insn_decode(cmp, sizeof(cmp), &a) && a.pc_relative_mem && a.disp_off == 2 &&
		   a.disp_size == 4 && a.imm_off == 6 && a.imm_size == 4,
	   "displacement and immediate of one instruction");
	ok(arch->insn_decode(movabs, sizeof(movabs), &a) && a.imm_off == 2 && a.imm_size == 8,
	   "a 64-bit immediate");
	ok(!arch->insn_decode(cut, sizeof(cut), &a), "half an instruction is none");
}

static bool relaxed(uint32_t type, const uint8_t *pre, size_t pre_len, const uint8_t *run,
		    size_t run_len, struct relaxed_insn *ret)
{
	struct insn pre_insn, run_insn;

	return arch->insn_decode(pre, pre_len, &pre_insn) &&
	       arch->insn_decode(run, run_len, &run_insn) &&
	       arch->insn_relaxed(type, pre, &pre_insn, run, &run_insn, ret);
}

static const struct {
	const char *what;
	uint32_t type;
	uint8_t pre[8], run[8];
	bool want;
	struct relaxed_insn field;
} relaxations[] = {
	{ "mov r8 -> lea",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x4c, 0x8b, 0x05 },
	  { 0x4c, 0x8d, 0x05 },
	  true,
	  { 3, RELOC_PCREL } },
	{ "mov rax -> lea rcx",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x48, 0x8b, 0x05 },
	  { 0x48, 0x8d, 0x0d },
	  false,
	  { 0, 0 } },
	{ "mov r8 -> mov $",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x4c, 0x8b, 0x05 },
	  { 0x49, 0xc7, 0xc0 },
	  true,
	  { 3, RELOC_ABS } },
	{ "mov r8 -> mov $, rax",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x4c, 0x8b, 0x05 },
	  { 0x48, 0xc7, 0xc0 },
	  false,
	  { 0, 0 } },
	{ "cmp -> cmp $",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x48, 0x3b, 0x1d },
	  { 0x48, 0x81, 0xfb },
	  true,
	  { 3, RELOC_ABS } },
	{ "cmp -> sub $",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x48, 0x3b, 0x1d },
	  { 0x48, 0x81, 0xeb },
	  false,
	  { 0, 0 } },
	{ "test -> test $",
	  R_X86_64_REX_GOTPCRELX,
	  { 0x48, 0x85, 0x1d },
	  { 0x48, 0xf7, 0xc3 },
	  true,
	  { 3, RELOC_ABS } },
	{ "call * -> addr32 call",
	  R_X86_64_GOTPCRELX,
	  { 0xff, 0x15 },
	  { 0x67, 0xe8 },
	  true,
	  { 2, RELOC_PCREL } },
	{ "call * -> jmp", R_X86_64_GOTPCRELX, { 0xff, 0x15 }, { 0xe9 }, false, { 0, 0 } },
	{ "jmp * -> jmp", R_X86_64_GOTPCRELX, { 0xff, 0x25 }, { 0xe9 }, true, { 1, RELOC_PCREL } },
	{ "mov -> lea by a PC32",
	  R_X86_64_PC32,
	  { 0x48, 0x8b, 0x05 },
	  { 0x48, 0x8d, 0x05 },
	  false,
	  { 0, 0 } },
	{ "mov gottpoff -> mov $",
	  R_X86_64_GOTTPOFF,
	  { 0x48, 0x8b, 0x05 },
	  { 0x48, 0xc7, 0xc0 },
	  true,
	  { 3, RELOC_TPOFF } },
	{ "add gottpoff -> lea",
	  R_X86_64_GOTTPOFF,
	  { 0x48, 0x03, 0x05 },
	  { 0x48, 0x8d, 0x80 },
	  true,
	  { 3, RELOC_TPOFF } },
	{ "add gottpoff -> add $",
	  R_X86_64_GOTTPOFF,
	  { 0x4c, 0x03, 0x25 },
	  { 0x49, 0x81, 0xc4 },
	  true,
	  { 3, RELOC_TPOFF } },
};

static void test_relaxed(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(relaxations); i++) {
		struct relaxed_insn field = { 0 };
		bool is =
			relaxed(relaxations[i].type, relaxations[i].pre, sizeof(relaxations[i].pre),
				relaxations[i].run, sizeof(relaxations[i].run), &field);

		ok(is == relaxations[i].want && field.off == relaxations[i].field.off &&
			   field.kind == relaxations[i].field.kind,
		   "%s is %s", relaxations[i].what,
		   relaxations[i].want ? "relaxed" : "another instruction");
	}
}

static void test_reloc(void)
{
	const struct reloc_info *pc32 = arch->reloc(R_X86_64_PC32);
	const struct reloc_info *abs32 = arch->reloc(R_X86_64_32);
	struct uspl_err err = { 0 };
	uint8_t field[8] = { 0 };

	ok_str(pc32->name, "R_X86_64_PC32", "a relocation has its name");
	ok(pc32->kind == RELOC_PCREL && pc32->size == 4, "PC32 is relative to the pc");
	ok(arch->reloc(R_X86_64_PLT32)->kind == RELOC_PLT, "PLT32 may lead through a stub");
	ok(arch->reloc(R_X86_64_COPY)->kind == RELOC_UNSUPPORTED, "COPY isn't supported");
	ok(arch->reloc(0xffffffff)->kind == RELOC_UNSUPPORTED && arch->reloc(0xffffffff)->name,
	   "an unknown relocation isn't supported and has a name");
	ok(arch->reloc_write(pc32, field, (uint64_t)-2, &err) == 0 && field[0] == 0xfe &&
		   field[3] == 0xff && field[4] == 0,
	   "a negative distance is written, in 4 bytes");
	ok(arch->reloc_write(pc32, field, 0x80000000, &err) == -USPL_E_OUT_OF_REACH,
	   "2 GB is too far");
	ok(arch->reloc_write(abs32, field, 0x80000000, &err) == 0, "2 GB fits unsigned");
	ok(arch->reloc_write(abs32, field, (uint64_t)-1, &err) == -USPL_E_OUT_OF_REACH,
	   "-1 doesn't fit unsigned");
}

static void test_jump(void)
{
	uint8_t code[16];

	ok(arch->jump_encode(0x400000, 0x500000, code) &&
		   arch->jump_target(0x400000, code, arch->jump_len) == 0x500000,
	   "a jump leads where it was sent");
	ok(arch->jump_encode(0x500000, 0x400000, code) &&
		   arch->jump_target(0x500000, code, arch->jump_len) == 0x400000,
	   "a jump back, too");
	ok(!arch->jump_encode(0x400000, 0x180400000, code), "no jump is longer than 2 GB");
	ok(arch->jump_target(0x400000, code, 4) == 0, "four bytes hold no jump");
	code[0] = 0x55;
	ok(arch->jump_target(0x400000, code, sizeof(code)) == 0, "push is no jump");
	arch->stub_encode(0x1000, 0x1100, code);
	ok(code[0] == 0xff && code[1] == 0x25 && code[2] == 0xfa && code[3] == 0 &&
		   arch->stub_len == 8,
	   "a stub jumps through its slot");
}

#define GD_PLT 0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0
#define GD_GOT 0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x48, 0xff, 0x15, 0, 0, 0, 0
#define MOV_FS 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0

static const struct {
	const char *what;
	uint32_t type;
	uint8_t field; /* where it is in pre */
	uint8_t pre[16], run[16];
	uint8_t len; /* 0: run isn't what became of pre */
	uint8_t off;
	enum reloc_kind kind;
	bool is_ours; /* what tls_relax makes of pre */
} tls_forms[] = {
	{ "general dynamic",
	  R_X86_64_TLSGD,
	  4,
	  { GD_PLT },
	  { MOV_FS, 0x48, 0x8d, 0x80 },
	  16,
	  12,
	  RELOC_TPOFF,
	  true },
	{ "general dynamic without plt",
	  R_X86_64_TLSGD,
	  4,
	  { GD_GOT },
	  { MOV_FS, 0x48, 0x8d, 0x80 },
	  16,
	  12,
	  RELOC_TPOFF,
	  true },
	{ "general dynamic through a slot",
	  R_X86_64_TLSGD,
	  4,
	  { GD_PLT },
	  { MOV_FS, 0x48, 0x03, 0x05 },
	  16,
	  12,
	  RELOC_GOTTPOFF,
	  false },
	{ "general dynamic, another register",
	  R_X86_64_TLSGD,
	  4,
	  { GD_PLT },
	  { MOV_FS, 0x48, 0x8d, 0x81 },
	  0,
	  0,
	  RELOC_NONE,
	  false },
	{ "general dynamic that isn't one",
	  R_X86_64_TLSGD,
	  4,
	  { 0x66, 0x48, 0x8d, 0x35 },
	  { MOV_FS, 0x48, 0x8d, 0x80 },
	  0,
	  0,
	  RELOC_NONE,
	  false },
	{ "local dynamic",
	  R_X86_64_TLSLD,
	  3,
	  { 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xe8 },
	  { 0x66, 0x66, 0x66, MOV_FS },
	  12,
	  0,
	  RELOC_NONE,
	  true },
	{ "local dynamic without plt",
	  R_X86_64_TLSLD,
	  3,
	  { 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x15 },
	  { 0x66, 0x66, 0x66, 0x66, MOV_FS },
	  13,
	  0,
	  RELOC_NONE,
	  true },
	{ "a descriptor",
	  R_X86_64_GOTPC32_TLSDESC,
	  3,
	  { 0x48, 0x8d, 0x05 },
	  { 0x48, 0xc7, 0xc0 },
	  7,
	  3,
	  RELOC_TPOFF,
	  true },
	{ "a descriptor in r9",
	  R_X86_64_GOTPC32_TLSDESC,
	  3,
	  { 0x4c, 0x8d, 0x0d },
	  { 0x49, 0xc7, 0xc1 },
	  7,
	  3,
	  RELOC_TPOFF,
	  true },
	{ "a descriptor through a slot",
	  R_X86_64_GOTPC32_TLSDESC,
	  3,
	  { 0x48, 0x8d, 0x05 },
	  { 0x48, 0x8b, 0x05 },
	  7,
	  3,
	  RELOC_GOTTPOFF,
	  false },
	{ "a descriptor, another register",
	  R_X86_64_GOTPC32_TLSDESC,
	  3,
	  { 0x48, 0x8d, 0x05 },
	  { 0x48, 0xc7, 0xc1 },
	  0,
	  0,
	  RELOC_NONE,
	  false },
};

static void test_tls(void)
{
	struct tls_form form;

	for (size_t i = 0; i < ARRAY_SIZE(tls_forms); i++) {
		uint8_t code[16];
		bool relaxed = arch->tls_relaxed(tls_forms[i].type, tls_forms[i].pre, 16,
						 tls_forms[i].run, 16, &form);

		ok(relaxed == (tls_forms[i].len != 0) &&
			   (!relaxed ||
			    (form.len == tls_forms[i].len && form.off == tls_forms[i].off &&
			     form.kind == tls_forms[i].kind)),
		   "%s is recognised for what it is", tls_forms[i].what);
		memcpy(code, tls_forms[i].pre, sizeof(code));
		if (tls_forms[i].is_ours)
			ok(arch->tls_relax(tls_forms[i].type, code, tls_forms[i].field,
					   sizeof(code), &form) &&
				   !memcmp(code, tls_forms[i].run, tls_forms[i].len),
			   "%s is rewritten", tls_forms[i].what);
		for (size_t len = 0; len < tls_forms[i].len; len++)
			if (arch->tls_relaxed(tls_forms[i].type, tls_forms[i].pre, len,
					      tls_forms[i].run, 16, &form) ||
			    arch->tls_relaxed(tls_forms[i].type, tls_forms[i].pre, 16,
					      tls_forms[i].run, len, &form))
				ok(false, "%s, cut at %zu, is none", tls_forms[i].what, len);
	}
}

static void test_general(void)
{
	/* test edi, edi; je 1f; mov (rdi), rax; 2: ret; 1: xor eax, eax; jmp 2b */
	static const uint8_t general[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x85, 0xff, 0x74, 0x04,
					   0x48, 0x8b, 0x07, 0xc3, 0x31, 0xc0, 0xeb, 0xfb };
	static const uint8_t vector[] = { 0x85, 0xff, 0x74, 0x01, 0xc3, 0x0f, 0x57, 0xc0, 0xc3 };
	static const uint8_t calls[] = { 0xe8, 0, 0, 0, 0, 0xc3 };
	static const uint8_t open[] = { 0x31, 0xc0 };
	static const uint8_t x87[] = { 0xd9, 0xe8, 0xc3 };

	ok(arch->keeps_vectors(general, sizeof(general)), "general registers only, both ways");
	ok(!arch->keeps_vectors(vector, sizeof(vector)), "xorps behind a jump");
	ok(!arch->keeps_vectors(x87, sizeof(x87)), "x87");
	ok(!arch->keeps_vectors(calls, sizeof(calls)), "a call");
	ok(!arch->keeps_vectors(open, sizeof(open)), "code that doesn't end");
	ok(!arch->keeps_vectors(open, 0), "no code");
}

struct entry_sample {
	const char *name;
	uint8_t code[16];
	size_t len;
	bool minds, ignores; /* its return address; the flags */
};

/* clang-format off */
static const struct entry_sample entries[] = {
	{ "push %rbx; sub $16,%rsp; ret", { 0x53, 0x48, 0x83, 0xec, 0x10, 0xc3 }, 6, false, true },
	{ "mov (%rsp),%rcx; ret", { 0x48, 0x8b, 0x0c, 0x24, 0xc3 }, 5, true, true },
	{ "pop %rdi; mov $58,%eax; syscall", { 0x5f, 0xb8, 58, 0, 0, 0, 0x0f, 0x05 }, 8, true, true },
	{ "push %rax; mov (%rsp),%rcx; ret", { 0x50, 0x48, 0x8b, 0x0c, 0x24, 0xc3 }, 6, false, true },
	{ "mov %rbx,%rsp; call .", { 0x48, 0x89, 0xdc, 0xe8, 0, 0, 0, 0 }, 8, true, true },
	{ "mov 8(%rsp),%rax; ret", { 0x48, 0x8b, 0x44, 0x24, 0x08, 0xc3 }, 6, false, true },
	{ "mov %edi,%eax; je .", { 0x89, 0xf8, 0x74, 0x00 }, 4, false, false },
	{ "adc %eax,%eax; ret", { 0x11, 0xc0, 0xc3 }, 3, false, false },
	{ "test %edi,%edi; je .", { 0x85, 0xff, 0x74, 0x00 }, 4, false, true },
	{ "inc %eax; jb .", { 0xff, 0xc0, 0x72, 0x00 }, 4, false, false },
	{ "mov %edi,%eax; jmp .", { 0x89, 0xf8, 0xeb, 0x00 }, 4, false, false },
	{ "no code", { 0 }, 0, false, false },
};
/* clang-format on */

static void test_entries(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const struct entry_sample *s = &entries[i];

		ok(arch_native()->minds_return(s->code, s->len) == s->minds,
		   "%s: minds its return address or not", s->name);
		ok(arch_native()->ignores_flags(s->code, s->len) == s->ignores,
		   "%s: ignores the flags or not", s->name);
	}
}

struct nops_sample {
	const char *name;
	uint8_t code[16], merged[5];
	size_t have; /* 0: they can't be joined */
	uint8_t starts[5], end;
};

/* clang-format off */
static const struct nops_sample nops_samples[] = {
	{ "nop, five times", { 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3 }, { 0x66, 0x66, 0x66, 0x66, 0x90 }, 5,
	  { 0, 1, 2, 3, 4 }, 5 },
	{ "endbr64; nop", { 0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x90 }, { 0x66, 0x66, 0x66, 0x66, 0x90 }, 6,
	  { 0, 4 }, 5 },
	{ "endbr64; nopl 8(%rax,%rax)", { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 8 },
	  { 0x66, 0x66, 0x66, 0x66, 0x0f }, 9, { 0, 4 }, 9 },
	{ "nop; nop; nopl (%rax)", { 0x90, 0x90, 0x0f, 0x1f, 0 }, { 0x66, 0x66, 0x0f, 0x1f, 0 }, 5,
	  { 0, 1, 2 }, 5 },
	{ "xchg %ax,%ax; nopl 0(%rax)", { 0x66, 0x90, 0x0f, 0x1f, 0x40, 0 }, { 0x66, 0x66, 0x0f, 0x1f, 0x40 }, 6,
	  { 0, 2 }, 6 },
	{ "one of five bytes", { 0x0f, 0x1f, 0x44, 0, 0 }, { 0 }, 0, { 0 }, 0 },
	{ "another instruction among them", { 0x90, 0x90, 0x66, 0x53, 0x90 }, { 0 }, 0, { 0 }, 0 },
	{ "one that isn't whole", { 0x90, 0x90, 0x90, 0x0f, 0x1f }, { 0 }, 0, { 0 }, 0 },
	{ "more bytes than an instruction may have",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, { 0 }, 0, { 0 }, 0 },
};
/* clang-format on */

static void test_nops(const struct nops_sample *s)
{
	uint8_t code[16];
	bool fine = true;

	memcpy(code, s->code, sizeof(code));
	if (!s->have) {
		ok(!arch->nops_merge(code, 5, s->code[3] == 0x0f ? 5 : sizeof(code)) &&
			   !memcmp(code, s->code, sizeof(code)),
		   "%s: they stay as they are", s->name);
		return;
	}
	ok(arch->nops_merge(code, 5, s->have) && !memcmp(code, s->merged, sizeof(s->merged)) &&
		   !memcmp(code + 5, s->code + 5, sizeof(code) - 5),
	   "%s: are one", s->name);
	for (size_t i = 0; i < ARRAY_SIZE(s->starts) && (!i || s->starts[i]); i++) {
		struct insn insn;

		fine &= arch->insn_decode(code + s->starts[i], 16u - s->starts[i], &insn) &&
			insn.is_nop && insn.len == s->end - s->starts[i];
	}
	ok(fine, "%s: from where each began it is one NOP to the same end", s->name);
	ok(!arch->nops_merge(code, 5, s->have), "%s: once", s->name);
}

int main(void)
{
	arch = arch_native();
	for (size_t i = 0; i < ARRAY_SIZE(nops_samples); i++)
		test_nops(&nops_samples[i]);
	test_decode();
	test_fields();
	test_relaxed();
	test_reloc();
	test_jump();
	test_general();
	test_entries();
	test_tls();
	return tap_done();
}
