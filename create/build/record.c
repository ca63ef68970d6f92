// SPDX-License-Identifier: GPL-3.0-or-later
// record.c - what the compiler wrapper noted (create/wrapper/record_write.h is the format)

#include "create/build/record.h"

#include "base/strvec.h"
#include "base/text.h"
#include "create/build/scratch.h"
#include "create/tree/tree.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Turns %XX back, in place. False if a '%' isn't followed by two digits, or they spell a NUL. */
static bool unescape(char *text)
{
	char *out = text;

	for (char *p = text; *p; p++) {
		int high, low;

		if (*p != '%') {
			*out++ = *p;
			continue;
		}
		high = hex_digit(p[1]);
		low = high < 0 ? -1 : hex_digit(p[2]);
		if (low < 0 || (high | low) == 0)
			return false;
		*out++ = (char)(high << 4 | low);
		p += 2;
	}
	*out = '\0';
	return true;
}

typedef VEC(char *) field_list;

/* Cuts a line at its tabs, in place. */
static int split(char *line, field_list *fields, struct uspl_err *err)
{
	while (line) {
		char *tab = strchr(line, '\t');
		char **slot = vec_push(fields);

		if (!slot)
			return uspl_fail_nomem(err);
		if (tab)
			*tab++ = '\0';
		if (!unescape(line))
			return uspl_fail(err, USPL_E_FILE,
					 "the compiler wrapper's record is damaged");
		*slot = line;
		line = tab;
	}
	return 0;
}

static const struct {
	const char *name;
	size_t fields; /* before the inputs */
	size_t saved;  /* the field with the saved copy */
	bool inputs;
} kinds[] = {
	[RECORD_COMPILE] = { "compile", 7, 4, false },
	[RECORD_LTO] = { "lto", 7, 4, false },
	[RECORD_PARTIAL] = { "partial", 4, 2, true },
	[RECORD_LINK] = { "link", 4, 2, true },
};

static bool find_kind(const field_list *fields, enum record_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(fields->items[0], kinds[i].name))
			continue;
		*ret = (enum record_kind)i;
		return kinds[i].inputs ? fields->n >= kinds[i].fields
				       : fields->n == kinds[i].fields;
	}
	return false;
}

/* Copies a field that the record's kind has. "" stands for none. */
static bool set_string(char **place, const field_list *fields, size_t index)
{
	if (!index || !fields->items[index][0])
		return true;
	*place = strdup(fields->items[index]);
	return *place;
}

/* An input, or "@FILE": a copy of the last input. */
static bool add_input(struct record *record, const char *field)
{
	auto_free char *copy = strdup(*field == '@' ? field + 1 : field);
	char **last = record->inputs.n ? &record->inputs.items[record->inputs.n - 1] : NULL;

	if (!copy)
		return false;
	if (*field == '@' && last) {
		if (!strmap_get(&record->kept, *last) && strmap_set(&record->kept, *last, copy))
			(void)take_ptr(copy);
		return strmap_get(&record->kept, *last);
	}
	return strvec_take(&record->inputs, take_ptr(copy));
}

static int set_strings(struct record *record, const field_list *fields, struct uspl_err *err)
{
	bool compile = record->kind == RECORD_COMPILE || record->kind == RECORD_LTO;
	bool fine = set_string(&record->output, fields, 1) &&
		    set_string(&record->source, fields, compile ? 2 : 0) &&
		    set_string(&record->cwd, fields, compile ? 3 : 0) &&
		    set_string(&record->saved, fields, kinds[record->kind].saved) &&
		    set_string(&record->deps, fields, compile ? 5 : 0) &&
		    set_string(&record->command, fields, compile ? 6 : 3);

	for (size_t i = kinds[record->kind].fields; fine && i < fields->n; i++)
		fine = add_input(record, fields->items[i]);
	if (!fine)
		return uspl_fail_nomem(err);
	if (!record->output || (compile && (!record->source || !record->cwd || !record->command)) ||
	    (record->kind != RECORD_LINK && !record->saved))
		return uspl_fail(err, USPL_E_FILE, "the compiler wrapper's record is damaged");
	return 0;
}

/* By the sections from which gcc's plugin and LLVM's linker know such objects. */
static enum record_lto lto_of(Elf *elf)
{
	/* gcc's lto-streamer.h, struct lto_section: two 16-bit numbers, then the byte. */
	enum { SLIM_AT = 4 };
	enum record_lto lto = LTO_NONE;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return LTO_SLIM; /* LLVM's form alone isn't ELF */
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		const Elf_Data *data = NULL;

		if (name && !strncmp(name, ".gnu.lto_.lto.", 14))
			data = elf_rawdata(scn, NULL);
		if (data && data->d_size > SLIM_AT && ((const char *)data->d_buf)[SLIM_AT])
			return LTO_SLIM;
		if (name && (!strncmp(name, ".gnu.lto_", 9) || !strcmp(name, ".llvm.lto")))
			lto = LTO_FAT;
	}
	return lto;
}

/* Where nothing asks for link-time optimisation, no object has to be read. */
static enum record_lto find_lto(const struct record *record)
{
	auto_close int fd = -1;
	enum record_lto lto;
	Elf *elf;

	if (record->kind != RECORD_COMPILE || !strstr(record->command, "-flto"))
		return LTO_NONE;
	fd = open(record->saved, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	lto = elf ? lto_of(elf) : LTO_NONE;
	elf_end(elf);
	return lto;
}

static int add_record(enum record_kind kind, const field_list *fields, record_list *records,
		      struct uspl_err *err)
{
	struct record **slot = vec_push(records);
	struct stat st;
	int rc;

	if (!slot || !(*slot = calloc(1, sizeof(**slot))))
		return uspl_fail_nomem(err);
	(*slot)->kind = kind;
	rc = set_strings(*slot, fields, err);
	if (rc)
		return rc;
	if ((*slot)->saved && stat((*slot)->saved, &st) == 0)
		(*slot)->size = (uint64_t)st.st_size;
	(*slot)->lto = find_lto(*slot);
	return 0;
}

int record_read(const char *work, const char *phase, record_list *ret, struct uspl_err *err)
{
	auto_scratch struct scratch scratch = { 0 };
	auto_buf struct buf text = { 0 };
	auto_free char *lines = NULL;
	auto_free char *path = NULL;
	int rc;

	path = text_format("%s/record-%s", work, phase);
	if (!path)
		return uspl_fail_nomem(err);
	rc = access(path, F_OK) < 0 ? 0 : file_read(path, &text, err);
	if (!rc && text.len && memchr(text.data, '\0', text.len))
		return uspl_fail(err, USPL_E_FILE, "the compiler wrapper's record is damaged");
	lines = rc ? NULL : buf_take(&text);
	if (lines)
		rc = scratch_rename(&scratch, &lines, err);
	if (rc)
		return rc;
	for (char *line = lines; line && *line;) {
		auto_vec field_list fields = { 0 };
		enum record_kind kind = RECORD_COMPILE;
		char *end = strchr(line, '\n');

		if (!end)
			return uspl_fail(err, USPL_E_FILE,
					 "the compiler wrapper's record is cut short");
		*end = '\0';
		rc = split(line, &fields, err);
		if (rc)
			return rc;
		if (!find_kind(&fields, &kind))
			return uspl_fail(err, USPL_E_FILE,
					 "the compiler wrapper's record is damaged");
		rc = add_record(kind, &fields, ret, err);
		if (rc)
			return rc;
		line = end + 1;
	}
	return 0;
}

void record_release(record_list *records)
{
	struct record **slot;

	vec_for_each (records, slot) {
		struct record *record = *slot;

		if (!record)
			continue;
		strvec_release(&record->inputs);
		for (size_t i = 0; i < record->kept.cap; i++)
			if (record->kept.slots[i].key)
				free(record->kept.slots[i].value);
		strmap_release(&record->kept);
		free(record->output);
		free(record->source);
		free(record->cwd);
		free(record->saved);
		free(record->deps);
		free(record->command);
		free(record);
	}
	vec_release(records);
}

/*
 * The next name of a list in make's syntax: blanks separate, "\ " and "\#" and "$$" stand for the
 * character itself.
 */
static const char *next_dep(const char *p, struct buf *name)
{
	while (*p && (strchr(" \t\r\n", *p) || (*p == '\\' && (p[1] == '\n' || p[1] == '\r'))))
		p++;
	for (; *p && !strchr(" \t\r\n", *p); p++) {
		if (*p == '\\' && p[1] && strchr(" #\\", p[1]))
			p++;
		else if (*p == '\\' && (p[1] == '\n' || p[1] == '\r'))
			break;
		else if (*p == '$' && p[1] == '$')
			p++;
		buf_add(name, p, 1);
	}
	return p;
}

int record_each_file(const struct record *record, record_visit visit, void *ctx,
		     struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	int rc = record->deps ? file_read(record->deps, &text, err) : 0;

	if (rc)
		return rc;
	rc = visit(record->source, ctx, err);
	if (rc)
		return rc;
	/* The list begins with "OBJECT:", which names no file of the tree. */
	for (const char *p = buf_str(&text); *p;) {
		auto_buf struct buf name = { 0 };
		auto_free char *joined = NULL;

		p = next_dep(p, &name);
		if (name.oom)
			return uspl_fail_nomem(err);
		if (!name.len)
			continue;
		if (*buf_str(&name) != '/')
			joined = file_join(record->cwd, buf_str(&name));
		rc = visit(joined ? joined : buf_str(&name), ctx, err);
		if (rc)
			return rc;
	}
	return 0;
}

struct dependence {
	const strvec *files;
	bool found;
};

static int note_dependence(const char *path, void *ctx, struct uspl_err *err)
{
	struct dependence *dependence = ctx;
	auto_free char *real = NULL;
	bool known = false;
	char **file;

	(void)err;
	/*
	 * Most names are of headers that have nothing to do with the patch: those are not looked
	 * up. One that is gone is known as it is written there.
	 */
	vec_for_each (dependence->files, file)
		known |= !dependence->found && !strcmp(file_basename(*file), file_basename(path));
	if (!known)
		return 0;
	real = realpath(path, NULL);
	dependence->found = strvec_has(dependence->files, real ? real : path);
	return 0;
}

int record_depends(const struct record *record, const strvec *files, bool *ret,
		   struct uspl_err *err)
{
	struct dependence dependence = { files, false };
	int rc = record_each_file(record, note_dependence, &dependence, err);

	if (rc)
		return rc;
	*ret = dependence.found || strvec_has(files, record->source);
	return 0;
}
