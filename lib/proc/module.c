// SPDX-License-Identifier: GPL-3.0-or-later
// module.c - the programs and libraries that a process maps

#include "proc/module.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/note.h"
#include "base/text.h"
#include "proc/kept.h"
#include "proc/remains.h"
#include "proc/task.h"

#define PHDRS_MAX 128
/* No dynamic section is near this long. */
#define DYNAMIC_MAX (512 * sizeof(Elf64_Dyn))
/* Nor does a module need as many others, or have names as long. */
#define NEEDED_MAX 256
/* Nor has a process as many of them: code that compares each with all others would take minutes. */
#define MODULES_MAX 4096
#define ADD_TRIES 16
#define NAME_MAX_LEN 4096

static taddr page_down(taddr addr)
{
	return addr & ~(PAGE - 1);
}

static taddr page_up(taddr addr)
{
	return page_down(addr + PAGE - 1);
}

static void module_release(struct module *module)
{
	strvec_release(&module->needed);
	if (module->tables && module->tables->dynsyms)
		module->tables->free(module->tables->dynsyms);
	free(module->tables);
	free(module->path);
	free(module->build_id);
	free(module->soname);
	vec_release(&module->phdrs);
}
DEFINE_AUTO_RELEASE(module, struct module, module_release)
#define auto_module __attribute__((cleanup(cleanup_module_)))

void modules_release(module_vec *modules)
{
	struct module *module;

	vec_for_each (modules, module)
		module_release(module);
	vec_release(modules);
}

const struct module *module_at(const module_vec *modules, taddr addr)
{
	const struct module *module;

	vec_for_each (modules, module)
		if (addr >= module->start && addr < module->end)
			return module;
	return NULL;
}

const struct module *module_main(const module_vec *modules)
{
	const struct module *module;

	vec_for_each (modules, module)
		if (module->is_main)
			return module;
	return NULL;
}

/*
 * True if code of that file is mapped, too. Such a file whose header can't be read must not be
 * taken for one that is no module; other files may be cut short and unreadable.
 */
static bool is_file_with_code(const struct proc *proc, const struct mapping *map)
{
	const struct mapping *other;

	vec_for_each (&proc->maps, other)
		if (map->inode && other->exec && other->inode == map->inode &&
		    other->dev == map->dev)
			return true;
	return false;
}

/* The first page of a file: most have all their headers, and the note of their build, in it. */
struct first_page {
	taddr addr;
	uint8_t bytes[PAGE];
};

static int read_first_page(const struct proc *proc, const struct mapping *map,
			   struct first_page *first, bool *ret_found, struct uspl_err *err)
{
	Elf64_Ehdr ehdr;
	bool there = false;
	int rc;

	first->addr = map->start;
	rc = proc_read_if_mapped(proc, map->start, first->bytes, PAGE, &there, err);
	if (rc && is_file_with_code(proc, map))
		return rc;
	/* It isn't read again for a module that turns out to be lasting (dynsym_read.c). */
	if (!rc && there)
		kept_add(proc->kept, first->addr, first->bytes, PAGE);
	memcpy(&ehdr, first->bytes, sizeof(ehdr));
	*ret_found = !rc && there && !memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
		     ehdr.e_ident[EI_CLASS] == ELFCLASS64 &&
		     (ehdr.e_type == ET_EXEC || ehdr.e_type == ET_DYN) &&
		     ehdr.e_phentsize == sizeof(Elf64_Phdr) && ehdr.e_phnum != 0 &&
		     ehdr.e_phnum <= PHDRS_MAX;
	return 0;
}

/* As proc_read_if_mapped, from the page if it lies there. */
static int read_part(const struct proc *proc, const struct first_page *first, taddr addr, void *buf,
		     size_t len, bool *ret_there, struct uspl_err *err)
{
	uint64_t offset = addr - first->addr;

	*ret_there = offset < PAGE && len <= PAGE - offset;
	if (!*ret_there)
		return proc_read_if_mapped(proc, addr, buf, len, ret_there, err);
	memcpy(buf, first->bytes + offset, len);
	return 0;
}

/* *ret_found is false if no module begins with that mapping. */
static int read_headers(const struct proc *proc, const struct mapping *map,
			struct first_page *first, Elf64_Ehdr *ehdr, struct module *module,
			bool *ret_found, struct uspl_err *err)
{
	Elf64_Phdr phdrs[PHDRS_MAX];
	int rc = read_first_page(proc, map, first, ret_found, err);

	if (rc || !*ret_found)
		return rc;
	memcpy(ehdr, first->bytes, sizeof(*ehdr));
	rc = proc_charge(proc, 1 + ehdr->e_phnum / 2u,
			 sizeof(*module) + ehdr->e_phnum * sizeof(Elf64_Phdr), err);
	if (rc)
		return rc;
	rc = read_part(proc, first, map->start + ehdr->e_phoff, phdrs,
		       ehdr->e_phnum * sizeof(*phdrs), ret_found, err);
	if (rc)
		return rc;
	for (unsigned int i = 0; *ret_found && i < ehdr->e_phnum; i++) {
		Elf64_Phdr *phdr = vec_push(&module->phdrs);

		if (!phdr)
			return uspl_fail_nomem(err);
		*phdr = phdrs[i];
	}
	return 0;
}

/*
 * Where the module lies. The mapping at `start` shows the file from its first byte, so the segment
 * with offset 0 tells the bias. False if no code is mapped where the headers say: then it is a file
 * that the program merely looks at.
 */
static bool place(const struct proc *proc, taddr start, struct module *module)
{
	const Elf64_Phdr *phdr;
	bool has_bias = false, has_code = false;
	taddr end = 0;

	vec_for_each (&module->phdrs, phdr) {
		if (phdr->p_type != PT_LOAD || page_down(phdr->p_offset) != 0 || has_bias)
			continue;
		module->bias = (int64_t)(start - page_down(phdr->p_vaddr));
		has_bias = true;
	}
	vec_for_each (&module->phdrs, phdr) {
		taddr addr = phdr->p_vaddr + (uint64_t)module->bias;
		const struct mapping *map;

		if (phdr->p_type == PT_DYNAMIC)
			module->dynamic = addr;
		if (phdr->p_type == PT_TLS) {
			module->tls_size = phdr->p_memsz;
			module->tls_align = phdr->p_align;
		}
		if (phdr->p_type != PT_LOAD)
			continue;
		if (page_up(addr + phdr->p_memsz) > end)
			end = page_up(addr + phdr->p_memsz);
		map = proc_mapping_at(proc, addr);
		has_code |= (phdr->p_flags & PF_X) && map && map->exec;
	}
	module->start = start;
	module->end = end;
	return has_bias && has_code && end > start;
}

static int read_build_id(const struct proc *proc, const struct first_page *first,
			 struct module *module, struct uspl_err *err)
{
	const Elf64_Phdr *phdr;

	vec_for_each (&module->phdrs, phdr) {
		uint8_t notes[4096];
		size_t len = phdr->p_filesz < sizeof(notes) ? phdr->p_filesz : sizeof(notes);
		bool there = false;
		int rc;

		if (phdr->p_type != PT_NOTE || module->build_id)
			continue;
		rc = read_part(proc, first, phdr->p_vaddr + (uint64_t)module->bias, notes, len,
			       &there, err);
		if (rc)
			return rc;
		if (there)
			module->build_id = note_build_id(notes, len, phdr->p_align);
	}
	return 0;
}

int module_dynamic(const struct proc *proc, const struct module *module, Elf64_Dyn **ret,
		   size_t *ret_n, struct uspl_err *err)
{
	auto_free Elf64_Dyn *items = NULL;
	const Elf64_Phdr *phdr;
	size_t len = 0, n = 0;
	bool there = false;
	int rc = proc_charge(proc, 1, 0, err);

	if (rc)
		return rc;
	/* A length that lies must not make us read on. */
	vec_for_each (&module->phdrs, phdr) {
		if (phdr->p_type != PT_DYNAMIC)
			continue;
		len = phdr->p_memsz < DYNAMIC_MAX ? phdr->p_memsz : DYNAMIC_MAX;
		break;
	}
	items = malloc(len + 1);
	if (!items)
		return uspl_fail_nomem(err);
	/* A lasting module's section stays as it is, too, once the program runs. */
	if (len && module->lasting) {
		rc = proc_read_once(proc, module->dynamic, items, len, &there, err);
		if (rc)
			return rc;
	} else if (len) {
		rc = proc_read_if_mapped(proc, module->dynamic, items, len, &there, err);
		if (rc)
			return rc;
	}
	if (there)
		kept_add(proc->kept, module->dynamic, items, len);
	while (there && n < len / sizeof(*items) && items[n].d_tag != DT_NULL)
		n++;
	*ret = take_ptr(items);
	*ret_n = n;
	return 0;
}

/* A name in the module's string table; *ret stays NULL if none is there. The caller frees it. */
static int read_name(const struct proc *proc, taddr at, char **ret, struct uspl_err *err)
{
	auto_free char *name = NULL;
	int rc = proc_read_string(proc, at, NAME_MAX_LEN, &name, err);

	if (rc)
		return rc == -USPL_E_HOSTILE ? 0 : rc;
	rc = proc_charge(proc, 1, strlen(name) + 1, err);
	if (rc)
		return rc;
	/* The buffer that it was read into is as long as the longest name. */
	*ret = strdup(name);
	return *ret ? 0 : uspl_fail_nomem(err);
}

/* The names that other modules know it by, and those of the modules that it needs. */
static int read_names(const struct proc *proc, struct module *module, struct uspl_err *err)
{
	auto_free Elf64_Dyn *dynamic = NULL;
	taddr strtab = 0;
	uint64_t soname = 0;
	size_t n;
	int rc = module_dynamic(proc, module, &dynamic, &n, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (dynamic[i].d_tag == DT_STRTAB)
			strtab = dynamic[i].d_un.d_ptr;
		if (dynamic[i].d_tag == DT_SONAME)
			soname = dynamic[i].d_un.d_val;
	}
	if (!strtab)
		return 0;
	/*
	 * glibc relocates the pointers in the dynamic section, musl and the vdso leave them as in
	 * the file.
	 */
	if (strtab < module->start)
		strtab += (uint64_t)module->bias;
	for (size_t i = 0; i < n; i++) {
		auto_free char *name = NULL;
		char **item;

		if (dynamic[i].d_tag != DT_NEEDED || module->needed.n >= NEEDED_MAX)
			continue;
		rc = read_name(proc, strtab + dynamic[i].d_un.d_val, &name, err);
		if (rc)
			return rc;
		if (!name)
			continue;
		item = vec_push(&module->needed);
		if (!item)
			return uspl_fail_nomem(err);
		*item = take_ptr(name);
	}
	/* Without a name of its own it is still known by its file's. */
	return soname ? read_name(proc, strtab + soname, &module->soname, err) : 0;
}

/*
 * The program's file, for a program that has moved its headers to anonymous memory: no mapping
 * names it any more. NULL if it can't be read.
 */
static char *program_path(const struct proc *proc)
{
	static const char deleted[] = " (deleted)";
	char link[64], path[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/task/%d/exe", proc->pid, proc_task(proc));
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	if ((size_t)len > strlen(deleted) && !strcmp(path + len - strlen(deleted), deleted))
		path[(size_t)len - strlen(deleted)] = '\0';
	return strdup(path);
}

static int add_module(const struct proc *proc, const struct mapping *map, taddr main_phdr,
		      module_vec *modules, struct uspl_err *err)
{
	auto_module struct module found = { 0 };
	struct module *module;
	struct first_page first;
	bool is_module = false;
	Elf64_Ehdr ehdr;
	int rc = read_headers(proc, map, &first, &ehdr, &found, &is_module, err);

	if (rc)
		return rc;
	if (!is_module || !place(proc, map->start, &found))
		return 0;
	rc = read_build_id(proc, &first, &found, err);
	if (rc)
		return rc;
	rc = read_names(proc, &found, err);
	if (rc)
		return rc;
	found.is_main = main_phdr == map->start + ehdr.e_phoff;
	/* What the module is called: by its mapping, or else by what it says of itself. */
	if (!map->path[0] && found.is_main)
		found.path = program_path(proc);
	if (!found.path)
		found.path = strdup(!map->path[0] && found.soname ? found.soname : map->path);
	/*
	 * A path that acts on a terminal can only be meant to deceive: from here on it is what it
	 * may be shown as. Where the file can't be opened by its place in memory, it isn't found by
	 * that name.
	 */
	if (found.path && text_is_odd(found.path)) {
		struct buf shown = { 0 };

		text_add_printable(&shown, found.path, strlen(found.path), false);
		free(found.path);
		found.path = buf_take(&shown);
	}
	module = found.path ? vec_push(modules) : NULL;
	if (!module)
		return uspl_fail_nomem(err);
	found.dev = map->dev;
	found.inode = map->inode;
	found.name = file_basename(found.path);
	found.is_vdso = !strcmp(found.path, "[vdso]");
	*module = found;
	found = (struct module){ 0 };
	return 0;
}

/*
 * True if this mapping belongs to the module that was found last: linkers that pack segments
 * closely (lld) let the file's first page be mapped again, under the code that begins in it.
 */
static bool is_inside(const struct proc *proc, const module_vec *modules, const struct mapping *map)
{
	const struct module *last = modules->n ? &modules->items[modules->n - 1] : NULL;
	const struct mapping *first = last ? proc_mapping_at(proc, last->start) : NULL;

	return first && map->start < last->end && map->inode == first->inode &&
	       map->dev == first->dev;
}

/* True if a file isn't mapped any more from its beginning on, where it was. */
static bool is_unmapped(const struct proc *proc, taddr start, uint64_t dev, uint64_t inode)
{
	auto_mappings mapping_vec now = { 0 };
	const struct mapping *map;
	bool gone = false;

	if (proc_read_maps(proc, &now, NULL) == 0) {
		map = mappings_at(&now, start);
		gone = !map || map->start != start || map->offset || map->dev != dev ||
		       map->inode != inode;
	}
	return gone;
}

bool module_is_gone(const struct proc *proc, const struct module *module)
{
	return is_unmapped(proc, module->start, module->dev, module->inode);
}

bool module_explains(const struct proc *proc, const struct module *module, int rc)
{
	return !module->lasting &&
	       (rc == -USPL_E_SYSTEM || rc == -USPL_E_OVERWRITTEN || module_is_gone(proc, module));
}

/* A library may have been unloaded since the maps were read, and be there again when we look. */
static int add_steady(const struct proc *proc, const struct mapping *map, taddr main_phdr,
		      module_vec *modules, struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = 0;

	for (int i = 0; i < ADD_TRIES; i++) {
		rc = add_module(proc, map, main_phdr, modules, &why);
		if (rc != -USPL_E_SYSTEM)
			break;
		if (is_unmapped(proc, map->start, map->dev, map->inode))
			return 0;
	}
	if (rc && err)
		*err = why;
	return rc;
}

typedef VEC(struct module *) marked_list;

/* Modules by what they are called. */
struct called {
	const char *name;
	struct module *module;
	bool marked; /* of the first one of a name: all of that name are */
};

typedef VEC(struct called) called_vec;

static int by_name(const void *a, const void *b)
{
	const struct called *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Lists modules by what they call themselves, or by their files' names. */
static int name_modules(const module_vec *modules, bool by_file, called_vec *ret,
			struct uspl_err *err)
{
	struct module *module;

	vec_for_each (modules, module) {
		const char *name = by_file ? module->name : module->soname;
		struct called *item = name ? vec_push(ret) : NULL;

		if (name && !item)
			return uspl_fail_nomem(err);
		if (name)
			*item = (struct called){ .name = name, .module = module };
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_name);
	return 0;
}

/* Marks modules of that name. Those not marked yet go to the list, which has room for all. */
static void mark_called(const called_vec *names, const char *name, marked_list *list)
{
	size_t i = vec_lower_bound(names, it, strcmp(it->name, name) < 0);
	struct called *first = &names->items[i];

	if (i == names->n || first->marked)
		return;
	for (; i < names->n && !strcmp(names->items[i].name, name); i++) {
		struct module *module = names->items[i].module;

		first->marked = true;
		if (!module->lasting)
			list->items[list->n++] = module;
		module->lasting = true;
	}
}

static int mark_lasting(const struct proc *proc, module_vec *modules, struct uspl_err *err)
{
	taddr linker = proc_auxv(proc, AT_BASE);
	marked_list list = { .items = calloc(modules->n + 1, sizeof(*list.items)) };
	called_vec sonames = { 0 }, files = { 0 };
	struct module *module;
	char *const *name;
	int rc = list.items ? name_modules(modules, false, &sonames, err) : uspl_fail_nomem(err);

	if (!rc)
		rc = name_modules(modules, true, &files, err);
	vec_for_each (modules, module) {
		module->lasting = module->is_main || module->is_vdso || module->start == linker;
		if (!rc && module->lasting)
			list.items[list.n++] = module;
	}
	/* What these modules need, what those need, and so on: the list grows meanwhile. */
	for (size_t i = 0; !rc && i < list.n; i++)
		vec_for_each (&list.items[i]->needed, name) {
			mark_called(&sonames, *name, &list);
			mark_called(&files, file_basename(*name), &list);
		}
	vec_release(&list);
	vec_release(&sonames);
	vec_release(&files);
	/* Without memory for them, the tables are read each time. */
	vec_for_each (modules, module)
		if (module->lasting)
			module->tables = calloc(1, sizeof(*module->tables));
	return rc;
}

int modules_read(const struct proc *proc, module_vec *ret, struct uspl_err *err)
{
	taddr main_phdr = proc_auxv(proc, AT_PHDR);
	const struct mapping *map;
	auto_modules module_vec modules = { 0 };
	int rc;

	proc_work_begin(proc);
	vec_for_each (&proc->maps, map) {
		if (!map->read || map->offset != 0 || is_inside(proc, &modules, map) ||
		    (!map->inode && strcmp(map->path, "[vdso]") && map->path[0]))
			continue;
		rc = proc_charge(proc, 1, 0, err);
		if (rc)
			return rc;
		rc = add_steady(proc, map, main_phdr, &modules, err);
		if (rc)
			return rc;
		if (modules.n > MODULES_MAX)
			return uspl_fail(err, USPL_E_HOSTILE, "pid %d maps more than %d modules",
					 proc->pid, MODULES_MAX);
	}
	rc = mark_lasting(proc, &modules, err);
	if (rc)
		return rc;
	*ret = modules;
	modules = (module_vec){ 0 };
	return 0;
}

/* True if fd is the file that map was made from. */
static bool same_file(int fd, const struct mapping *map)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == map->inode &&
	       major(st.st_dev) == map->dev >> 32 && minor(st.st_dev) == (map->dev & 0xffffffff);
}

/*
 * A link to anything may stand where a library was. Nothing but a file is opened: of a device or a
 * FIFO that alone may do something. What has no size is none of a disk's, but a kernel's, whose
 * contents may go by being read.
 */
static int open_file(const char *path)
{
	auto_close int place = open(path, O_PATH | O_CLOEXEC);
	char again[32];
	struct stat st;

	if (place < 0 || fstat(place, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	return open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Opens it by what /proc shows of one thread; it shows nothing of a thread that has ended. */
static int open_by(pid_t tid, const struct module *module, const struct mapping *map)
{
	char path[4400];
	int fd;

	/* map_files needs privileges, but shows deleted files and other mount namespaces. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tid, map->start,
		 map->end);
	fd = map->inode ? open_file(path) : -1;
	if (fd < 0 && module->is_main) {
		snprintf(path, sizeof(path), "/proc/%d/exe", tid);
		fd = open_file(path);
	}
	if (fd >= 0 || !map->inode)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", tid, module->path);
	fd = open_file(path);
	/*
	 * Overlay file systems show another device number: then the name has to do, the match
	 * decides anyway.
	 */
	if (fd >= 0 && !same_file(fd, map) && map->deleted) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int module_open_file(const struct proc *proc, const struct module *module)
{
	const struct mapping *map = proc_mapping_at(proc, module->start);
	int fd = remains_open_file(proc->remains, module->start);
	pid_t other;

	if (fd >= 0 || !map)
		return fd;
	fd = open_by(proc->tid, module, map);
	other = fd < 0 ? proc_task(proc) : proc->tid;
	return other == proc->tid ? fd : open_by(other, module, map);
}
