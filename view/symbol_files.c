// SPDX-License-Identifier: GPL-3.0-or-later
// symbol_files.c - the names of new code, for debuggers and profilers
/*
 * The ELF file is as plain as can be: a section of code for each update, at its address in the
 * process; the call frame information of all; their debugging information, where there is some; and
 * the tables of symbols and names. Offsets are known only when everything is in place, so the
 * headers are written last.
 */

#include "view/symbol_files.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "command/perf_map.h"
#include "proc/core.h"
#include "view/debug_frames.h"

void symbols_perf(const struct scan *scan, struct buf *out)
{
	const struct scan_process *process;
	const struct region *region;

	vec_for_each (&scan->processes, process)
		vec_for_each (&process->regions, region)
			perf_map_add(region, out);
}

/* The file while it is put together. */
struct file {
	struct buf *out;
	struct buf names;   /* .strtab, for sections too */
	struct buf symbols; /* .symtab */
	VEC(Elf64_Shdr) sections;
	struct buf frames; /* .debug_frame */
	struct debug_link debug;
};

static uint32_t add_name(struct file *file, const char *name)
{
	uint32_t offset = (uint32_t)file->names.len;

	buf_add(&file->names, name, strlen(name) + 1);
	return offset;
}

/* Appends a section with what is in data; NULL when out of memory. */
static Elf64_Shdr *add_section(struct file *file, const char *name, uint32_t type,
			       const struct buf *data)
{
	Elf64_Shdr *section = vec_push(&file->sections);

	if (!section)
		return NULL;
	buf_align(file->out, 16);
	*section = (Elf64_Shdr){
		.sh_name = add_name(file, name),
		.sh_type = type,
		.sh_offset = file->out->len,
		.sh_size = data->len,
		.sh_addralign = 16,
	};
	buf_add(file->out, data->data, data->len);
	return section;
}

/* Reads a piece of the process's memory. */
static int read_memory(const struct proc *proc, taddr addr, uint64_t len, struct buf *ret,
		       struct uspl_err *err)
{
	buf_addzero(ret, len);
	if (ret->oom)
		return uspl_fail_nomem(err);
	return proc_read(proc, addr, ret->data, len, err);
}

/* The code as a section at its address. */
static int add_code(struct file *file, const struct proc *proc, const struct region *region,
		    struct uspl_err *err)
{
	char name[sizeof(".text.uspl-") + USPL_ID_MAX];
	auto_buf struct buf bytes = { 0 };
	const struct region_range *function;
	Elf64_Shdr *section;
	int rc = read_memory(proc, region->text, region->text_len, &bytes, err);

	if (rc)
		return rc;
	snprintf(name, sizeof(name), ".text.uspl-%s", region->id);
	section = add_section(file, name, SHT_PROGBITS, &bytes);
	if (!section)
		return uspl_fail_nomem(err);
	section->sh_addr = region->text;
	section->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	vec_for_each (&region->names, function) {
		Elf64_Sym elf = {
			.st_name = add_name(file, function->name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = (uint16_t)(file->sections.n - 1),
			.st_value = function->addr,
			.st_size = function->size,
		};

		buf_add(&file->symbols, &elf, sizeof(elf));
	}
	return 0;
}

static int add_region(struct file *file, const struct proc *proc, const struct region *region,
		      const struct debug_dirs *dirs, struct uspl_err *err)
{
	auto_buf struct buf frames = { 0 };
	int rc = region->text_len ? add_code(file, proc, region, err) : 0;

	if (rc || !region->text_len)
		return rc;
	if (region->eh_frame_len) {
		rc = read_memory(proc, region->eh_frame, region->eh_frame_len, &frames, err);
		if (rc)
			return rc;
		debug_frames_add(&frames, region->eh_frame, &file->frames);
	}
	return debug_dirs_add(dirs, proc, region, &file->debug, err);
}

/* The tables, the list of sections behind them, and what stands at the file's beginning. */
static int finish(struct file *file, struct uspl_err *err)
{
	Elf64_Shdr *symtab = add_section(file, ".symtab", SHT_SYMTAB, &file->symbols), *strtab;
	uint32_t symtab_at = (uint32_t)file->sections.n - 1;
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = arch_native()->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(*symtab),
	};

	if (!symtab)
		return uspl_fail_nomem(err);
	symtab->sh_entsize = sizeof(Elf64_Sym);
	symtab->sh_link = symtab_at + 1;
	symtab->sh_info = 1;
	add_name(file, ".strtab");
	strtab = add_section(file, ".strtab", SHT_STRTAB, &file->names);
	if (!strtab || file->names.oom || file->symbols.oom)
		return uspl_fail_nomem(err);
	buf_align(file->out, 16);
	header.e_shoff = file->out->len;
	header.e_shnum = (uint16_t)file->sections.n;
	header.e_shstrndx = (uint16_t)(symtab_at + 1);
	buf_add(file->out, file->sections.items, file->sections.n * sizeof(*symtab));
	if (file->out->oom)
		return uspl_fail_nomem(err);
	memcpy(file->out->data, &header, sizeof(header));
	return 0;
}

static int build(struct file *file, const struct proc *proc, const region_vec *regions,
		 const struct debug_dirs *dirs, struct uspl_err *err)
{
	static const Elf64_Sym no_symbol;
	const struct debug_section *section;

	buf_addzero(file->out, sizeof(Elf64_Ehdr));
	buf_addzero(&file->names, 1);
	buf_add(&file->symbols, &no_symbol, sizeof(no_symbol));
	/* The null section. */
	if (!vec_push(&file->sections))
		return uspl_fail_nomem(err);
	for (size_t i = regions->n; i > 0; i--) {
		int rc = add_region(file, proc, &regions->items[i - 1], dirs, err);

		if (rc)
			return rc;
	}
	if (file->frames.oom ||
	    (file->frames.len && !add_section(file, ".debug_frame", SHT_PROGBITS, &file->frames)))
		return uspl_fail_nomem(err);
	vec_for_each (&file->debug.sections, section)
		if (section->bytes.len &&
		    !add_section(file, section->name, SHT_PROGBITS, &section->bytes))
			return uspl_fail_nomem(err);
	return finish(file, err);
}

static int make(const struct proc *proc, const region_vec *regions, const struct debug_dirs *dirs,
		struct buf *out, struct uspl_err *err)
{
	struct file file = { .out = out };
	int rc = build(&file, proc, regions, dirs, err);

	buf_release(&file.names);
	buf_release(&file.symbols);
	buf_release(&file.frames);
	debug_link_release(&file.debug);
	vec_release(&file.sections);
	return rc;
}

int symbols_elf(const struct scan *scan, const struct debug_dirs *dirs, struct buf *out,
		struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	int rc;

	if (scan->processes.n != 1)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "the process has no new code");
	rc = proc_open_readonly(scan->processes.items[0].pid, &proc, err);
	if (rc)
		return rc;
	return make(proc, &scan->processes.items[0].regions, dirs, out, err);
}

int symbols_core(const char *path, const struct debug_dirs *dirs, struct buf *out,
		 struct uspl_err *err)
{
	auto_regions region_vec regions = { 0 };
	auto_proc struct proc *proc = NULL;
	int rc = core_open(path, &proc, err);

	if (rc)
		return rc;
	rc = regions_read(proc, &regions, err);
	if (!rc && !regions.n)
		rc = uspl_fail(err, USPL_E_NOT_APPLIED, "the process has no new code");
	if (!rc)
		rc = make(proc, &regions, dirs, out, err);
	if (rc)
		uspl_context(err, "core dump '%s'", path);
	return rc;
}
