// SPDX-License-Identifier: GPL-3.0-or-later
// usdt.c - the probes that programs carry in the form of sys/sdt.h
/*
 * A note (owner "stapsdt", type 3): the NOP's address, that of .stapsdt.base, the semaphore's; then
 * provider, name, arguments. Addresses are those at the time of linking; a tool that has moved the
 * file's sections since (prelink) has moved .stapsdt.base with them.
 */

#include "trace/probe/usdt.h"

#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/note.h"
#include "trace/probe/widen_nop.h"

#define OWNER "stapsdt"
#define TYPE 3
#define NOTES ".note.stapsdt"
#define BASE ".stapsdt.base"

struct addresses {
	uint64_t site, base, semaphore;
};

/* What is found in the file. */
struct file {
	const struct image *image;
	int64_t bias;
	uint64_t base; /* of BASE, 0 if there is none */
	struct markers *markers;
	size_t first; /* the file's markers begin there */
};

/* The next of the texts behind the addresses, NULL if there is none. */
static const char *next_text(const struct note *note, size_t *at)
{
	const char *text = (const char *)note->desc + *at;
	size_t room = note->desc_len - *at, len = strnlen(text, room);

	if (len == room)
		return NULL;
	*at += len + 1;
	return text;
}

/* The address of a symbol that an argument's place refers to. */
static bool resolve(const struct image *image, struct place *place)
{
	const struct image_sym *sym;

	vec_for_each (&image->syms, sym)
		if (!strcmp(sym->name, place->symbol)) {
			place->number += (int64_t)sym->addr;
			return true;
		}
	return false;
}

static void read_args(const struct image *image, struct marker *marker, const char *text)
{
	struct uspl_err err = { 0 };

	while (*text == ' ')
		text++;
	for (; *text && !marker->why[0]; marker->n_args++) {
		struct marker_arg *arg = &marker->args[marker->n_args];

		if (marker->n_args == USPL_PROBE_ARGS_MAX) {
			snprintf(marker->why, sizeof(marker->why), "it has more than %d arguments",
				 USPL_PROBE_ARGS_MAX);
			return;
		}
		if (place_parse(&text, &arg->place, &err)) {
			snprintf(marker->why, sizeof(marker->why), "%.150s", err.msg);
			return;
		}
		arg->kind = arg->place.is_float    ? USPL_PROBE_FLOAT
			    : arg->place.is_signed ? USPL_PROBE_SIGNED
						   : USPL_PROBE_UNSIGNED;
		if (arg->place.symbol && !resolve(image, &arg->place))
			snprintf(marker->why, sizeof(marker->why),
				 "argument %zu is at '%.80s', which has no address",
				 marker->n_args + 1, arg->place.symbol);
	}
}

static int add(struct file *file, const struct note *note, struct uspl_err *err)
{
	struct addresses addrs;
	size_t at = sizeof(addrs);
	const char *provider, *name, *args;
	struct marker *marker;
	auto_buf struct buf label = { 0 };
	int64_t move;

	if (note->desc_len <= sizeof(addrs))
		return 0;
	memcpy(&addrs, note->desc, sizeof(addrs));
	provider = next_text(note, &at);
	name = provider ? next_text(note, &at) : NULL;
	args = name ? next_text(note, &at) : NULL;
	if (!args || !*provider || !*name)
		return 0;
	buf_addf(&label, "%s:%s", provider, name);
	marker = label.oom ? NULL : vec_push(&file->markers->sites);
	if (!marker)
		return uspl_fail_nomem(err);
	move = file->bias + (file->base ? (int64_t)(file->base - addrs.base) : 0);
	marker->usdt = true;
	marker->site = addrs.site + (taddr)move;
	marker->semaphore = addrs.semaphore ? addrs.semaphore + (taddr)move : 0;
	read_args(file->image, marker, args);
	marker->name = buf_take(&label);
	return marker->name ? 0 : uspl_fail_nomem(err);
}

static const char *name_of(Elf *elf, const GElf_Shdr *shdr)
{
	size_t names;
	const char *name =
		elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, shdr->sh_name);

	return name ? name : "";
}

static int read_sections(struct file *file, Elf *elf, struct uspl_err *err)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	struct note note;
	int rc = 0;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && !strcmp(name_of(elf, &shdr), BASE))
			file->base = shdr.sh_addr;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		size_t at = 0;

		if (!gelf_getshdr(scn, &shdr) || strcmp(name_of(elf, &shdr), NOTES) != 0)
			continue;
		data = shdr.sh_type == SHT_NOTE ? elf_rawdata(scn, NULL) : NULL;
		while (data && data->d_buf && note_next(data->d_buf, data->d_size, 4, &at, &note)) {
			if (!note_is(&note, OWNER, TYPE))
				continue;
			rc = add(file, &note, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int usdt_find(const struct proc *proc, const struct module *module, const struct image *image,
	      struct markers *markers, struct uspl_err *err)
{
	struct file file = { image, module->bias, 0, markers, markers->sites.n };
	int fd = module->is_vdso ? -1 : module_open_file(proc, module), rc = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		rc = read_sections(&file, elf, err);
	elf_end(elf);
	close(fd);
	if (rc)
		return rc;
	if (markers->sites.n > file.first)
		return widen_nops(image, markers->sites.items + file.first,
				  markers->sites.n - file.first, err);
	return 0;
}
