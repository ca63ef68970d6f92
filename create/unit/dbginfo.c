// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * dbginfo.c - an object's debugging information, with libdw
 *
 * In an object all sections begin at 0, and what refers to them is left to relocations. libdwfl
 * lays the sections out one after the other and applies the relocations of the .debug sections; so
 * a place in a section has an address here that means nothing outside.
 */

#include "create/tree/lines.h"
#include "base/file.h"
#include "create/unit/dbginfo.h"
#include "create/unit/unit.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <string.h>

/* Deeper nesting than any compiler makes; it bounds the recursion over a hostile file. */
enum { MAX_DEPTH = 100 };

struct dbginfo {
	Dwfl *dwfl;
	Dwarf *dwarf;
	Elf *elf;
	Dwarf_Die function; /* that dbginfo_inlined_from was asked about last */
	char *root;         /* of the tree, with a '/' at its end; "" if it isn't known */
};

/* The information is in the object or nowhere: nothing is looked for elsewhere. */
static int find_nothing(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)mod;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)ret;
	return -1;
}

/* Takes "." and "x/.." out of a path, in place. */
static void tidy_path(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		size_t len = strcspn(in, "/") + (in[strcspn(in, "/")] == '/');

		if (!strncmp(in, "./", 2) || (*in == '/' && in != path)) {
			in += len;
			continue;
		}
		if (!strncmp(in, "../", 3) && out > path + 1 &&
		    (out < path + 3 || strncmp(out - 3, "../", 3) != 0)) {
			out--;
			while (out > path && out[-1] != '/')
				out--;
			in += len;
			continue;
		}
		memmove(out, in, len);
		out += len;
		in += len;
	}
	*out = '\0';
}

char *dbginfo_unit_path(Dwarf_Die *cu)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(cu);
	const char *dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
	char *path = NULL;

	if (!name || asprintf(&path, "%s%s%s", *name == '/' || !dir ? "" : dir,
			      *name == '/' || !dir ? "" : "/", name) < 0)
		return strdup("");
	tidy_path(path);
	return path;
}

/* Takes a path in the tree off the end of an absolute one, in place; false if it doesn't end so. */
static bool cut_tail(char *path, const char *tail)
{
	size_t len = strlen(path), cut = strlen(tail);

	if (len <= cut || path[len - cut - 1] != '/' || strcmp(path + len - cut, tail) != 0)
		return false;
	path[len - cut] = '\0';
	return true;
}

bool dbginfo_is_joined(const char *source)
{
	const char *name = file_basename(source);

	return !strcmp(name, DBGINFO_GCC) || !strcmp(name, DBGINFO_LLVM);
}

/*
 * The same where the units are those of several sources, none of which is the one that is known:
 * most of them were compiled in the folder in which the program was linked.
 */
static char *find_common_root(struct dbginfo *dbg, const char *source)
{
	char *found = NULL;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (dbginfo_next_unit(dbg, &cu, &die)) {
		Dwarf_Attribute attr;
		const char *dir = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attr));
		auto_free char *path = dir ? file_join(dir, file_basename(source)) : NULL;

		if (!path || !cut_tail(path, source) || (found && strlen(found) <= strlen(path)))
			continue;
		free(found);
		found = take_ptr(path);
	}
	return found ? found : strdup("");
}

static bool read_root(struct dbginfo *dbg, const char *source)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	if (dwarf_get_units(dbg->dwarf, cu, &cu, NULL, NULL, &die, NULL))
		return false;
	if (dbginfo_is_joined(source)) {
		dbg->root = find_common_root(dbg, source);
		return dbg->root != NULL;
	}
	/* The unit's absolute path without its path in the tree. */
	dbg->root = dbginfo_unit_path(&die);
	if (dbg->root && !cut_tail(dbg->root, source))
		*dbg->root = '\0';
	return dbg->root != NULL;
}

const char *dbginfo_producer(struct dbginfo *dbg)
{
	static const char at_link[] = "GNU GIMPLE ";
	const char *producer = NULL;
	Dwarf_CU *cu = NULL;
	Dwarf_Attribute attr;
	Dwarf_Die die;

	/* What sources were compiled with says more than what gcc's optimiser was called with. */
	while (dbginfo_next_unit(dbg, &cu, &die)) {
		producer = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
		if (!producer || strncmp(producer, at_link, sizeof(at_link) - 1) != 0)
			return producer;
	}
	return producer;
}

struct dbginfo *dbginfo_open(const char *path, const char *source)
{
	static const Dwfl_Callbacks callbacks = {
		.section_address = dwfl_offline_section_address,
		.find_debuginfo = find_nothing,
	};
	struct dbginfo *dbg = calloc(1, sizeof(*dbg));
	Dwfl_Module *mod;
	Dwarf_Addr bias;

	if (!dbg)
		return NULL;
	dbg->dwfl = dwfl_begin(&callbacks);
	mod = dbg->dwfl ? dwfl_report_offline(dbg->dwfl, path, path, -1) : NULL;
	if (mod && !dwfl_report_end(dbg->dwfl, NULL, NULL)) {
		dbg->dwarf = dwfl_module_getdwarf(mod, &bias);
		dbg->elf = dwfl_module_getelf(mod, &bias);
	}
	if (!dbg->dwarf || !dbg->elf || !read_root(dbg, source)) {
		dbginfo_free(dbg);
		return NULL;
	}
	return dbg;
}

void dbginfo_free(struct dbginfo *dbg)
{
	if (!dbg)
		return;
	if (dbg->dwfl)
		dwfl_end(dbg->dwfl);
	free(dbg->root);
	free(dbg);
}

static bool walk_children(struct die_path *at, walk_fn fn, void *arg, int depth)
{
	struct die_path child = { .up = at };

	if (depth == MAX_DEPTH || dwarf_child(&at->die, &child.die))
		return true;
	do {
		enum walk way = fn(&child, arg);

		if (way == WALK_STOP ||
		    (way == WALK_INTO && !walk_children(&child, fn, arg, depth + 1)))
			return false;
	} while (!dwarf_siblingof(&child.die, &child.die));
	return true;
}

void dbginfo_walk(struct dbginfo *dbg, walk_fn fn, void *arg)
{
	struct die_path unit = { 0 };
	Dwarf_CU *cu = NULL;

	while (!dwarf_get_units(dbg->dwarf, cu, &cu, NULL, NULL, &unit.die, NULL))
		if (!walk_children(&unit, fn, arg, 0))
			return;
}

bool dbginfo_next_unit(struct dbginfo *dbg, Dwarf_CU **cu, Dwarf_Die *ret)
{
	return !dwarf_get_units(dbg->dwarf, *cu, cu, NULL, NULL, ret, NULL);
}

bool dbginfo_address(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset,
		     Dwarf_Addr *ret)
{
	Elf_Scn *scn = sec->index ? elf_getscn(dbg->elf, sec->index) : NULL;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header))
		return false;
	/* The file still has what was cut off. */
	*ret = header.sh_addr + secinfo_of(sec)->front + offset;
	return true;
}

static bool op_address(Dwarf_Attribute *location, Dwarf_Op *op, Dwarf_Addr *ret)
{
	Dwarf_Attribute address;

	if (op->atom == DW_OP_addr) {
		*ret = op->number;
		return true;
	}
	/* clang keeps addresses in a table of their own. */
	return (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation_attr(location, op, &address) && !dwarf_formaddr(&address, ret);
}

bool dbginfo_variable_part(Dwarf_Die *die, size_t index, struct variable_part *ret)
{
	struct variable_part part = { .whole = true };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n, first = 0;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n))
		return false;
	/* A part's place, if it has one, its size behind it; then the next one's. */
	for (size_t i = 0; i < n; i++) {
		bool ends = ops[i].atom == DW_OP_piece;

		part.whole &= !ends;
		if (!ends && i + 1 < n)
			continue;
		if (op_address(&attr, &ops[first], &part.address) && !index--) {
			*ret = part;
			return true;
		}
		part.offset += ops[i].number;
		first = i + 1;
	}
	return false;
}

bool dbginfo_variable_address(Dwarf_Die *die, Dwarf_Addr *ret)
{
	struct variable_part part;

	if (!dbginfo_variable_part(die, 0, &part))
		return false;
	*ret = part.address;
	return true;
}

bool dbginfo_variable_by_thread(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n) || !n)
		return false;
	return ops[n - 1].atom == DW_OP_form_tls_address ||
	       ops[n - 1].atom == DW_OP_GNU_push_tls_address;
}

/* What dbginfo_find looks for. */
struct search {
	Dwarf_Addr address;
	const char *name; /* instead of an address; NULL */
	bool function;
	Dwarf_Die *ret;
	bool found;
};

static enum walk search_die(struct die_path *at, void *arg)
{
	struct search *search = arg;
	int tag = dwarf_tag(&at->die);

	if (tag != (search->function ? DW_TAG_subprogram : DW_TAG_variable))
		return WALK_INTO;
	if (search->name) {
		const char *name = dwarf_diename(&at->die);

		search->found = name && !strcmp(name, search->name);
	} else if (search->function) {
		search->found = dwarf_haspc(&at->die, search->address) == 1;
	} else {
		struct variable_part part;

		for (size_t i = 0; !search->found && dbginfo_variable_part(&at->die, i, &part); i++)
			search->found = part.address == search->address;
	}
	if (!search->found)
		return WALK_INTO;
	*search->ret = at->die;
	return WALK_STOP;
}

bool dbginfo_find(struct dbginfo *dbg, const struct objsym *sym, Dwarf_Die *ret)
{
	struct search search = { .ret = ret };

	/* A COMMON one has no section yet, a thread-local one an offset instead of an address. */
	if (!sym->sec || sym->type == STT_TLS)
		search.name = sym->name;
	else if (!dbginfo_address(dbg, sym->sec, sym->value, &search.address))
		return false;
	search.function = sym->sec && objsec_is_code(sym->sec);
	dbginfo_walk(dbg, search_die, &search);
	return search.found;
}

const char *dbginfo_root(const struct dbginfo *dbg)
{
	return dbg->root;
}

void dbginfo_add_path(const struct dbginfo *dbg, const char *path, struct buf *buf)
{
	auto_free char *tidy = strdup(path);
	size_t len = strlen(dbg->root);

	if (!tidy)
		return;
	tidy_path(tidy);
	buf_addstr(buf, strncmp(tidy, dbg->root, len) ? tidy : tidy + len);
}

/* dwarf_decl_file() takes 0 for "unknown"; in DWARF 5 it is the first file, and clang uses it. */
const char *dbginfo_declaring_file(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word index;
	Dwarf_Files *files;
	Dwarf_Die cu;
	size_t n;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attr), &index) ||
	    !dwarf_cu_die(attr.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&cu, &files, &n) || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

bool dbginfo_add_srcloc(struct dbginfo *dbg, Dwarf_Die *die, struct buf *buf)
{
	const char *path = dbginfo_declaring_file(die);
	int line;

	if (!path || dwarf_decl_line(die, &line))
		return false;
	dbginfo_add_path(dbg, path, buf);
	buf_addf(buf, ":%d", line % LINES_OWN);
	return true;
}

int dbginfo_line(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Addr address;
	Dwarf_Die die;
	int number;

	if (!dbginfo_address(dbg, sec, offset, &address))
		return 0;
	while (dbginfo_next_unit(dbg, &cu, &die)) {
		Dwarf_Line *line = dwarf_getsrc_die(&die, address);

		if (line && !dwarf_lineno(line, &number))
			return number;
	}
	return 0;
}

bool dbginfo_add_line(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset,
		      struct buf *buf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Addr address;
	Dwarf_Die die;

	if (!dbginfo_address(dbg, sec, offset, &address))
		return false;
	while (!dwarf_get_units(dbg->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		Dwarf_Line *line = dwarf_getsrc_die(&die, address);
		const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		int number;

		if (!path || dwarf_lineno(line, &number))
			continue;
		dbginfo_add_path(dbg, path, buf);
		buf_addf(buf, ":%d", number % LINES_OWN);
		return true;
	}
	return false;
}

/* The first of the lines, which are in the order of their addresses, that isn't before this one. */
static size_t first_line(Dwarf_Lines *lines, size_t n, Dwarf_Addr address)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		Dwarf_Addr at;

		if (!dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at) && at < address)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Does fn want to know more? A sequence's end says nothing: other code may begin there. */
static bool tell_line(struct dbginfo *dbg, uint64_t offset, Dwarf_Line *line, line_fn fn, void *arg)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	auto_buf struct buf shown = { 0 };
	bool end = false;
	int number;

	if (!path || dwarf_lineendsequence(line, &end) || end || dwarf_lineno(line, &number) ||
	    !number)
		return true;
	dbginfo_add_path(dbg, path, &shown);
	return fn(offset, buf_str(&shown), number, arg);
}

void dbginfo_each_line(struct dbginfo *dbg, const struct objsec *sec, line_fn fn, void *arg)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Addr start, at;
	Dwarf_Die die;

	if (!dbginfo_address(dbg, sec, 0, &start))
		return;
	while (dbginfo_next_unit(dbg, &cu, &die)) {
		Dwarf_Lines *lines;
		size_t n;

		if (dwarf_getsrclines(&die, &lines, &n))
			continue;
		for (size_t i = first_line(lines, n, start); i < n; i++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, i);

			if (dwarf_lineaddr(line, &at) || at >= start + sec->size)
				break;
			if (!tell_line(dbg, at - start, line, fn, arg))
				return;
		}
	}
}

/* Where a walk to the innermost inlined function is. */
struct descent {
	Dwarf_Addr address;
	const char *name;
};

static enum walk descend(struct die_path *at, void *arg)
{
	struct descent *descent = arg;

	switch (dwarf_tag(&at->die)) {
	case DW_TAG_lexical_block:
		/* A block without code of its own may still hold one that has some. */
		return WALK_INTO;
	case DW_TAG_inlined_subroutine:
		if (dwarf_haspc(&at->die, descent->address) != 1)
			return WALK_PAST;
		descent->name = dwarf_diename(&at->die);
		return WALK_INTO;
	default:
		return WALK_PAST;
	}
}

const char *dbginfo_inlined_from(struct dbginfo *dbg, const struct objsec *sec, uint64_t offset)
{
	struct search search = { .function = true, .ret = &dbg->function };
	struct descent descent = { 0 };
	struct die_path function = { 0 };

	if (!dbginfo_address(dbg, sec, offset, &descent.address))
		return NULL;
	/* Many questions come about the same function. */
	if (!dbg->function.addr || dwarf_haspc(&dbg->function, descent.address) != 1) {
		search.address = descent.address;
		dbginfo_walk(dbg, search_die, &search);
		if (!search.found) {
			dbg->function = (Dwarf_Die){ 0 };
			return NULL;
		}
	}
	function.die = dbg->function;
	walk_children(&function, descend, &descent, 0);
	return descent.name;
}
