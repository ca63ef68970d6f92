// SPDX-License-Identifier: GPL-3.0-or-later
// program.c - a user's probe in C: compiled, checked, and ready to be linked into the target
/*
 * What is loaded stands on its own: all that it refers to is in it. Nothing is both written and
 * run. How much stack it takes is the longest way through its calls, which must not lead back to
 * where they were.
 *
 *     text    constants; behind them a copy of the code, made such that it ends (bounded_encode)
 *     data    two words that the copy counts in; behind them the program's variables
 *
 * The code itself is linked for a place where nothing of all that lies, and not loaded.
 */

#include "trace/cmd/program.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/probe_code.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#define ENTRY "uspl_probe"
#define STACK_MAX 1024
#define SIZE_LIMIT (1u << 20)
#define CODE_ALIGN 16
#define COUNTERS (2 * sizeof(uint64_t))
/* Where the code is linked, from the text on: within its reach. */
#define CODE_AWAY 0x40000000ull
/* Where it is linked to be looked at. */
#define TRIAL_TEXT 0x10000000ull
#define TRIAL_DATA 0x20000000ull

/* include/uspl/probe.h: runtime/headers.S */
extern const uint8_t uspl_probe_header_begin[], uspl_probe_header_end[];

enum area { CODE, CONSTANTS, DATA, N_AREAS };

/* Where a section goes. */
struct program_piece {
	bool placed;
	enum area area;
	size_t at;
};

typedef VEC(const struct objsym *) functions;

/* A look at its calls. */
struct look {
	functions functions;
	const uint8_t *code;
	bool *open;       /* functions on the way to the one that is looked at */
	uint64_t *stacks; /* what those take that have been looked at; 0: none of these */
};

static struct program_piece *piece_of(const struct objsec *sec)
{
	return sec ? sec->priv : NULL;
}

/* Why a section can't be loaded; NULL if it can. */
static const char *why_not(const struct objsec *sec)
{
	if ((sec->flags & SHF_WRITE) && (sec->flags & SHF_EXECINSTR))
		return "is both written and run";
	if (sec->flags & SHF_TLS)
		return "is for each thread";
	if (sec->type == SHT_INIT_ARRAY || sec->type == SHT_FINI_ARRAY ||
	    !strncmp(sec->name, ".ctors", 6) || !strncmp(sec->name, ".dtors", 6))
		return "is for before and after main";
	return NULL;
}

static int place(struct program *program, struct objsec *sec, struct uspl_err *err)
{
	struct program_piece *piece = sec->priv;
	size_t *const lens[] = { [CODE] = &program->code_len,
				 [CONSTANTS] = &program->base.entry,
				 [DATA] = &program->base.data_len };
	size_t *len, align = sec->align ? sec->align : 1;

	if (!(sec->flags & SHF_ALLOC) || sec->type == SHT_NOTE || !strncmp(sec->name, ".note", 5) ||
	    !strcmp(sec->name, ".eh_frame"))
		return 0;
	if (why_not(sec))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "its section '%s' %s", sec->name,
				 why_not(sec));
	piece->placed = true;
	piece->area = sec->flags & SHF_WRITE ? DATA : sec->flags & SHF_EXECINSTR ? CODE : CONSTANTS;
	len = lens[piece->area];
	if (align > 4096 || sec->size > SIZE_LIMIT || *len > SIZE_LIMIT)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "it is larger than %u bytes", SIZE_LIMIT);
	*len = (*len + align - 1) & ~(align - 1);
	piece->at = *len;
	*len += sec->size;
	return 0;
}

static int place_all(struct program *program, struct uspl_err *err)
{
	struct objfile *obj = program->obj;
	int rc = 0;

	program->pieces = calloc(obj->secs.n + 1, sizeof(*program->pieces));
	if (!program->pieces)
		return uspl_fail_nomem(err);
	program->base.data_len = COUNTERS;
	for (size_t i = 0; i < obj->secs.n; i++) {
		obj->secs.items[i]->priv = &program->pieces[i];
		rc = place(program, obj->secs.items[i], err);
		if (rc)
			return rc;
	}
	/* The code follows the constants. */
	program->base.entry = (program->base.entry + CODE_ALIGN - 1) & ~(size_t)(CODE_ALIGN - 1);
	return 0;
}

static int link_rel(const struct objsec *sec, const struct objrel *rel, const taddr bases[N_AREAS],
		    uint8_t *field, struct uspl_err *err)
{
	const struct program_piece *from = sec->priv;
	taddr at = bases[from->area] + from->at + rel->offset;
	const struct reloc_info *info = arch_native()->reloc(rel->type);
	const struct program_piece *piece = piece_of(rel->sym->sec);
	taddr value;

	if (!piece || !piece->placed)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "it uses '%s', which it doesn't define: a probe has no C library",
				 rel->sym->name);
	if (piece->area == CODE && (from->area != CODE || info->kind == RELOC_ABS))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' keeps the address of code, which nothing can call by it",
				 sec->name);
	value = bases[piece->area] + piece->at + rel->sym->value + (taddr)rel->addend;
	if (info->kind == RELOC_PCREL || info->kind == RELOC_PLT)
		value -= at;
	else if (info->kind != RELOC_ABS || info->size != sizeof(value))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "it has a relocation %s", info->name);
	return arch_native()->reloc_write(info, field, value, err);
}

static int link_section(const struct objsec *sec, const taddr bases[N_AREAS], uint8_t *to,
			struct uspl_err *err)
{
	const struct objrel *rel;
	int rc;

	if (sec->data)
		memcpy(to, sec->data, sec->size);
	vec_for_each (&sec->rels, rel) {
		uint64_t room = rel->offset <= sec->size ? sec->size - rel->offset : 0;

		if (arch_native()->reloc(rel->type)->kind == RELOC_NONE)
			continue;
		if (room < arch_native()->reloc(rel->type)->size || !sec->data)
			return uspl_fail(err, USPL_E_FILE, "a relocation lies outside '%s'",
					 sec->name);
		rc = link_rel(sec, rel, bases, to + rel->offset, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* All sections, for these places. */
static int link_all(const struct program *program, const taddr bases[N_AREAS],
		    uint8_t *const to[N_AREAS], struct uspl_err *err)
{
	for (size_t i = 0; i < program->obj->secs.n; i++) {
		const struct objsec *sec = program->obj->secs.items[i];
		const struct program_piece *piece = sec->priv;
		int rc;

		if (!piece->placed)
			continue;
		rc = link_section(sec, bases, to[piece->area] + piece->at, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The copy of the code, which is linked for `from`. */
static int encode(const struct program *program, const uint8_t *code, taddr from, taddr to,
		  taddr data, struct buf *out, struct uspl_err *err)
{
	const struct bounded_program bounded = { .from = from,
						 .code = code,
						 .len = program->code_len,
						 .functions = program->functions.items,
						 .n_functions = program->functions.n,
						 .entry = program->entry,
						 .to = to,
						 .counters = data };

	return bounded_encode(&bounded, out, err);
}

static int link_program(const struct mark_program *base, taddr text, taddr data, uint8_t *ret_text,
			uint8_t *ret_data, struct uspl_err *err)
{
	const struct program *program = (const struct program *)base;
	auto_free uint8_t *code = calloc(1, program->code_len + 1);
	const taddr bases[] = { text + CODE_AWAY, text, data };
	uint8_t *const to[] = { code, ret_text, ret_data };
	auto_buf struct buf out = { 0 };
	int rc;

	if (!code)
		return uspl_fail_nomem(err);
	rc = link_all(program, bases, to, err);
	if (rc)
		return rc;
	rc = encode(program, code, bases[CODE], text + base->entry, data, &out, err);
	if (rc)
		return rc;
	if (out.len != base->text_len - base->entry)
		return uspl_fail(err, USPL_E_BUG, "a program changes its length");
	memcpy(ret_text + base->entry, out.data, out.len);
	return 0;
}

static size_t start_of(const struct objsym *sym)
{
	return piece_of(sym->sec)->at + sym->value;
}

static int find_functions(struct program *program, functions *ret, struct uspl_err *err)
{
	const struct objsym *entry = objfile_symbol(program->obj, ENTRY);

	for (size_t i = 0; i < program->obj->syms.n; i++) {
		const struct objsym *sym = program->obj->syms.items[i];
		const struct objsym **slot;

		if (sym->type != STT_FUNC || !sym->sec || !piece_of(sym->sec)->placed ||
		    piece_of(sym->sec)->area != CODE)
			continue;
		if (sym->value > sym->sec->size || sym->size > sym->sec->size - sym->value)
			return uspl_fail(err, USPL_E_FILE, "'%s' lies outside its section",
					 sym->name);
		slot = vec_push(ret);
		if (!slot)
			return uspl_fail_nomem(err);
		*slot = sym;
	}
	if (!entry || entry->type != STT_FUNC || !entry->sec || !objsec_is_code(entry->sec))
		return uspl_fail(err, USPL_E_UNSUPPORTED, "it has no function '%s'", ENTRY);
	program->entry = start_of(entry);
	return 0;
}

static int measure(struct look *look, size_t i, uint64_t *ret_stack, struct uspl_err *err);

/* What a call or jump to `to` takes in addition. */
static int measure_callee(struct look *look, size_t to, uint64_t *deepest, struct uspl_err *err)
{
	for (size_t i = 0; i < look->functions.n; i++) {
		size_t start = start_of(look->functions.items[i]);
		uint64_t stack = 0;
		int rc;

		if (to < start || to - start >= look->functions.items[i]->size)
			continue;
		rc = measure(look, i, &stack, err);
		if (rc)
			return rc;
		if (stack > *deepest)
			*deepest = stack;
		return 0;
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED, "it calls what is no function of its own");
}

/* How much stack a function takes with all that it calls. */
static int measure(struct look *look, size_t i, uint64_t *ret_stack, struct uspl_err *err)
{
	const struct objsym *sym = look->functions.items[i];
	size_t start = start_of(sym), at = 0;
	uint64_t own, deepest = 0;
	struct insn insn;
	int rc;

	*ret_stack = look->stacks[i];
	if (look->stacks[i])
		return 0;
	if (look->open[i])
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' calls itself: how much stack it takes can't be told",
				 sym->name);
	look->open[i] = true;
	rc = confined_check(look->code + start, sym->size, &own, err);
	if (rc) {
		uspl_context(err, "'%s'", sym->name);
		return rc;
	}
	while (at < sym->size &&
	       arch_native()->insn_decode(look->code + start + at, sym->size - at, &insn)) {
		size_t to = start + at + insn.len + (size_t)insn.rel;

		at += insn.len;
		if (insn.flow == INSN_CALL || (insn.rel_size && to - start >= sym->size)) {
			rc = measure_callee(look, to, &deepest, err);
			if (rc)
				return rc;
		}
	}
	look->open[i] = false;
	*ret_stack = look->stacks[i] = own + deepest;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct bounded_function *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The places of the functions that may be called, each once: several names may be of one. */
static int choose_functions(struct program *program, const struct look *look, struct uspl_err *err)
{
	struct bounded_function *items;
	size_t n = 0;

	for (size_t i = 0; i < look->functions.n; i++) {
		const struct objsym *sym = look->functions.items[i];
		struct bounded_function *function;

		if (!look->stacks[i])
			continue;
		function = vec_push(&program->functions);
		if (!function)
			return uspl_fail_nomem(err);
		*function = (struct bounded_function){ start_of(sym), sym->size };
	}
	items = program->functions.items;
	qsort(items, program->functions.n, sizeof(*items), by_start);
	for (size_t i = 0; i < program->functions.n; i++) {
		if (n && items[n - 1].at == items[i].at && items[n - 1].len == items[i].len)
			continue;
		if (n && items[i].at - items[n - 1].at < items[n - 1].len)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "it has functions that lie within others");
		items[n++] = items[i];
	}
	program->functions.n = n;
	return 0;
}

static int check(struct program *program, struct uspl_err *err)
{
	auto_free uint8_t *code = calloc(1, program->code_len + 1);
	auto_free uint8_t *constants = calloc(1, program->base.entry + 1);
	auto_free uint8_t *data = calloc(1, program->base.data_len + 1);
	const taddr bases[] = { TRIAL_TEXT + CODE_AWAY, TRIAL_TEXT, TRIAL_DATA };
	uint8_t *const to[] = { code, constants, data };
	auto_free bool *open = NULL;
	auto_free uint64_t *stacks = NULL;
	auto_vec functions found = { 0 };
	struct look look = { .code = code };
	auto_buf struct buf out = { 0 };
	uint64_t stack = 0;
	int rc;

	if (!code || !constants || !data)
		return uspl_fail_nomem(err);
	rc = find_functions(program, &found, err);
	if (rc)
		return rc;
	rc = link_all(program, bases, to, err);
	if (rc)
		return rc;
	open = calloc(found.n + 1, sizeof(*open));
	stacks = calloc(found.n + 1, sizeof(*stacks));
	if (!open || !stacks)
		return uspl_fail_nomem(err);
	look.functions = found;
	look.open = open;
	look.stacks = stacks;
	rc = measure_callee(&look, program->entry, &stack, err);
	if (rc)
		return rc;
	if (stack > STACK_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "it takes %" PRIu64 " bytes of stack, more than %d", stack,
				 STACK_MAX);
	rc = choose_functions(program, &look, err);
	if (rc)
		return rc;
	rc = encode(program, code, bases[CODE], TRIAL_TEXT + program->base.entry, TRIAL_DATA, &out,
		    err);
	if (rc)
		return rc;
	program->base.text_len = program->base.entry + out.len;
	return 0;
}

static int run(const char *const *argv, struct uspl_err *err)
{
	pid_t pid;
	int status, rc = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);

	if (rc) {
		errno = rc;
		return uspl_fail_errno(err, "cannot run '%s'", argv[0]);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for '%s'", argv[0]);
	return status ? uspl_fail(err, USPL_E_BUILD, "'%s' fails", argv[0]) : 0;
}

static int compile(const char *path, const char *folder, const char *object, struct uspl_err *err)
{
	auto_free char *include = NULL;
	const char *cc = getenv("CC");

	if (asprintf(&include, "-I%s", folder) < 0)
		return uspl_fail_nomem(err);
	return run((const char *const[]){ cc && *cc ? cc : "cc", "-std=gnu11", "-O2", "-Wall",
					  "-fPIE", "-fvisibility=hidden", "-ffreestanding",
					  "-fno-stack-protector", "-fno-jump-tables",
					  "-fcf-protection=none", "-fno-asynchronous-unwind-tables",
					  "-mgeneral-regs-only", include, "-c", "-o", object, path,
					  NULL },
		   err);
}

/* The header in a folder of its own, and the object beside it. */
static int compile_in(const char *path, const char *folder, struct objfile **ret,
		      struct uspl_err *err)
{
	auto_free char *headers = file_join(folder, "uspl"), *object = file_join(folder, "probe.o");
	auto_free char *header = headers ? file_join(headers, "probe.h") : NULL;
	int rc;

	if (!header || !object)
		return uspl_fail_nomem(err);
	rc = file_mkdirs(headers, err);
	if (rc)
		return rc;
	rc = file_write(header, uspl_probe_header_begin,
			(size_t)(uspl_probe_header_end - uspl_probe_header_begin), err);
	if (rc)
		return rc;
	rc = compile(path, folder, object, err);
	if (rc)
		return rc;
	return objfile_read(object, ret, err);
}

static int compile_and_read(const char *path, struct objfile **ret, struct uspl_err *err)
{
	auto_free char *folder = NULL;
	int rc = file_make_temporary("uspl-probe-", &folder, err);

	if (rc)
		return rc;
	rc = compile_in(path, folder, ret, err);
	if (file_remove_tree(folder, NULL))
		log_info("probe", "'%s' stays", folder);
	return rc;
}

static int read_and_check(const char *path, struct program *ret, struct uspl_err *err)
{
	int rc;

	if (text_ends_with(path, ".c"))
		rc = compile_and_read(path, &ret->obj, err);
	else
		rc = objfile_read(path, &ret->obj, err);
	if (rc)
		return rc;
	rc = place_all(ret, err);
	if (rc)
		return rc;
	return check(ret, err);
}

int program_open(const char *path, struct program *ret, struct uspl_err *err)
{
	int rc;

	*ret = (struct program){ .base.link = link_program };
	rc = read_and_check(path, ret, err);
	if (rc)
		uspl_context(err, "cannot use '%s'", path);
	return rc;
}

void program_release(struct program *program)
{
	vec_release(&program->functions);
	free(program->pieces);
	objfile_free(program->obj);
}
