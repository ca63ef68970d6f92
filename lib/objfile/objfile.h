/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objfile.h - a relocatable ELF file as a graph in memory
 *
 * Sections, symbols and relocations point to each other, so that code which compares, selects,
 * links or writes never sees an index. The same graph is read from a compiler's object, changed by
 * uspl-create, written into an update, and read again by uspl-apply. ELF64, little endian, x86-64,
 * ET_REL only: anything else is refused with its name.
 *
 * Everything in the file is treated as hostile: offsets, sizes, indexes and names are checked
 * against the file. Limits: this layer knows nothing of processes, of what an instruction is, or of
 * which relocation means what (that is lib/arch).
 */
#ifndef USPL_OBJFILE_OBJFILE_H
#define USPL_OBJFILE_OBJFILE_H

#include <elf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

struct objsec;
struct objsym;

/* A relocation of the section it lies in. */
struct objrel {
	uint64_t offset; /* from the section's start, in bytes */
	uint32_t type;   /* R_X86_64_* */
	struct objsym *sym;
	int64_t addend;
};

struct objsec {
	const char *name; /* owned by the objfile, like every name here */
	uint32_t index;   /* in the file that was read or is written; 0 for a new section */
	uint32_t type;    /* SHT_* */
	uint64_t flags;   /* SHF_* */
	uint64_t size, align, entsize;
	uint8_t *data;           /* size bytes that may be changed; NULL for SHT_NOBITS */
	VEC(struct objrel) rels; /* sorted by offset */
	struct objsym *secsym;   /* its STT_SECTION symbol, NULL if none */
	struct objsec *group;    /* the SHT_GROUP section that it is a member of, NULL if none */
	const char *group_sig; /* for a member of a group: the group's signature (a symbol name) */
	void *priv;            /* for the module that works on the graph; NULL after reading */
	uint32_t mark;         /* likewise, 0 after reading */
};

struct objsym {
	const char *name; /* "" for a section symbol without a name */
	uint32_t index;
	uint8_t type, bind, vis; /* STT_*, STB_*, STV_* */
	uint16_t shndx; /* SHN_UNDEF, SHN_ABS, SHN_COMMON, or anything else for a symbol in `sec` */
	struct objsec *sec;   /* NULL unless defined in a section */
	uint64_t value, size; /* value: offset in sec; for SHN_COMMON the alignment */
	const char *file;     /* for a local symbol: the STT_FILE before it, or NULL */
	void *priv;
	uint32_t mark;
};

struct objfile {
	char *name; /* for messages: the path it was read from */
	VEC(struct objsec *)
	secs; /* without the null section, and without symtab, strtab, rela and group sections */
	VEC(struct objsym *) syms; /* without the null symbol; locals first */
	void *backing; /* what names and such are allocated from; private to objfile.c */
};

/*
 * Reads an object. The graph owns copies of everything; the file may change afterwards. `name` is
 * for messages. Refuses (USPL_E_FORMAT) what isn't an ELF64 x86-64 relocatable file, and
 * (USPL_E_FILE) what is damaged. Compressed debugging information keeps no relocations.
 */
int objfile_read(const char *path, struct objfile **ret, struct uspl_err *err) uspl_must_check;
int objfile_read_memory(const char *name, const void *data, size_t len, struct objfile **ret,
			struct uspl_err *err) uspl_must_check;
/*
 * The same without the contents of debugging information, and what it refers to: its sections have
 * no data and no relocations. That is most of an object, and nothing looks for it in the graph.
 */
int objfile_read_code(const char *path, struct objfile **ret, struct uspl_err *err) uspl_must_check;
/* True for a section of debugging information (DWARF). */
bool objsec_is_debug(const struct objsec *sec);
/* An empty graph to build in. */
struct objfile *objfile_new(const char *name);
void objfile_free(struct objfile *obj);
DEFINE_AUTO_FREE(objfile, struct objfile, objfile_free)
#define auto_objfile __attribute__((cleanup(cleanup_objfile_)))

/* A copy of a string (or of bytes) that lives as long as obj. NULL when out of memory. */
const char *objfile_strdup(struct objfile *obj, const char *str);
void *objfile_memdup(struct objfile *obj, const void *data, size_t len);

/* Adds an empty section or symbol, owned by obj. NULL when out of memory. */
struct objsec *objfile_add_section(struct objfile *obj, const char *name, uint32_t type,
				   uint64_t flags);
struct objsym *objfile_add_symbol(struct objfile *obj, const char *name, uint8_t type,
				  uint8_t bind);

/* Puts the section's relocations in order again after some were added. */
void objsec_sort_rels(struct objsec *sec);

/* The first section or symbol of that name, NULL if none. A linear search. */
struct objsec *objfile_section(const struct objfile *obj, const char *name);
struct objsym *objfile_symbol(const struct objfile *obj, const char *name);

/*
 * Writes the graph as an ELF64 x86-64 relocatable file (sections, .symtab with locals first,
 * .strtab, one .rela section for each section with relocations) and appends the bytes to buf.
 * Sections and symbols get new indexes. The output depends on nothing but the graph.
 */
struct buf;
int objfile_write(struct objfile *obj, struct buf *buf, struct uspl_err *err) uspl_must_check;

/*
 * True for one of clang's tables of 32-bit distances from the table's start (LLVM's pass
 * "relative lookup table converter"): the addend of an entry counts the entry's own distance, too.
 */
static inline bool objsec_is_distances(const struct objsec *sec)
{
	return strstr(sec->name, "reltable.") != NULL;
}

/* True for a section with code. */
static inline bool objsec_is_code(const struct objsec *sec)
{
	return (sec->flags & SHF_ALLOC) && (sec->flags & SHF_EXECINSTR);
}

/* True for a function that the file has, and that has a name. */
static inline bool objsym_is_function(const struct objsym *sym)
{
	return sym->type == STT_FUNC && sym->sec && objsec_is_code(sym->sec) && sym->name[0];
}

#endif
