// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * debug_link.c - the debugging information of a process's new code, linked for where that lies
 *
 * A target of a debug file is a copy of the object that was loaded. Its sections lie where the
 * linker lays them out; that they do is seen from the functions that the process's record names,
 * which must be the same ones, at these addresses. Variables of the program are where the code in
 * memory looks for them: it was linked with their addresses, which its relocations show. What no
 * code refers to has none, as a variable that a linker has left out; debuggers take it from the
 * program's own information.
 *
 * Sections of one name are put together, one behind the other, of all updates of a process. Where
 * sources are to be looked for elsewhere, a reference to the name of a folder in the tree becomes
 * one to another name, which is appended.
 */

#include "view/debug_link.h"

#include <string.h>

#include "arch/arch.h"
#include "link/link.h"
#include "record/detours.h"
#include "objfile/refname.h"

/* What is known of a symbol that the object doesn't define. */
struct value {
	enum { VALUE_UNKNOWN, VALUE_FOUND, VALUE_CONTRADICTED } state;
	uint64_t addr;
};

/* A name in a section of names that another one stands for. */
struct renamed {
	const struct objsec *sec;
	uint64_t offset, instead; /* in that section, and in the result */
};

/* One target, for one region. */
struct linking {
	const struct proc *proc;
	const struct region *region;
	struct link *link;
	const struct objfile *obj;
	struct value *values;       /* by the symbol's mark, which is link_layout's */
	const char *tree, *sources; /* what one is to become the other; NULL: nothing is */
	VEC(struct renamed) renamed;
	struct uspl_err *err;
};

/* Are these the functions that the record names, in the same order, where they would lie? */
static bool fits(const struct linking *linking)
{
	const struct region_range *name = linking->region->names.items;
	size_t n = 0;

	for (size_t i = 0; i < linking->obj->syms.n; i++) {
		const struct objsym *sym = linking->obj->syms.items[i];

		if (!objsym_is_function(sym))
			continue;
		if (n == linking->region->names.n ||
		    strcmp(name[n].name, refname_symbol(sym->name)) != 0 ||
		    name[n].size != sym->size || name[n].addr != link_address(linking->link, sym))
			return false;
		n++;
	}
	return n && n == linking->region->names.n;
}

/* True if the instruction with that field was made a jump to a detour. */
static bool is_detoured(const struct uspl_detour *detours, uint64_t n, taddr field)
{
	for (uint64_t i = 0; i < n; i++)
		if (field - detours[i].addr < detours[i].insn_len)
			return true;
	return false;
}

/* What the loaded code has for the symbol of a relocation; false: that can't be told from it. */
static bool read_value(const struct linking *linking, const struct objrel *rel, taddr place,
		       uint64_t *ret)
{
	const struct reloc_info *info = arch_native()->reloc(rel->type);
	bool is_distance = info->kind == RELOC_PCREL || info->kind == RELOC_GOTPCREL;
	uint64_t wide = 0;
	int32_t narrow = 0;

	if (info->kind == RELOC_ABS && info->size == sizeof(wide)) {
		if (proc_read_some(linking->proc, place, &wide, sizeof(wide)) != sizeof(wide))
			return false;
		*ret = wide - (uint64_t)rel->addend;
		return true;
	}
	if ((!is_distance && info->kind != RELOC_ABS) || info->size != sizeof(narrow) ||
	    proc_read_some(linking->proc, place, &narrow, sizeof(narrow)) != sizeof(narrow))
		return false;
	*ret = (info->is_signed ? (uint64_t)narrow : (uint32_t)narrow) - (uint64_t)rel->addend;
	if (is_distance)
		*ret += place;
	if (info->kind != RELOC_GOTPCREL)
		return true;
	/* That was the slot, which has the address. */
	if (proc_read_some(linking->proc, *ret, &wide, sizeof(wide)) != sizeof(wide))
		return false;
	*ret = wide;
	return true;
}

/* Finds what the symbols that the object doesn't define mean in the process. */
static void find_values(const struct linking *linking, const struct uspl_detour *detours,
			uint64_t n_detours)
{
	for (size_t i = 0; i < linking->obj->secs.n; i++) {
		const struct objsec *sec = linking->obj->secs.items[i];
		const struct objrel *rel;

		/* What may be written may hold something else by now. */
		if (!(sec->flags & SHF_ALLOC) || (sec->flags & SHF_WRITE))
			continue;
		vec_for_each (&sec->rels, rel) {
			/* Where the field of the loaded code lies. */
			const struct objsym begin = { .sec = (struct objsec *)sec,
						      .value = rel->offset };
			taddr place = link_address(linking->link, &begin);
			struct value *value = rel->sym ? &linking->values[rel->sym->mark] : NULL;
			uint64_t addr;

			if (!value || rel->sym->sec || rel->sym->shndx != SHN_UNDEF ||
			    is_detoured(detours, n_detours, place) ||
			    !read_value(linking, rel, place, &addr))
				continue;
			if (value->state == VALUE_UNKNOWN)
				*value = (struct value){ VALUE_FOUND, addr };
			else if (value->addr != addr)
				value->state = VALUE_CONTRADICTED;
		}
	}
}

static int read_values(const struct linking *linking)
{
	auto_free struct uspl_detour *detours = NULL;
	struct uspl_detours head = { 0 };
	taddr at = linking->region->detours;

	if (at && (proc_read_some(linking->proc, at, &head, sizeof(head)) != sizeof(head) ||
		   head.n > DETOURS_MAX))
		return 0;
	detours = calloc(head.n + 1, sizeof(*detours));
	if (!detours)
		return uspl_fail_nomem(linking->err);
	if (proc_read_some(linking->proc, at + sizeof(head), detours, head.n * sizeof(*detours)) ==
	    head.n * sizeof(*detours))
		find_values(linking, detours, head.n);
	return 0;
}

static struct debug_section *section_named(struct debug_link *debug, const char *name)
{
	struct debug_section *section;

	vec_for_each (&debug->sections, section)
		if (!strcmp(section->name, name))
			return section;
	section = vec_push(&debug->sections);
	if (!section)
		return NULL;
	section->name = strdup(name);
	return section->name ? section : NULL;
}

/*
 * The place of a name in the result: that of the name which is there or, for a folder of the tree,
 * of another one.
 */
static uint64_t name_place(struct linking *linking, struct debug_link *debug,
			   const struct objsec *sec, uint64_t offset)
{
	size_t len = linking->tree ? strlen(linking->tree) : 0;
	struct debug_section *section;
	struct renamed *renamed;
	const char *name;

	if (!len || offset >= sec->size || sec->data[sec->size - 1])
		return sec->mark + offset;
	name = (const char *)sec->data + offset;
	if (strncmp(name, linking->tree, len) != 0 || (name[len] && name[len] != '/'))
		return sec->mark + offset;
	vec_for_each (&linking->renamed, renamed)
		if (renamed->sec == sec && renamed->offset == offset)
			return renamed->instead;
	section = section_named(debug, sec->name);
	renamed = section ? vec_push(&linking->renamed) : NULL;
	if (!renamed)
		return sec->mark + offset;
	*renamed = (struct renamed){ sec, offset, section->bytes.len };
	buf_addstr(&section->bytes, linking->sources);
	buf_add(&section->bytes, name + len, strlen(name + len) + 1);
	return renamed->instead;
}

/*
 * The value that a relocation asks for. The mark of a section of debugging information is its place
 * in the result.
 */
static uint64_t meaning(struct linking *linking, struct debug_link *debug, const struct objrel *rel)
{
	const struct objsym *sym = rel->sym;
	const struct value *value;

	if (sym->sec && sym->sec->data &&
	    (!strcmp(sym->sec->name, ".debug_str") || !strcmp(sym->sec->name, ".debug_line_str")))
		return name_place(linking, debug, sym->sec, sym->value + (uint64_t)rel->addend);
	if (sym->sec && objsec_is_debug(sym->sec))
		return sym->sec->mark + sym->value + (uint64_t)rel->addend;
	if (sym->sec || sym->shndx == SHN_COMMON)
		return link_address(linking->link, sym) + (uint64_t)rel->addend;
	value = &linking->values[sym->mark];
	return value->state == VALUE_FOUND ? value->addr + (uint64_t)rel->addend : 0;
}

static int relocate(struct linking *linking, struct debug_link *debug, const struct objsec *sec)
{
	struct debug_section *section = section_named(debug, sec->name);
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel) {
		const struct reloc_info *info = arch_native()->reloc(rel->type);
		uint64_t value;

		if (info->kind != RELOC_ABS || !rel->sym || info->size > sec->size ||
		    rel->offset > sec->size - info->size ||
		    (rel->sym->sec && !(rel->sym->sec->flags & SHF_ALLOC) &&
		     !objsec_is_debug(rel->sym->sec)))
			return uspl_fail(linking->err, USPL_E_FILE,
					 "'%s' has a relocation that can't be in it", sec->name);
		value = meaning(linking, debug, rel);
		if (info->size < sizeof(value) && value >> (8 * info->size))
			return uspl_fail(linking->err, USPL_E_FILE,
					 "'%s' refers to what lies too far away", sec->name);
		if (section->bytes.oom)
			return uspl_fail_nomem(linking->err);
		memcpy(section->bytes.data + sec->mark + rel->offset, &value, info->size);
	}
	return 0;
}

static bool is_taken(const struct objsec *sec)
{
	return objsec_is_debug(sec) && sec->data && sec->size && !(sec->flags & SHF_COMPRESSED);
}

static int append(struct linking *linking, struct debug_link *debug)
{
	for (size_t i = 0; i < linking->obj->secs.n; i++) {
		struct objsec *sec = linking->obj->secs.items[i];
		struct debug_section *section =
			is_taken(sec) ? section_named(debug, sec->name) : NULL;

		if (!is_taken(sec))
			continue;
		if (!section)
			return uspl_fail_nomem(linking->err);
		if (section->bytes.len + sec->size > UINT32_MAX)
			return uspl_fail(linking->err, USPL_E_UNSUPPORTED,
					 "the process's debugging information has more than 4 GiB");
		sec->mark = (uint32_t)section->bytes.len;
		buf_add(&section->bytes, sec->data, sec->size);
		if (section->bytes.oom)
			return uspl_fail_nomem(linking->err);
	}
	for (size_t i = 0; i < linking->obj->secs.n; i++) {
		const struct objsec *sec = linking->obj->secs.items[i];
		int rc = is_taken(sec) ? relocate(linking, debug, sec) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int add_target(struct linking *linking, struct debug_link *debug, bool *ret_fits)
{
	const struct region *region = linking->region;
	taddr segs[LINK_N_SEGS] = {
		[LINK_TEXT] = region->text,
		[LINK_RODATA] = region->text + region->text_len,
		[LINK_DATA] = region->data,
	};
	struct debug_section *section;
	int rc;

	link_lies_at(linking->link, segs);
	if (!fits(linking)) {
		/* It may have been loaded when there was no header in front of the text yet. */
		segs[LINK_TEXT] -= linking->link->elf_len;
		link_lies_at(linking->link, segs);
		if (!fits(linking))
			return 0;
	}
	linking->values = calloc(linking->obj->syms.n + 1, sizeof(*linking->values));
	if (!linking->values)
		return uspl_fail_nomem(linking->err);
	vec_for_each (&debug->sections, section)
		section->kept = section->bytes.len;
	rc = read_values(linking);
	if (!rc)
		rc = append(linking, debug);
	vec_for_each (&debug->sections, section)
		section->bytes.len = rc ? section->kept : section->bytes.len;
	free(linking->values);
	vec_release(&linking->renamed);
	*ret_fits = !rc;
	return rc;
}

int debug_link_add(struct debug_link *debug, const struct proc *proc, const struct region *region,
		   const struct debug_file *file, const char *sources, bool *ret_fits,
		   struct uspl_err *err)
{
	for (size_t i = 0; i < file->targets.n && !*ret_fits; i++) {
		auto_link struct link *link = NULL;
		struct linking linking = {
			.proc = proc,
			.region = region,
			.obj = file->targets.items[i],
			.tree = sources ? file->tree : NULL,
			.sources = sources,
			.err = err,
		};
		int rc = link_layout(linking.obj, arch_native(), NULL, &link, err);

		linking.link = link;
		if (!rc)
			rc = add_target(&linking, debug, ret_fits);
		if (rc)
			return rc;
	}
	return 0;
}

void debug_link_release(struct debug_link *debug)
{
	struct debug_section *section;

	vec_for_each (&debug->sections, section) {
		free(section->name);
		buf_release(&section->bytes);
	}
	vec_release(&debug->sections);
}
