// SPDX-License-Identifier: GPL-3.0-or-later
// places.c - addresses of a process as people write them: functions, lines, variables

#include "trace/tally/places.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "base/log.h"
#include "image/image_debug.h"

int places_open(const struct proc *proc, const module_vec *modules, struct places *ret,
		struct uspl_err *err)
{
	*ret = (struct places){ .proc = proc, .modules = modules };
	/* Without them their code has no names. */
	if (regions_read(proc, &ret->regions, NULL))
		log_debug("trace", "the records of updates can't be read");
	for (size_t i = 0; i < modules->n; i++)
		if (!vec_push(&ret->images))
			return uspl_fail_nomem(err);
	return 0;
}

void places_close(struct places *places)
{
	for (size_t i = 0; i < places->images.n; i++)
		image_free(places->images.items[i]);
	vec_release(&places->images);
	regions_release(&places->regions);
}

/* The image of a module, made when it is first asked for; NULL if that fails. */
static const struct image *image_of(struct places *places, const struct module *module)
{
	struct image **image = &places->images.items[module - places->modules->items];

	if (!*image && module_image(places->proc, module, image, NULL) != 0)
		return NULL;
	return *image;
}

static void add_name(const char *name, struct buf *out)
{
	auto_free char *plain = demangle_symbol(name);

	if (plain)
		buf_addstr(out, plain);
}

/* Where addr is, by the name and the line of what lies at `known`. */
static void add_place(struct places *places, taddr addr, taddr known, struct buf *out)
{
	const struct module *module = module_at(places->modules, addr);
	const struct image *image = module ? image_of(places, module) : NULL;
	const struct image_sym *sym = image ? image_sym_at(image, known) : NULL;
	const struct region *update;
	const struct region_range *new =
		module ? NULL : regions_function_at(&places->regions, known, &update);
	auto_free char *line = image ? image_line(image, known) : NULL;

	if (new) {
		add_name(new->name, out);
		if (addr != new->addr)
			buf_addf(out, "+0x%" PRIx64, addr - new->addr);
	} else if (sym && line) {
		add_name(sym->name, out);
		buf_addf(out, " (%s)", line);
	} else if (sym) {
		add_name(sym->name, out);
		if (addr != sym->addr)
			buf_addf(out, "+0x%" PRIx64, addr - sym->addr);
	} else if (module) {
		buf_addf(out, "%s+0x%" PRIx64, module->name, addr - module->start);
	} else {
		buf_addf(out, "0x%" PRIx64, addr);
	}
}

void places_add_caller(struct places *places, taddr addr, struct buf *out)
{
	/* The call stands before its return address. */
	add_place(places, addr, addr - 1, out);
}

void places_add_function(struct places *places, taddr addr, struct buf *out)
{
	add_place(places, addr, addr, out);
}

void places_add_object(struct places *places, taddr addr, struct buf *out)
{
	const struct module *module = module_at(places->modules, addr);
	const struct image *image = module ? image_of(places, module) : NULL;
	const struct image_sym *sym = image ? image_sym_at(image, addr) : NULL;

	if (!sym) {
		buf_addf(out, "0x%" PRIx64, addr);
		return;
	}
	add_name(sym->name, out);
	if (addr != sym->addr)
		buf_addf(out, "+0x%" PRIx64, addr - sym->addr);
}
