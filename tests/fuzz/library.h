/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.h - a library in the memory of a process that the fuzzer's bytes describe (target.h)
 *
 * As bytes of memory nearly all changes end a reader at its first check. Here all tables are there,
 * and lead to each other: headers, a dynamic section, symbols with versions, relocations, the
 * dynamic linker's list, and the sections of an object as its segments. Now and then a value is
 * what the bytes say instead. Bytes of 0 bend nothing.
 */
#ifndef USPL_TESTS_FUZZ_LIBRARY_H
#define USPL_TESTS_FUZZ_LIBRARY_H

#include "objfile/objfile.h"
#include "tests/fuzz/target.h"

enum {
	LIBRARY_SYMS = 32,
	LIBRARY_RELAS = 24,
	LIBRARY_LOADS = 12,
	LIBRARY_MAPS = 4,
	LIBRARY_STRINGS = 2048,
	LIBRARY_HEAD = 3 * 4096, /* all but the segments of the object */
	LIBRARY_SEC_MAX = 1 << 15,
};

/* What lies at a library's beginning. */
struct library {
	Elf64_Ehdr head;
	Elf64_Phdr phdrs[LIBRARY_LOADS + 3];
	Elf64_Dyn dynamic[24];
	Elf64_Sym syms[LIBRARY_SYMS];
	uint16_t versyms[LIBRARY_SYMS];
	struct {
		Elf64_Verneed need;
		Elf64_Vernaux aux[2];
	} needs[2];
	struct {
		Elf64_Verdef def;
		Elf64_Verdaux aux;
	} defs[2];
	uint32_t hash[4];
	struct {
		uint32_t buckets, first, bloom_words, shift;
		uint64_t bloom;
		uint32_t bucket, chain[LIBRARY_SYMS];
	} gnu_hash;
	Elf64_Rela relas[LIBRARY_RELAS];
	uint64_t slots[LIBRARY_RELAS];
	uint64_t debug[6];
	uint64_t maps[LIBRARY_MAPS][5];
	uint32_t members[2][3]; /* glibc's descriptions for debuggers */
	char strings[LIBRARY_STRINGS];
};

_Static_assert(sizeof(struct library) <= LIBRARY_HEAD, "it has that room");

/* What is being made. */
struct library_maker {
	struct library library;
	struct proc *proc;
	struct input *in;
	uint64_t base;
	const struct objfile *obj; /* may be NULL */
	size_t n_strings, n_phdrs, n_dynamic;
	taddr at; /* where the next segment lies */
};

/* The value, or once in a while another one. */
static inline uint64_t library_bent(struct library_maker *m, uint64_t value)
{
	return input_below(m->in, 24) == 1 ? input_number(m->in, 8) : value;
}

#define library_place(m, member) (offsetof(struct library, member))

static inline uint32_t library_string(struct library_maker *m, const char *text)
{
	size_t len = strlen(text) + 1, at = m->n_strings;

	if (len > LIBRARY_STRINGS - at)
		return 0;
	memcpy(m->library.strings + at, text, len);
	m->n_strings += len;
	return (uint32_t)at;
}

static inline void library_map(struct library_maker *m, taddr start, size_t len, bool write,
			       bool exec, const char *path)
{
	struct mapping *map = vec_push(&m->proc->maps);

	if (!map)
		abort();
	*map = (struct mapping){ .start = start,
				 .end = start + (len + PAGE - 1) / PAGE * PAGE,
				 .read = true,
				 .write = write,
				 .exec = exec,
				 .offset = start - m->base,
				 .inode = 1 + m->base / PAGE,
				 .path = strdup(path) };
	if (ftruncate(m->proc->mem_fd, (off_t)map->end) < 0)
		abort();
}

static inline void library_segments(struct library_maker *m, const char *path)
{
	struct library *lib = &m->library;

	lib->phdrs[m->n_phdrs++] = (Elf64_Phdr){ .p_type = PT_LOAD,
						 .p_flags = PF_R | PF_X,
						 .p_filesz = library_bent(m, LIBRARY_HEAD),
						 .p_memsz = library_bent(m, LIBRARY_HEAD) };
	library_map(m, m->base, LIBRARY_HEAD, false, true, path);
	for (size_t i = 0; m->obj && i < m->obj->secs.n && m->n_phdrs < LIBRARY_LOADS; i++) {
		struct objsec *sec = m->obj->secs.items[i];
		bool write = sec->flags & SHF_WRITE, exec = sec->flags & SHF_EXECINSTR;

		sec->mark = 0;
		if (!(sec->flags & SHF_ALLOC) || !sec->size || sec->size > LIBRARY_SEC_MAX)
			continue;
		lib->phdrs[m->n_phdrs++] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | (write ? PF_W : 0) | (exec ? PF_X : 0),
			.p_offset = m->at - m->base,
			.p_vaddr = library_bent(m, m->at - m->base),
			.p_filesz = library_bent(m, sec->data ? sec->size : 0),
			.p_memsz = library_bent(m, sec->size),
		};
		library_map(m, m->at, sec->size, write, exec, path);
		if (sec->data && pwrite(m->proc->mem_fd, sec->data, sec->size, (off_t)m->at) < 0)
			abort();
		sec->mark = (uint32_t)m->at;
		m->at += (sec->size + PAGE - 1) / PAGE * PAGE + PAGE;
	}
	lib->phdrs[m->n_phdrs++] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
						 .p_vaddr = library_place(m, dynamic),
						 .p_memsz = library_bent(m, sizeof(lib->dynamic)) };
	lib->phdrs[m->n_phdrs++] = (Elf64_Phdr){ .p_type = PT_TLS,
						 .p_memsz = library_bent(m, 64),
						 .p_align = library_bent(m, 16) };
}

static inline const char *library_name(struct library_maker *m)
{
	static const char *const names[] = {
		"f",
		"g",
		"__tls_get_addr",
		"pthread_key_create",
		"pthread_getspecific",
		"malloc",
		"_thread_db_link_map_l_tls_modid",
		"_thread_db_link_map_l_tls_offset",
	};
	size_t i = input_number(m->in, 1);

	if (m->obj && m->obj->syms.n && i & 1)
		return m->obj->syms.items[i / 2 % m->obj->syms.n]->name;
	return names[i / 2 % ARRAY_SIZE(names)];
}

static inline void library_symbols(struct library_maker *m)
{
	static const uint8_t types[] = { STT_FUNC, STT_OBJECT, STT_TLS, STT_GNU_IFUNC };
	struct library *lib = &m->library;

	for (size_t i = 1; i < LIBRARY_SYMS; i++) {
		uint8_t what = (uint8_t)input_number(m->in, 1);
		const char *name = library_name(m);
		bool member = !strncmp(name, "_thread_db", 10);

		lib->syms[i] = (Elf64_Sym){
			.st_name = (uint32_t)library_bent(m, library_string(m, name)),
			.st_info = ELF64_ST_INFO(what & 1 ? STB_WEAK : STB_GLOBAL,
						 types[what / 2 % ARRAY_SIZE(types)]),
			.st_shndx = what & 8 ? SHN_UNDEF : 1,
			.st_value =
				library_bent(m, member ? library_place(m, members) + what % 2 * 12
						       : LIBRARY_HEAD + what * 16),
			.st_size = 16,
		};
		lib->versyms[i] = (uint16_t)library_bent(m, what / 16 % 6);
		lib->gnu_hash.chain[i] = (uint32_t)library_bent(m, i == LIBRARY_SYMS - 1);
	}
	lib->hash[0] = (uint32_t)library_bent(m, 1);
	lib->hash[1] = (uint32_t)library_bent(m, LIBRARY_SYMS);
	lib->gnu_hash.buckets = (uint32_t)library_bent(m, 1);
	lib->gnu_hash.first = lib->gnu_hash.bucket = (uint32_t)library_bent(m, 1);
	lib->gnu_hash.bloom_words = (uint32_t)library_bent(m, 1);
	for (size_t i = 0; i < 2; i++) {
		lib->members[i][0] = (uint32_t)library_bent(m, 64);
		lib->members[i][1] = 1;
		lib->members[i][2] = (uint32_t)library_bent(m, 8 * i);
	}
}

static inline void library_versions(struct library_maker *m)
{
	uint32_t name = library_string(m, "GLIBC_PRIVATE");
	struct library *lib = &m->library;

	for (size_t i = 0; i < 2; i++) {
		lib->needs[i].need = (Elf64_Verneed){
			.vn_cnt = (uint16_t)library_bent(m, 2),
			.vn_aux = (uint32_t)library_bent(m, sizeof(Elf64_Verneed)),
			.vn_next = (uint32_t)library_bent(m, sizeof(lib->needs[0])),
		};
		for (size_t j = 0; j < 2; j++)
			lib->needs[i].aux[j] = (Elf64_Vernaux){
				.vna_name = (uint32_t)library_bent(m, name),
				.vna_other = (uint16_t)library_bent(m, 2 + 2 * i + j),
				.vna_next = (uint32_t)library_bent(m, sizeof(Elf64_Vernaux)),
			};
		lib->defs[i].def = (Elf64_Verdef){
			.vd_ndx = (uint16_t)library_bent(m, 2 + i),
			.vd_aux = (uint32_t)library_bent(m, sizeof(Elf64_Verdef)),
			.vd_next = (uint32_t)library_bent(m, sizeof(lib->defs[0])),
		};
		lib->defs[i].aux.vda_name = (uint32_t)library_bent(m, name);
	}
}

static inline void library_relocations(struct library_maker *m)
{
	static const uint8_t types[] = { R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE,
					 R_X86_64_DTPMOD64, R_X86_64_TPOFF64,   R_X86_64_64,
					 R_X86_64_RELATIVE };
	struct library *lib = &m->library;

	for (size_t i = 0; i < LIBRARY_RELAS; i++) {
		uint8_t what = (uint8_t)input_number(m->in, 1);

		lib->relas[i] = (Elf64_Rela){
			.r_offset = library_bent(m, library_place(m, slots) + 8 * i),
			.r_info = ELF64_R_INFO(library_bent(m, what / 7 % LIBRARY_SYMS),
					       types[what % ARRAY_SIZE(types)]),
			.r_addend = (int64_t)library_bent(m, LIBRARY_HEAD + what * 16),
		};
		lib->slots[i] = library_bent(m, m->base + LIBRARY_HEAD + what * 16);
	}
}

static inline void library_entry(struct library_maker *m, int64_t tag, uint64_t value)
{
	size_t n = ARRAY_SIZE(m->library.dynamic);

	/* One may be left out. */
	if (m->n_dynamic < n && input_below(m->in, 32) != 1)
		m->library.dynamic[m->n_dynamic++] = (Elf64_Dyn){ tag, { library_bent(m, value) } };
}

static inline void library_dynamic(struct library_maker *m, const char *soname, taddr other)
{
	struct library *lib = &m->library;
	uint64_t maps = m->base + library_place(m, maps);

	library_entry(m, DT_STRTAB, library_place(m, strings));
	library_entry(m, DT_STRSZ, LIBRARY_STRINGS);
	library_entry(m, DT_SONAME, library_string(m, soname));
	library_entry(m, DT_NEEDED, library_string(m, "libc.so.6"));
	library_entry(m, DT_SYMTAB, library_place(m, syms));
	if (input_below(m->in, 2))
		library_entry(m, DT_HASH, library_place(m, hash));
	library_entry(m, DT_GNU_HASH, library_place(m, gnu_hash));
	library_entry(m, DT_VERSYM, library_place(m, versyms));
	library_entry(m, DT_VERNEED, library_place(m, needs));
	library_entry(m, DT_VERNEEDNUM, 2);
	library_entry(m, DT_VERDEF, library_place(m, defs));
	library_entry(m, DT_VERDEFNUM, 2);
	library_entry(m, DT_RELA, library_place(m, relas));
	library_entry(m, DT_RELASZ, sizeof(lib->relas) / 2);
	library_entry(m, DT_JMPREL, library_place(m, relas) + sizeof(lib->relas) / 2);
	library_entry(m, DT_PLTRELSZ, sizeof(lib->relas) / 2);
	library_entry(m, DT_DEBUG, m->base + library_place(m, debug));
	lib->debug[0] = library_bent(m, 2);
	lib->debug[1] = library_bent(m, maps);
	lib->debug[5] = library_bent(m, 0);
	for (size_t i = 0; i < LIBRARY_MAPS; i++) {
		taddr base = i % 2 ? other : m->base;

		lib->maps[i][0] = library_bent(m, base);
		lib->maps[i][2] = library_bent(m, base + library_place(m, dynamic));
		lib->maps[i][3] = library_bent(
			m, i + 1 < LIBRARY_MAPS ? maps + (i + 1) * sizeof(lib->maps[0]) : 0);
	}
}

/*
 * Puts a library there, with the object's sections, whose `mark` is then where they lie. other:
 * where another one is that the dynamic linker knows. Mappings have to be added by their addresses.
 */
static inline void library_make(struct proc *proc, struct input *in, taddr base, const char *path,
				const char *soname, const struct objfile *obj, taddr other)
{
	struct library_maker *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	*m = (struct library_maker){ .proc = proc,
				     .in = in,
				     .base = base,
				     .obj = obj,
				     .n_strings = 1,
				     .at = base + LIBRARY_HEAD + PAGE };
	library_segments(m, path);
	library_symbols(m);
	library_versions(m);
	library_relocations(m);
	library_dynamic(m, soname, other);
	m->library.head = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						     ELFDATA2LSB, EV_CURRENT },
					.e_type = ET_DYN,
					.e_machine = EM_X86_64,
					.e_phoff = library_bent(m, library_place(m, phdrs)),
					.e_phentsize = sizeof(Elf64_Phdr),
					.e_phnum = (uint16_t)library_bent(m, m->n_phdrs) };
	if (pwrite(proc->mem_fd, &m->library, sizeof(m->library), (off_t)base) < 0)
		abort();
	free(m);
}

#endif
