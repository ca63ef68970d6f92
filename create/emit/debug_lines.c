// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * debug_lines.c - the lines of a unit's debugging information, as they are in the patched text
 *
 * A table of lines is a program (DWARF 5, 6.2): its operations add to a line number and to an
 * address, and some of them make a row of both. The program is copied operation by operation, with
 * the line kept twice: as the compiler counts it, and as the copy has it so far. Before an
 * operation that makes a row, the copy catches up. So whatever else the operations say stays as it
 * is.
 */

#include "create/emit/debug_lines.h"

#include <dwarf.h>
#include <string.h>

#include "base/buf.h"

struct cursor {
	const uint8_t *at, *end;
	bool bad; /* it would have gone beyond the end */
};

static uint64_t take(struct cursor *cursor, size_t len)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < len) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&value, cursor->at, len);
	cursor->at += len;
	return value;
}

static uint64_t take_leb(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte = 0;

	do {
		byte = (uint8_t)take(cursor, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= ~0ull << shift;
	return value;
}

/* What a table's head says. */
struct head {
	size_t program; /* where the operations begin */
	int8_t line_base;
	uint8_t line_range, opcode_base, lengths[256];
};

/* A table of lines, and its copy. */
struct table {
	const struct objsec *sec;
	const struct numbered_source **sources; /* by file; NULL: its numbers are right */
	size_t n_sources;
	struct head head;
	struct buf out;
	size_t next_rel; /* of sec, that hasn't been moved */
	/* The machine's registers, and the line that the copy has come to. */
	uint64_t file, line, copied;
};

/* False: it is of a form that isn't known, or there are several tables. */
static bool read_head(const struct objsec *sec, struct head *ret)
{
	struct cursor cursor = { sec->data, sec->data + sec->size, false };
	uint64_t len = take(&cursor, 4), version = take(&cursor, 2);

	if (len != sec->size - 4 || version < 2 || version > 5)
		return false;
	if (version == 5)
		take(&cursor, 2);
	len = take(&cursor, 4);
	ret->program = (size_t)(cursor.at - sec->data) + len;
	if (len > (size_t)(cursor.end - cursor.at))
		return false;
	take(&cursor, version >= 4 ? 3 : 2);
	ret->line_base = (int8_t)take(&cursor, 1);
	ret->line_range = (uint8_t)take(&cursor, 1);
	ret->opcode_base = (uint8_t)take(&cursor, 1);
	for (size_t i = 1; i < ret->opcode_base; i++)
		ret->lengths[i] = (uint8_t)take(&cursor, 1);
	return !cursor.bad && ret->line_range && ret->opcode_base > DW_LNS_set_file;
}

/* The path of a file relative to the tree, as the map has it. */
static const struct numbered_source *source_of(const struct dbginfo *dbg, const lines_map *map,
					       const char *path)
{
	auto_buf struct buf name = { 0 };

	if (!path)
		return NULL;
	dbginfo_add_path(dbg, path, &name);
	return lines_map_find(map, buf_str(&name));
}

static bool find_sources(struct table *table, struct dbginfo *dbg, Dwarf_Die *cu,
			 const lines_map *map)
{
	Dwarf_Files *files;
	bool any = false;
	size_t n;

	if (dwarf_getsrcfiles(cu, &files, &n))
		return false;
	table->sources = calloc(n + 1, sizeof(struct numbered_source *));
	if (!table->sources)
		return false;
	table->n_sources = n;
	for (size_t i = 0; i < n; i++) {
		table->sources[i] = source_of(dbg, map, dwarf_filesrc(files, i, NULL, NULL));
		any |= table->sources[i] != NULL;
	}
	return any;
}

/* The line of the text that is meant now. */
static uint64_t real_line(const struct table *table)
{
	const struct numbered_source *source =
		table->file < table->n_sources ? table->sources[table->file] : NULL;

	return source ? lines_map_line(source, table->line) : table->line;
}

/* The copy's line, before an operation that makes a row and adds so much itself. */
static void catch_up(struct table *table, int64_t adds)
{
	int64_t missing = (int64_t)(real_line(table) - table->copied) - adds;

	if (missing) {
		const uint8_t opcode = DW_LNS_advance_line;

		buf_add(&table->out, &opcode, 1);
		buf_add_sleb(&table->out, missing);
	}
	table->copied = real_line(table);
}

/* Copies the bytes of an operation, with the relocations in it. */
static void copy(struct table *table, const uint8_t *from, const uint8_t *end)
{
	size_t start = (size_t)(from - table->sec->data), stop = (size_t)(end - table->sec->data);

	for (; table->next_rel < table->sec->rels.n; table->next_rel++) {
		struct objrel *rel = &table->sec->rels.items[table->next_rel];

		if (rel->offset >= stop)
			break;
		rel->offset = rel->offset - start + table->out.len;
	}
	buf_add(&table->out, from, (size_t)(end - from));
}

static void begin_sequence(struct table *table)
{
	table->file = table->line = table->copied = 1;
}

static void copy_extended(struct table *table, struct cursor *cursor, const uint8_t *start)
{
	uint64_t len = take_leb(cursor, false);
	uint8_t opcode;

	if (!len || len > (size_t)(cursor->end - cursor->at)) {
		cursor->bad = true;
		return;
	}
	opcode = *cursor->at;
	cursor->at += len;
	copy(table, start, cursor->at);
	if (opcode == DW_LNE_end_sequence)
		begin_sequence(table);
}

static void copy_standard(struct table *table, struct cursor *cursor, const uint8_t *start,
			  uint8_t opcode)
{
	if (opcode == DW_LNS_advance_line) {
		table->line += take_leb(cursor, true);
		return;
	}
	if (opcode == DW_LNS_copy)
		catch_up(table, 0);
	if (opcode == DW_LNS_fixed_advance_pc)
		take(cursor, 2);
	else if (opcode == DW_LNS_set_file)
		table->file = take_leb(cursor, false);
	else
		for (size_t i = 0; i < table->head.lengths[opcode]; i++)
			take_leb(cursor, false);
	copy(table, start, cursor->at);
}

static bool copy_program(struct table *table)
{
	const struct objsec *sec = table->sec;
	struct cursor cursor = { sec->data + table->head.program, sec->data + sec->size, false };

	copy(table, sec->data, cursor.at);
	begin_sequence(table);
	while (cursor.at < cursor.end && !cursor.bad) {
		const uint8_t *start = cursor.at;
		uint8_t opcode = (uint8_t)take(&cursor, 1);
		int adds;

		if (!opcode) {
			copy_extended(table, &cursor, start);
		} else if (opcode < table->head.opcode_base) {
			copy_standard(table, &cursor, start, opcode);
		} else {
			adds = table->head.line_base +
			       (opcode - table->head.opcode_base) % table->head.line_range;
			table->line += (uint64_t)(int64_t)adds;
			catch_up(table, adds);
			copy(table, start, cursor.at);
		}
	}
	return !cursor.bad && !table->out.oom;
}

static int restore_table(struct table *table, struct objfile *file, struct objsec *sec,
			 struct uspl_err *err)
{
	const size_t rels_len = sec->rels.n * sizeof(*sec->rels.items);
	auto_free struct objrel *before = malloc(rels_len + 1);
	uint32_t len;

	if (!before)
		return uspl_fail_nomem(err);
	if (rels_len)
		memcpy(before, sec->rels.items, rels_len);
	if (!copy_program(table)) {
		/* It stays as it was. */
		if (rels_len)
			memcpy(sec->rels.items, before, rels_len);
		return table->out.oom ? uspl_fail_nomem(err) : 0;
	}
	len = (uint32_t)(table->out.len - sizeof(len));
	memcpy(table->out.data, &len, sizeof(len));
	sec->data = objfile_memdup(file, table->out.data, table->out.len);
	sec->size = table->out.len;
	return sec->data ? 0 : uspl_fail_nomem(err);
}

/* Writes a number over another one, if it can be as long. */
static void overwrite(uint8_t *at, const uint8_t *end, unsigned int form, uint64_t value)
{
	size_t len = form == DW_FORM_data1   ? 1
		     : form == DW_FORM_data2 ? 2
		     : form == DW_FORM_data4 ? 4
					     : 0;

	if (form == DW_FORM_udata) {
		while (at + len < end && (at[len] & 0x80))
			len++;
		len++;
		if (len > (size_t)(end - at) || (len < 9 && value >> (7 * len)))
			return;
		for (size_t i = 0; i < len; i++, value >>= 7)
			at[i] = (uint8_t)((value & 0x7f) | (i + 1 < len ? 0x80 : 0));
		return;
	}
	if (len && len <= (size_t)(end - at) && !(value >> (8 * len)))
		memcpy(at, &value, len);
}

/* What a walk over the declarations has at hand. */
struct declarations {
	const struct dbginfo *dbg;
	const lines_map *map;
	struct objsec *info;
};

static enum walk restore_die(struct die_path *at, void *arg)
{
	const struct declarations *decls = arg;
	Dwarf_Attribute attr;
	Dwarf_Word number;
	const struct numbered_source *source;
	uint64_t offset;

	if (dwarf_formudata(dwarf_attr(&at->die, DW_AT_decl_line, &attr), &number))
		return WALK_INTO;
	source = source_of(decls->dbg, decls->map, dbginfo_declaring_file(&at->die));
	offset = dwarf_dieoffset(&at->die) +
		 (uint64_t)((const uint8_t *)attr.valp - (const uint8_t *)at->die.addr);
	/* Some numbers stand among the abbreviations, for several declarations at once. */
	if (source && attr.form != DW_FORM_implicit_const && offset < decls->info->size)
		overwrite(decls->info->data + offset, decls->info->data + decls->info->size,
			  attr.form, lines_map_line(source, number));
	return WALK_INTO;
}

int debug_lines_restore(struct dbginfo *dbg, const lines_map *map, struct objfile *file,
			struct uspl_err *err)
{
	struct objsec *sec = objfile_section(file, ".debug_line");
	struct declarations decls = { dbg, map, objfile_section(file, ".debug_info") };
	struct table table = { .sec = sec };
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int rc = 0;

	if (!map->n || !sec || !sec->data || !decls.info || !decls.info->data ||
	    !dbginfo_next_unit(dbg, &cu, &die))
		return 0;
	if (read_head(sec, &table.head) && find_sources(&table, dbg, &die, map)) {
		rc = restore_table(&table, file, sec, err);
		if (!rc)
			dbginfo_walk(dbg, restore_die, &decls);
	}
	buf_release(&table.out);
	free(table.sources);
	return rc;
}
