// SPDX-License-Identifier: GPL-3.0-or-later
// symbols.c - the functions that addresses lie in, by all that the process has mapped

#include "trace/watch/symbols.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "record/region.h"

#define CACHE_SLOTS 65536 /* a power of two; symbols by address */

struct cached {
	taddr pc;
	const struct symbol *symbol; /* NULL: the slot is free */
};

typedef VEC(struct image *) image_list;

struct symbols {
	struct proc *proc;
	module_vec modules;
	image_list images;     /* by module, NULL until asked for */
	region_vec regions;    /* of updates */
	struct strmap by_name; /* "MODULE NAME" -> struct symbol */
	VEC(struct symbol *) all;
	struct cached *cache;
};

/* What the process has mapped, as of one moment. */
static void forget(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->images.n; i++)
		image_free(symbols->images.items[i]);
	vec_release(&symbols->images);
	modules_release(&symbols->modules);
	regions_release(&symbols->regions);
}

static int read_mapped(struct proc *proc, struct symbols *now, struct uspl_err *err)
{
	int rc = proc_refresh_maps(proc, err);

	if (rc)
		return rc;
	rc = modules_read(proc, &now->modules, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < now->modules.n; i++)
		if (!vec_push(&now->images))
			return uspl_fail_nomem(err);
	return regions_read(proc, &now->regions, err);
}

int symbols_refresh(struct symbols *symbols, struct uspl_err *err)
{
	struct symbols now = { 0 };
	int rc = read_mapped(symbols->proc, &now, err);

	if (rc) {
		forget(&now);
		return rc;
	}
	forget(symbols);
	symbols->modules = now.modules;
	symbols->images = now.images;
	symbols->regions = now.regions;
	memset(symbols->cache, 0, CACHE_SLOTS * sizeof(*symbols->cache));
	return 0;
}

int symbols_new(struct proc *proc, struct symbols **ret, struct uspl_err *err)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int rc;

	if (!symbols)
		return uspl_fail_nomem(err);
	symbols->proc = proc;
	symbols->cache = calloc(CACHE_SLOTS, sizeof(*symbols->cache));
	rc = symbols->cache ? symbols_refresh(symbols, err) : uspl_fail_nomem(err);
	if (rc)
		symbols_free(symbols);
	else
		*ret = symbols;
	return rc;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	forget(symbols);
	for (size_t i = 0; i < symbols->all.n; i++) {
		free(symbols->all.items[i]->name);
		free(symbols->all.items[i]->module);
		free(symbols->all.items[i]);
	}
	vec_release(&symbols->all);
	strmap_release(&symbols->by_name);
	free(symbols->cache);
	free(symbols);
}

const module_vec *symbols_modules(const struct symbols *symbols)
{
	return &symbols->modules;
}

/* The symbol of that name in the module, made if it is new; NULL when out of memory. */
static struct symbol *intern(struct symbols *symbols, const char *name, const char *module)
{
	auto_buf struct buf key = { 0 };
	struct symbol *symbol, **place;

	buf_addf(&key, "%s %s", module, name);
	symbol = key.oom ? NULL : strmap_get(&symbols->by_name, buf_str(&key));
	if (symbol || key.oom)
		return symbol;
	place = vec_push(&symbols->all);
	if (!place)
		return NULL;
	symbol = *place = calloc(1, sizeof(*symbol));
	if (!symbol) {
		symbols->all.n--;
		return NULL;
	}
	symbol->id = (uint32_t)(symbols->all.n - 1);
	symbol->name = strdup(name);
	symbol->module = strdup(module);
	return symbol->name && symbol->module &&
			       strmap_set(&symbols->by_name, buf_str(&key), symbol)
		       ? symbol
		       : NULL;
}

/* NULL if the module's symbols say nothing of pc. */
static const struct image_sym *find_sym(struct symbols *symbols, const struct module *module,
					taddr pc)
{
	struct image **image = &symbols->images.items[module - symbols->modules.items];

	if (!*image && module_image(symbols->proc, module, image, NULL) != 0)
		return NULL;
	return image_sym_at(*image, pc);
}

static const struct symbol *of_module(struct symbols *symbols, const struct module *module,
				      taddr pc)
{
	const struct image_sym *sym = find_sym(symbols, module, pc);
	auto_free char *plain = NULL;
	auto_buf struct buf unnamed = { 0 };

	if (sym) {
		plain = demangle_symbol(sym->name);
		return plain ? intern(symbols, plain, module->name) : NULL;
	}
	if (module->is_vdso)
		return intern(symbols, "[vdso]", module->name);
	buf_addf(&unnamed, "[%s]", module->name);
	return intern(symbols, buf_str(&unnamed), module->name);
}

/* In an update's code. */
static const struct symbol *of_update(struct symbols *symbols, const struct region *region,
				      taddr pc)
{
	const struct region_range *function = regions_function_at(&symbols->regions, pc, &region);
	auto_free char *plain = function ? demangle_symbol(function->name) : NULL;

	return intern(symbols, plain ? plain : "[update]", region->module_name);
}

static const struct region *region_at(const struct symbols *symbols, taddr pc)
{
	const struct region *region;

	vec_for_each (&symbols->regions, region)
		if (pc >= region->text && pc - region->text < region->text_len)
			return region;
	return NULL;
}

static const struct symbol *look_up(struct symbols *symbols, taddr pc)
{
	const struct module *module = module_at(&symbols->modules, pc);
	const struct region *region = module ? NULL : region_at(symbols, pc);

	if (module)
		return of_module(symbols, module, pc);
	return region ? of_update(symbols, region, pc) : intern(symbols, "[unknown]", "?");
}

const struct symbol *symbols_at(struct symbols *symbols, taddr pc)
{
	struct cached *cached = &symbols->cache[(pc ^ pc >> 16) & (CACHE_SLOTS - 1)];

	if (!cached->symbol || cached->pc != pc)
		*cached = (struct cached){ pc, look_up(symbols, pc) };
	return cached->symbol;
}

bool symbols_function(struct symbols *symbols, taddr pc, taddr *ret_start, uint64_t *ret_size)
{
	const struct module *module = module_at(&symbols->modules, pc);
	const struct image_sym *sym = module ? find_sym(symbols, module, pc) : NULL;

	if (!sym)
		return false;
	*ret_start = sym->addr;
	*ret_size = sym->size;
	return true;
}

const struct symbol *symbols_mark(struct symbols *symbols, const char *name)
{
	return intern(symbols, name, "?");
}

bool symbols_is_strange(const struct symbols *symbols, taddr pc)
{
	return !module_at(&symbols->modules, pc) && !region_at(symbols, pc);
}
