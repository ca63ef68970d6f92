// SPDX-License-Identifier: GPL-3.0-or-later
// link_test.c - an object is linked at an address in this very process, and run

#include <elfutils/libdw.h>
#include <libelf.h>

#include "base/buf.h"
#include "tests/unit/link_run.h"
#include "tests/unit/tap.h"

extern __thread int outside_thread_value;
int outside_value;
static int64_t outside_values; /* what wide reads of it find */
__thread int outside_thread_value;

static int host_function(int n)
{
	return n + 1;
}

struct values {
	uint64_t outside_addr; /* of outside_value */
	bool redirect;         /* references to `replaced` mean host_function */
	int redirected_seen;
};

static struct symbol_value thread_value(taddr distance)
{
	return (struct symbol_value){ .addr = distance, .tls_offset = -8 };
}

static int value_of(void *ctx, const struct objsym *sym, bool redirected,
		    struct symbol_value *ret_value, struct uspl_err *err)
{
	struct values *values = ctx;

	if (redirected) {
		values->redirected_seen++;
		if (values->redirect && !strcmp(sym->name, "replaced"))
			ret_value->addr = (taddr)(uintptr_t)host_function;
		return 0;
	}
	if (!strcmp(sym->name, "strlen"))
		ret_value->addr = (taddr)(uintptr_t)strlen;
	else if (!strcmp(sym->name, "outside_value"))
		ret_value->addr = values->outside_addr;
	else if (!strcmp(sym->name, "outside_thread_value"))
		*ret_value = thread_value((uintptr_t)&outside_thread_value -
					  (uintptr_t)__builtin_thread_pointer());
	else if (!strcmp(sym->name, "outside_weak"))
		ret_value->addr = 0;
	else
		return uspl_fail(err, USPL_E_UNRESOLVED, "'%s' isn't known", sym->name);
	return 0;
}

static char *sample_text(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = fopen("tests/unit/samples/link.c", "r");

	if (!file || getdelim(&text, &len, '\0', file) < 0)
		exit(1);
	fclose(file);
	return text;
}

static void run_sample(const struct link *link, const char *how)
{
	ok(((int (*)(const char *))function(link, "sample_calls"))("abcd") == 5,
	   "%s: a call into a library, and new data", how);
	outside_value = 5;
	ok(call(link, "sample_data", 2) == 10 + 25 + 2, "%s: old data and common data", how);
	ok(call(link, "sample_switch", 0) == 4 && call(link, "sample_switch", 3) == 15 &&
		   call(link, "sample_switch", 4) == 30 && call(link, "sample_switch", 8) == 5,
	   "%s: a switch, a table of strings", how);
	ok(((void *(*)(void))function(link, "sample_address"))() == (void *)host_function,
	   "%s: a redirected function's address is the original's", how);
	ok(call(link, "replaced", 1) == 1001, "%s: its new code is there all the same", how);
	outside_thread_value = 3;
	ok(call(link, "sample_thread", 4) == 7 && outside_thread_value == 7,
	   "%s: a thread-local variable", how);
	ok(call(link, "sample_weak", 0) == -7, "%s: a weak symbol that nobody defines", how);
}

/* The symbol of that name by the header in front of the code that lies at base. */
static const Elf64_Sym *symbol_by_header(const uint8_t *base, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *parts = (const Elf64_Phdr *)(base + header->e_phoff);
	const Elf64_Dyn *tag = (const Elf64_Dyn *)(base + parts[1].p_vaddr);
	const Elf64_Sym *symbols = NULL;
	const uint32_t *hash = NULL;
	const char *names = NULL;

	for (; tag->d_tag != DT_NULL; tag++) {
		if (tag->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)(base + tag->d_un.d_ptr);
		if (tag->d_tag == DT_HASH)
			hash = (const uint32_t *)(base + tag->d_un.d_ptr);
		if (tag->d_tag == DT_STRTAB)
			names = (const char *)base + tag->d_un.d_ptr;
	}
	for (uint32_t i = hash[2]; i; i = hash[2 + hash[0] + i])
		if (i < hash[1] && !strcmp(names + symbols[i].st_name, name))
			return &symbols[i];
	return NULL;
}

/* What reads core dumps finds functions and their frames from the beginning of the code on. */
static void expect_header(const struct link *link, const char *how)
{
	const uint8_t *text = (const uint8_t *)(uintptr_t)link->base;
	const Elf64_Sym *sym = symbol_by_header(text, "sample_switch");
	Elf *elf = elf_memory((char *)(uintptr_t)text, link->len);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	Dwarf_Frame *frame = NULL;

	ok(sym && sym->st_size && text + sym->st_value == function(link, "sample_switch"),
	   "%s: the header knows a function", how);
	ok(!symbol_by_header(text, "sample_word"), "%s: and no variable", how);
	ok(cfi && sym && !dwarf_cfi_addrframe(cfi, sym->st_value + sym->st_size - 1, &frame),
	   "%s: libdw finds the function's frame by it", how);
	free(frame);
	dwarf_cfi_end(cfi);
	elf_end(elf);
}

static void test_run(const char *command, const char *how, taddr base)
{
	auto_free char *text = sample_text();
	auto_objfile struct objfile *obj = object(command, text);
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	struct values values = { .redirect = true,
				 .outside_addr = (taddr)(uintptr_t)&outside_value };

	ok(link_layout(obj, arch_native(), NULL, &link, &err) == 0, "%s: laid out", how);
	if (!link) {
		printf("# %s\n", err.msg);
		return;
	}
	ok(link->segs[LINK_TEXT].len && link->segs[LINK_RODATA].len && link->segs[LINK_DATA].len &&
		   link->len % 4096 == 0,
	   "%s: three segments of whole pages", how);
	ok(link->eh_frame_len > 4, "%s: call frame information", how);
	ok(link_relocate(link, base, value_of, &values, &err) == 0, "%s: relocated", how);
	ok(!err.code && load(link), "%s: loaded%s%s", how, err.code ? ": " : "", err.msg);
	if (!err.code) {
		run_sample(link, how);
		expect_header(link, how);
	}
	munmap((void *)(uintptr_t)base, link->len);
	ok(values.redirected_seen > 0, "%s: the caller was asked about defined symbols", how);
}

/* A function for each register that reads a variable into it by one instruction, wide or not. */
static char *readers_text(const char *const *regs, size_t n)
{
	auto_buf struct buf text = { 0 };

	for (size_t i = 0; i < n; i++)
		buf_addf(&text,
			 "__asm__(\".globl read_%s\\n.type read_%s, @function\\n"
			 "read_%s: push %%%s\\nstc\\nmov outside_value(%%rip), %%%s\\n"
			 "mov %%%s, %%rax\\npop %%%s\\njnc 1f\\nret\\n"
			 "1: ud2\\n.size read_%s, .-read_%s\");\n",
			 regs[i], regs[i], regs[i], regs[i], regs[i], regs[i],
			 strcmp(regs[i], "rax") ? regs[i] : "rdx", regs[i], regs[i]);
	return buf_take(&text);
}

static void test_detours(void)
{
	static const char *const regs[] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
					    "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };
	auto_free char *text = readers_text(regs, ARRAY_SIZE(regs));
	auto_objfile struct objfile *obj = object("gcc", text);
	auto_link struct link *link = NULL;
	struct values values = { .outside_addr = (taddr)(uintptr_t)&outside_values };
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	outside_values = 0x1122334455667788;
	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &values, &err);
	ok(rc == 0 && load(link), "reads of a variable out of reach are linked (%s)", err.msg);
	for (size_t i = 0; !rc && i < ARRAY_SIZE(regs); i++) {
		char name[16];

		snprintf(name, sizeof(name), "read_%s", regs[i]);
		ok(((int64_t(*)(void))function(link, name))() == outside_values,
		   "through %%%s, and the flags stay", regs[i]);
	}
	if (!rc)
		munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

static void test_detours_of_c(const char *command)
{
	auto_objfile struct objfile *obj =
		object(command, "extern int outside_value __attribute__((visibility(\"hidden\")));"
				"int get(int n) { return outside_value + n; }"
				"int *where(void) { return &outside_value; }"
				"int put(int n) { outside_value = n; outside_value <<= 1;"
				" return outside_value == 8 ? n + outside_value : -1; }");
	auto_link struct link *link = NULL;
	struct values values = { .outside_addr = (taddr)(uintptr_t)&outside_value };
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	outside_value = 41;
	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &values, &err);
	ok(rc == 0 && load(link), "%s: reads out of reach are linked (%s)", command, err.msg);
	if (rc)
		return;
	ok(call(link, "get", 1) == 42, "%s: the value", command);
	ok(((int *(*)(void))function(link, "where"))() == &outside_value, "%s: the address",
	   command);
	ok(call(link, "put", 4) == 12 && outside_value == 8, "%s: written and computed with",
	   command);
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

/* What isn't position independent has addresses of 32 bits in its instructions. */
static void test_detours_of_addresses(void)
{
	auto_objfile struct objfile *obj =
		object("gcc -O2 -fno-pic -fno-asynchronous-unwind-tables",
		       "extern int outside_value; int *kept;"
		       "int *where(void) { return &outside_value + 1; }"
		       "int is_it(int *p) { return p == &outside_value; }");
	auto_link struct link *link = NULL;
	struct values values = { .outside_addr = (taddr)(uintptr_t)&outside_value };
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &values, &err);
	ok(rc == 0 && load(link), "addresses of 32 bits are linked (%s)", err.msg);
	if (rc)
		return;
	ok(((int *(*)(void))function(link, "where"))() == &outside_value + 1, "an address");
	ok(((int (*)(int *))function(link, "is_it"))(&outside_value) == 1 &&
		   ((int (*)(int *))function(link, "is_it"))(NULL) == 0,
	   "compared");
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

/* An instruction with two relocations, of which the first takes it through a detour. */
static void test_detour_of_two(void)
{
	auto_objfile struct objfile *obj =
		object("gcc",
		       "char word[77]; __asm__(\".text; .globl set; .type set, @function; set: "
		       "movl $word@SIZE, outside_value(%rip); ret; .size set, .-set\");");
	auto_link struct link *link = NULL;
	struct values values = { .outside_addr = (taddr)(uintptr_t)&outside_values };
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	outside_values = 0;
	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &values, &err);
	ok(rc == 0 && load(link), "an instruction with two relocations is linked (%s)", err.msg);
	if (rc)
		return;
	call(link, "set", 0);
	ok(outside_values == 77, "both have their values");
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

/*
 * They say what they find: the carry flag, an argument, and what a caller that jumps had below its
 * stack.
 */
extern const char outside_landing[], outside_callee[];
__asm__(".pushsection .text\n"
	"outside_landing: setc %al; movzbl %al, %eax; add %rdi, %rax; add -16(%rsp), %rax; ret\n"
	"outside_callee: setc %al; movzbl %al, %eax; add %rdi, %rax; ret\n"
	".popsection");

#define FAR_CODE(name, code)                                                                       \
	"__asm__(\".globl " name "; .type " name ", @function; " name ": "                         \
	"movq $100, -16(%rsp); stc; " code "; .size " name ", .-" name "\");\n"

static const char branches[] = FAR_CODE("jump", "jmp *outside_value(%rip)") FAR_CODE(
	"jump_table", "jmp *outside_value-24(,%rdi,8)")
	FAR_CODE("calls", "call *outside_value(%rip); dec %rax; ret") FAR_CODE(
		"call_table", "mov $1, %eax; call *outside_value-8(,%rax,8); dec %rax; ret")
		FAR_CODE("pushes",
			 "push outside_value(%rip); pop %rax; setc %dil; add -16(%rsp), %rdi;"
			 "add %rdi, %rax; ret")
			FAR_CODE("push_address", "push $outside_value; pop %rax; ret");

static void run_branches(const struct link *link)
{
	int64_t (*push_address)(void) = function(link, "push_address");

	outside_values = (int64_t)(uintptr_t)outside_landing;
	ok(call(link, "jump", 3) == 104, "a jump; flags and red zone stay");
	ok(call(link, "jump_table", 3) == 104, "one through a table");
	outside_values = (int64_t)(uintptr_t)outside_callee;
	ok(call(link, "calls", 3) == 3, "a call, and what follows it");
	ok(call(link, "call_table", 3) == 3, "one through a table");
	outside_values = 1000;
	ok(call(link, "pushes", 0) == 1101, "a push; flags and red zone stay");
	ok(push_address() == (int64_t)(uintptr_t)&outside_values, "a push of an address");
}

static void test_detours_that_branch(void)
{
	auto_objfile struct objfile *obj = object("gcc", branches);
	auto_link struct link *link = NULL;
	struct values values = { .outside_addr = (taddr)(uintptr_t)&outside_values };
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &values, &err);
	ok(rc == 0 && load(link), "branches through a variable out of reach are linked (%s)",
	   err.msg);
	if (rc)
		return;
	run_branches(link);
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

/* What the dynamic linker's functions look at; and whether its stack is aligned as a call's is. */
static bool looked_aligned;
static void *look(void)
{
	looked_aligned = ((uintptr_t)__builtin_frame_address(0) & 15) == 0;
	return __builtin_return_address(0);
}

/* A function that ends as the search wants it, between others that nearly do. */
extern const uint8_t places[], place[], places_end[];
__asm__(".pushsection .text\n"
	"places: add $8, %rsp; ret\n"
	"call 1f; pop %rbx; ret\n"
	"call 1f; add $16, %rsp; ret\n"
	"1: sub $8, %rsp; call 1b\n"
	"place: add $8, %rsp; ret\n"
	"places_end:\n"
	".popsection");

static int look_value(void *ctx, const struct objsym *sym, bool redirected,
		      struct symbol_value *ret_value, struct uspl_err *err)
{
	(void)ctx;
	(void)err;
	if (!redirected)
		ret_value->addr = strcmp(sym->name, "other") ? (taddr)(uintptr_t)look
							     : (taddr)(uintptr_t)host_function;
	return 0;
}

static void test_callers(const char *command)
{
	auto_objfile struct objfile *obj =
		object(command,
		       "void *dlsym(void); int other(int); void *asks(void); int twice(int);"
		       "void *asks(void) { void *a = dlsym(); return a == dlsym() ? a : 0; }"
		       "int twice(int n) { return other(n) + other(n); }");
	size_t size = (size_t)(places_end - places), len = 0;
	ssize_t at = arch_native()->return_place(places, size, &len);
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	ok(at == place - places && len == (size_t)(places_end - place),
	   "%s: the place where a function ends behind a call", command);
	ok(!rc && link->asks_caller && !strcmp(link->asks_caller, "dlsym"),
	   "%s: what looks at its caller is known by its name", command);
	if (rc)
		return;
	link->return_place = (taddr)(uintptr_t)place;
	rc = link_relocate(link, FAR_BASE, look_value, NULL, &err);
	ok(rc == 0 && load(link), "%s: linked and loaded (%s)", command, err.msg);
	if (rc)
		return;
	ok(((void *(*)(void))function(link, "asks"))() == (const void *)place && looked_aligned,
	   "%s: it returns to that place, twice, with its stack aligned", command);
	ok(call(link, "twice", 3) == 8, "%s: another function isn't led there", command);
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

static void test_out_of_reach(void)
{
	auto_objfile struct objfile *obj =
		object("gcc", "__asm__(\"mov %rsp, outside_value(%rip)\");");
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };

	ok(link_layout(obj, arch_native(), NULL, &link, &err) == 0 &&
		   link_relocate(link, FAR_BASE, value_of,
				 &(struct values){ .outside_addr = 0x1000 },
				 &err) == -USPL_E_OUT_OF_REACH,
	   "what has the stack pointer in it and is out of reach is refused");
	ok(strstr(err.msg, "'outside_value'"), "by its name");
	printf("# %s\n", err.msg);
}

static void refuses(const char *command, const char *text, enum uspl_code code, const char *word)
{
	auto_objfile struct objfile *obj = object(command, text);
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	int rc = link_layout(obj, arch_native(), NULL, &link, &err);

	if (!rc)
		rc = link_relocate(link, FAR_BASE, value_of, &(struct values){ 0 }, &err);
	ok(rc == -(int)code && strstr(err.msg, word), "refused: %s", err.msg);
}

static void test_refusals(void)
{
	refuses("gcc", "__attribute__((constructor)) void f(void) { }", USPL_E_UNSUPPORTED,
		"constructor");
	refuses("gcc", "extern int unheard_of; int f(void) { return unheard_of; }",
		USPL_E_UNRESOLVED, "'unheard_of'");
	refuses("gcc", "char big[4096] __attribute__((aligned(65536)));", USPL_E_UNSUPPORTED,
		"alignment");
	refuses("gcc -mcmodel=medium", "char big[1ul << 33];", USPL_E_HOSTILE, "MB");
}

int main(void)
{
	taddr near = ((taddr)(uintptr_t)&outside_value + (1ull << 30)) & ~4095ull;

	test_run("gcc -O2 -fcommon -fPIE -ftls-model=initial-exec", "near", near);
	test_run("gcc -O0 -fcommon -fPIE -ftls-model=local-exec", "near, -O0", near);
	test_run("gcc -O2 -fcommon -fPIC -fno-plt -ftls-model=initial-exec", "far", FAR_BASE);
	test_run("gcc -O2 -fcommon -fPIC -ftls-model=initial-exec -ffunction-sections "
		 "-fdata-sections",
		 "far, stubs", FAR_BASE);
	test_detours();
	test_detours_of_c("gcc -O0 -fPIE");
	test_detours_of_c("gcc -O2 -fPIE");
	test_detours_of_addresses();
	test_detours_that_branch();
	test_detour_of_two();
	test_callers("gcc -O2");
	test_callers("gcc -O2 -fPIC -fno-plt");
	test_callers("gcc -O0 -fno-pie");
	test_out_of_reach();
	test_refusals();
	compile_rmdir();
	return tap_done();
}
