// SPDX-License-Identifier: GPL-3.0-or-later
// objfile.c - a relocatable ELF file as a graph in memory: making it, searching it, freeing it

#include "objfile/objfile.h"

#include <string.h>

#include "objfile/arena.h"

struct objfile *objfile_new(const char *name)
{
	struct objfile *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->name = strdup(name);
	obj->backing = arena_new();
	if (!obj->name || !obj->backing) {
		objfile_free(obj);
		return NULL;
	}
	return obj;
}

void objfile_free(struct objfile *obj)
{
	if (!obj)
		return;
	for (size_t i = 0; i < obj->secs.n; i++)
		vec_release(&obj->secs.items[i]->rels);
	vec_release(&obj->secs);
	vec_release(&obj->syms);
	arena_free(obj->backing);
	free(obj->name);
	free(obj);
}

void *objfile_memdup(struct objfile *obj, const void *data, size_t len)
{
	void *copy = arena_alloc(obj->backing, len);

	if (copy && len)
		memcpy(copy, data, len);
	return copy;
}

const char *objfile_strdup(struct objfile *obj, const char *str)
{
	return objfile_memdup(obj, str, strlen(str) + 1);
}

struct objsec *objfile_add_section(struct objfile *obj, const char *name, uint32_t type,
				   uint64_t flags)
{
	struct objsec *sec = arena_alloc(obj->backing, sizeof(*sec));
	struct objsec **slot;

	if (!sec)
		return NULL;
	sec->name = objfile_strdup(obj, name);
	slot = sec->name ? vec_push(&obj->secs) : NULL;
	if (!slot)
		return NULL;
	sec->type = type;
	sec->flags = flags;
	sec->align = 1;
	*slot = sec;
	return sec;
}

struct objsym *objfile_add_symbol(struct objfile *obj, const char *name, uint8_t type, uint8_t bind)
{
	struct objsym *sym = arena_alloc(obj->backing, sizeof(*sym));
	struct objsym **slot;

	if (!sym)
		return NULL;
	sym->name = objfile_strdup(obj, name);
	slot = sym->name ? vec_push(&obj->syms) : NULL;
	if (!slot)
		return NULL;
	sym->type = type;
	sym->bind = bind;
	*slot = sym;
	return sym;
}

static int by_offset(const void *a, const void *b)
{
	const struct objrel *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void objsec_sort_rels(struct objsec *sec)
{
	if (sec->rels.n)
		qsort(sec->rels.items, sec->rels.n, sizeof(*sec->rels.items), by_offset);
}

struct objsec *objfile_section(const struct objfile *obj, const char *name)
{
	for (size_t i = 0; i < obj->secs.n; i++)
		if (!strcmp(obj->secs.items[i]->name, name))
			return obj->secs.items[i];
	return NULL;
}

struct objsym *objfile_symbol(const struct objfile *obj, const char *name)
{
	for (size_t i = 0; i < obj->syms.n; i++)
		if (!strcmp(obj->syms.items[i]->name, name))
			return obj->syms.items[i];
	return NULL;
}
