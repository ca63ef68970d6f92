// SPDX-License-Identifier: GPL-3.0-or-later
// call_chains.c - the chains of recorded calls, with the nanoseconds spent in each

#include "trace/output/call_chains.h"

#include <math.h>
#include <string.h>

#include "base/strmap.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"

#define NAME_MAX_LEN 512

void call_chains_release(struct call_chains *chains)
{
	struct symbol **symbol;

	calltree_release(&chains->tree);
	vec_for_each (&chains->symbols, symbol) {
		free((*symbol)->name);
		free((*symbol)->module);
		free(*symbol);
	}
	vec_release(&chains->symbols);
}

/* A new symbol; NULL when out of memory. */
static struct symbol *add_symbol(struct call_chains *chains, const char *name, const char *module)
{
	struct symbol **place, *symbol = calloc(1, sizeof(*symbol));

	if (!symbol)
		return NULL;
	symbol->name = strdup(name);
	symbol->module = strdup(module);
	symbol->id = (uint32_t)chains->symbols.n;
	place = symbol->name && symbol->module ? vec_push(&chains->symbols) : NULL;
	if (!place) {
		free(symbol->name);
		free(symbol->module);
		free(symbol);
		return NULL;
	}
	*place = symbol;
	return symbol;
}

/* The symbol of a function: one for all functions of a name. */
static const struct symbol *symbol_of(const struct reader *reader, uint32_t id,
				      struct strmap *by_name, struct call_chains *chains)
{
	char buf[NAME_MAX_LEN];
	const char *name = names_of(reader->log.names, id, buf, sizeof(buf));
	struct symbol *symbol = strmap_get(by_name, name);

	if (symbol)
		return symbol;
	symbol = add_symbol(chains, name, names_module(reader->log.names, id));
	return symbol && strmap_set(by_name, name, symbol) ? symbol : NULL;
}

static const struct symbol *thread_of(const struct reader *reader, pid_t tid,
				      struct call_chains *chains)
{
	char name[64];

	snprintf(name, sizeof(name), "%s-%d", reader->log.comm, tid);
	return add_symbol(chains, name, "");
}

int call_chains_make(const struct reader *reader, struct call_chains *ret, struct uspl_err *err)
{
	const struct timeline *timeline = &reader->timeline;
	auto_strmap struct strmap by_name = { 0 };
	/* By call, and by function. */
	auto_free uint32_t *nodes = calloc(timeline->calls.n + 1, sizeof(*nodes));
	auto_free const struct symbol **symbols =
		calloc(reader->names.by_id.n + 1, sizeof(*symbols));
	struct calltree_node *node;
	uint32_t thread = CALLTREE_ROOT;

	if (!nodes || !symbols)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < timeline->calls.n; i++) {
		const struct trace_span *span = &timeline->calls.items[i];
		const struct symbol **symbol = &symbols[span->record.id];

		if (!i || span[-1].record.tid != span->record.tid) {
			const struct symbol *name = thread_of(reader, span->record.tid, ret);

			thread = name ? calltree_child(&ret->tree, CALLTREE_ROOT, name)
				      : CALLTREE_ROOT;
		}
		nodes[i] = span->parent == TRACE_NO_CALL ? thread : nodes[span->parent];
		if (!*symbol)
			*symbol = symbol_of(reader, span->record.id, &by_name, ret);
		if (*symbol && (!reader->log.depth || span->depth < reader->log.depth))
			nodes[i] = calltree_child(&ret->tree, nodes[i], *symbol);
		if (!*symbol || thread == CALLTREE_ROOT || nodes[i] == CALLTREE_ROOT)
			return uspl_fail_nomem(err);
		ret->tree.nodes.items[nodes[i]].self += span->self;
	}
	vec_for_each (&ret->tree.nodes, node)
		node->self = (uint64_t)nearbyint(trace_ns(&reader->log, node->self));
	return 0;
}
