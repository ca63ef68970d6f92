// SPDX-License-Identifier: GPL-3.0-or-later
// debug_link_fuzz.c - debugging information that is put together as the bytes say, linked
/*
 * As in link_fuzz.c the graph itself is made. The process's record names the functions of the
 * object where they lie, since without that nothing is linked; its memory is the bytes'.
 */

#include "link/link.h"
#include "tests/fuzz/target.h"
#include "objfile/refname.h"
#include "view/debug_link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECS_MAX = 8, SYMS_MAX = 8, RELS_MAX = 24, SEC_MAX = 64 };

static void make_section(struct input *in, struct objfile *obj)
{
	static const struct {
		const char *name;
		uint64_t flags;
	} kinds[] = {
		{ ".text.f", SHF_ALLOC | SHF_EXECINSTR },
		{ ".rodata", SHF_ALLOC },
		{ ".data", SHF_ALLOC | SHF_WRITE },
		{ ".tbss", SHF_ALLOC | SHF_WRITE | SHF_TLS },
		{ ".debug_info", 0 },
		{ ".debug_str", 0 },
		{ ".debug_line_str", SHF_COMPRESSED },
		{ ".debug_line_str", 0 },
		{ ".debug_ranges", 0 },
		{ ".comment", 0 },
	};
	const size_t kind = input_below(in, ARRAY_SIZE(kinds));
	struct objsec *sec =
		objfile_add_section(obj, kinds[kind].name, SHT_PROGBITS, kinds[kind].flags);
	uint8_t bytes[SEC_MAX] = "/tree/src";

	if (!sec)
		abort();
	sec->align = 1;
	sec->size = input_below(in, SEC_MAX + 1);
	if (input_below(in, 2))
		input_take(in, bytes, sec->size);
	sec->data = objfile_memdup(obj, bytes, sec->size);
}

static void make_symbol(struct input *in, struct objfile *obj)
{
	static const char *const names[] = { "f", "a.c:f", "variable", "" };
	static const uint16_t places[] = { SHN_UNDEF, SHN_ABS, SHN_COMMON };
	struct objsym *sym =
		objfile_add_symbol(obj, names[input_below(in, ARRAY_SIZE(names))],
				   input_below(in, 2) ? STT_FUNC : STT_NOTYPE, STB_GLOBAL);
	size_t sec = input_below(in, obj->secs.n + ARRAY_SIZE(places));

	if (!sym)
		abort();
	sym->value = input_number(in, 1);
	if (sec < obj->secs.n)
		sym->sec = obj->secs.items[sec];
	else
		sym->shndx = places[sec - obj->secs.n];
	sym->shndx = sym->sec ? 1 : sym->shndx;
	if (sym->sec && sym->value > sym->sec->size)
		sym->value = 0;
}

static void make_relocation(struct input *in, struct objfile *obj)
{
	struct objsec *sec = obj->secs.items[input_below(in, obj->secs.n)];
	struct objrel *rel = vec_push(&sec->rels);

	if (!rel)
		abort();
	rel->type = (uint32_t)input_below(in, 46);
	rel->offset = input_number(in, 1);
	rel->sym = input_below(in, 8) ? obj->syms.items[input_below(in, obj->syms.n)] : NULL;
	rel->addend = (int64_t)input_number(in, input_below(in, 2) ? 1 : 8);
}

/* The record of a process that has the object's code. */
static void describe(const struct objfile *obj, struct region *region)
{
	const taddr segs[LINK_N_SEGS] = { TARGET_STEP, TARGET_STEP + PAGE, TARGET_STEP * 2 };
	auto_link struct link *link = NULL;

	region->text = segs[LINK_TEXT];
	region->text_len = PAGE;
	region->data = segs[LINK_DATA];
	region->detours = TARGET_STEP * 3;
	if (link_layout(obj, arch_native(), NULL, &link, NULL))
		return;
	link_lies_at(link, segs);
	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];

		if (sym->type == STT_FUNC && sym->sec && objsec_is_code(sym->sec) &&
		    region_range_add(&region->names, refname_symbol(sym->name),
				     link_address(link, sym), sym->size, NULL))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct proc *proc = target_new();
	struct objfile *obj = objfile_new("fuzz");
	struct debug_file file = { .tree = (char[]){ "/tree" } };
	struct debug_link debug = { 0 };
	struct region region = { 0 };
	bool fits = false;
	size_t n;
	int rc;

	if (!obj || !vec_push(&file.targets))
		abort();
	file.targets.items[0] = obj;
	for (n = 1 + input_below(&in, SECS_MAX); n; n--)
		make_section(&in, obj);
	for (n = 1 + input_below(&in, SYMS_MAX); n; n--)
		make_symbol(&in, obj);
	for (n = input_below(&in, RELS_MAX); n; n--)
		make_relocation(&in, obj);
	for (size_t i = 0; i < obj->secs.n; i++)
		objsec_sort_rels(obj->secs.items[i]);
	for (size_t i = 0; i < 4; i++)
		target_map(proc, &in, i);
	describe(obj, &region);
	rc = debug_link_add(&debug, proc, &region, &file, "/elsewhere", &fits, NULL);
	/* Of a file that is refused nothing is taken. */
	for (n = 0; n < debug.sections.n; n++)
		if (rc && debug.sections.items[n].bytes.len)
			abort();
	if (rc && fits)
		abort();
	debug_link_release(&debug);
	region_release(&region);
	file.tree = NULL;
	debug_file_release(&file);
	proc_free(proc);
	return 0;
}
