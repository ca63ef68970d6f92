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

/* What call_chains_make works on. */
struct making {
	const struct reader *reader;
	struct call_chains *chains;
	struct strmap by_name;
	const struct symbol **symbols; /* by function */
	uint32_t thread;               /* its node */
	pid_t tid;
};

static void release(struct making *making)
{
	strmap_release(&making->by_name);
	free(making->symbols);
}

DEFINE_AUTO_RELEASE(making, struct making, release)
#define auto_making __attribute__((cleanup(cleanup_making_)))

static int enter(void *ctx, const struct trace_span *span, uint32_t *ret, struct uspl_err *err)
{
	struct making *making = ctx;
	const struct reader *reader = making->reader;
	struct call_chains *chains = making->chains;
	const struct symbol **symbol = &making->symbols[span->record.id];
	char thread[64];
	uint32_t node;

	if (making->thread == CALLTREE_ROOT || making->tid != span->record.tid) {
		const struct symbol *name;

		snprintf(thread, sizeof(thread), "%s-%d", reader->log.comm, span->record.tid);
		name = add_symbol(chains, thread, "");
		making->tid = span->record.tid;
		making->thread =
			name ? calltree_child(&chains->tree, CALLTREE_ROOT, name) : CALLTREE_ROOT;
		if (making->thread == CALLTREE_ROOT)
			return uspl_fail_nomem(err);
	}
	node = span->parent == TRACE_NO_CALL ? making->thread : span->parent;
	if (!*symbol)
		*symbol = symbol_of(reader, span->record.id, &making->by_name, chains);
	if (*symbol && (!reader->log.depth || span->depth < reader->log.depth))
		node = calltree_child(&chains->tree, node, *symbol);
	if (!*symbol || node == CALLTREE_ROOT)
		return uspl_fail_nomem(err);
	*ret = node;
	return 0;
}

static void leave(void *ctx, const struct trace_span *span, uint32_t number)
{
	struct making *making = ctx;

	making->chains->tree.nodes.items[number].self += span->self;
}

int call_chains_make(struct reader *reader, struct call_chains *ret, struct uspl_err *err)
{
	auto_making struct making making = { .reader = reader,
					     .chains = ret,
					     .thread = CALLTREE_ROOT };
	const struct timeline_visitor visitor = { enter, leave, &making };
	struct calltree_node *node;
	int rc;

	making.symbols = calloc(reader->names.by_id.n + 1, sizeof(*making.symbols));
	if (!making.symbols)
		return uspl_fail_nomem(err);
	rc = timeline_walk(&reader->records, &visitor, err);
	if (rc)
		return rc;
	vec_for_each (&ret->tree.nodes, node)
		node->self = (uint64_t)nearbyint(trace_ns(&reader->log, node->self));
	return 0;
}
