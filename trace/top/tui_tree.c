// SPDX-License-Identifier: GPL-3.0-or-later
// tui_tree.c - the calls of a trace as a tree, which can be folded
//
// A chain of callers may be as long as a stack is deep: nothing here calls itself.

#include "trace/top/tui_tree.h"

#include <stdlib.h>

void tui_tree_release(struct tui_tree *tree)
{
	calltree_release(&tree->tree);
	free(tree->symbols);
	free(tree->branches);
	vec_release(&tree->shown);
	*tree = (struct tui_tree){ 0 };
}

/* A node for each chain; *ret_nodes, by call, for the caller to free. */
static int add_nodes(struct tui_tree *tree, const struct timeline *timeline, pid_t tid,
		     uint32_t **ret_nodes, struct uspl_err *err)
{
	auto_free uint32_t *nodes = calloc(timeline->calls.n + 1, sizeof(*nodes));
	const struct trace_span *span;
	uint32_t last = 0;

	vec_for_each (&timeline->calls, span)
		last = span->record.id > last ? span->record.id : last;
	tree->symbols = calloc((size_t)last + 1, sizeof(*tree->symbols));
	if (!nodes || !tree->symbols)
		return uspl_fail_nomem(err);
	/* Callers come before those that they call. */
	for (size_t i = 0; i < timeline->calls.n; i++) {
		uint32_t parent = timeline->calls.items[i].parent;
		struct symbol *symbol = &tree->symbols[timeline->calls.items[i].record.id];

		nodes[i] = CALLTREE_ROOT;
		if (tid && timeline->calls.items[i].record.tid != tid)
			continue;
		symbol->id = timeline->calls.items[i].record.id;
		nodes[i] = calltree_child(&tree->tree,
					  parent == TRACE_NO_CALL ? CALLTREE_ROOT : nodes[parent],
					  symbol);
		if (nodes[i] == CALLTREE_ROOT)
			return uspl_fail_nomem(err);
	}
	*ret_nodes = nodes;
	nodes = NULL;
	return 0;
}

struct place {
	uint32_t node, parent;
	uint64_t total;
};

/* A parent's branches one after the other, the smallest first. */
static int by_parent_and_total(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->node > y->node ? -1 : x->node < y->node;
}

static int put_in_order(struct tui_tree *tree, struct uspl_err *err)
{
	size_t n = tree->tree.nodes.n;
	auto_free struct place *places = calloc(n + 1, sizeof(*places));

	if (!places)
		return uspl_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		places[i] = (struct place){ i, tree->tree.nodes.items[i].parent,
					    tree->branches[i].total };
	qsort(places, n, sizeof(*places), by_parent_and_total);
	for (size_t i = 0; i < n; i++) {
		uint32_t node = places[i].node, parent = places[i].parent;
		uint32_t *head =
			parent == CALLTREE_ROOT ? &tree->first : &tree->branches[parent].child;

		tree->branches[node].next = *head;
		*head = node + 1;
	}
	return 0;
}

/* The lines, by what is folded. */
static int show(struct tui_tree *tree, struct uspl_err *err)
{
	uint32_t at = tree->first;

	tree->shown.n = 0;
	while (at) {
		const struct tui_branch *branch = &tree->branches[at - 1];
		uint32_t *place = vec_push(&tree->shown), node = at - 1;

		if (!place)
			return uspl_fail_nomem(err);
		*place = node;
		at = branch->unfolded && branch->child ? branch->child : branch->next;
		/* The last of them: what comes next belongs to one further out. */
		while (!at && tree->tree.nodes.items[node].parent != CALLTREE_ROOT) {
			node = tree->tree.nodes.items[node].parent;
			at = tree->branches[node].next;
		}
	}
	return 0;
}

int tui_tree_make(struct tui_tree *tree, const struct timeline *timeline, pid_t tid,
		  struct uspl_err *err)
{
	auto_free uint32_t *nodes = NULL;
	int rc = add_nodes(tree, timeline, tid, &nodes, err);

	if (rc)
		return rc;
	tree->branches = calloc(tree->tree.nodes.n + 1, sizeof(*tree->branches));
	if (!tree->branches)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < timeline->calls.n; i++) {
		const struct trace_span *span = &timeline->calls.items[i];
		struct tui_branch *branch;

		if (nodes[i] == CALLTREE_ROOT)
			continue;
		branch = &tree->branches[nodes[i]];
		branch->depth = span->depth;
		branch->calls += span->record.how != TRACE_OPEN;
		branch->open += span->record.how == TRACE_OPEN;
		branch->total += span->record.end ? span->end - span->record.start : 0;
		branch->self += span->self;
	}
	rc = put_in_order(tree, err);
	if (rc)
		return rc;
	for (uint32_t at = tree->first; at; at = tree->branches[at - 1].next)
		tree->branches[at - 1].unfolded = true;
	return show(tree, err);
}

uint32_t tui_tree_id(const struct tui_tree *tree, size_t line)
{
	return tree->tree.nodes.items[tree->shown.items[line]].symbol->id;
}

const struct tui_branch *tui_tree_branch(const struct tui_tree *tree, size_t line)
{
	return &tree->branches[tree->shown.items[line]];
}

size_t tui_tree_parent(const struct tui_tree *tree, size_t line)
{
	uint32_t depth = tui_tree_branch(tree, line)->depth;

	for (size_t at = line; at-- > 0;)
		if (tui_tree_branch(tree, at)->depth < depth)
			return at;
	return line;
}

int tui_tree_fold(struct tui_tree *tree, size_t line, bool unfold, bool all, struct uspl_err *err)
{
	uint32_t top = tree->shown.items[line], at = top;

	tree->branches[top].unfolded = unfold;
	while (all) {
		uint32_t next = tree->branches[at].child;

		tree->branches[at].unfolded = unfold;
		while (!next && at != top) {
			next = tree->branches[at].next;
			at = next ? at : tree->tree.nodes.items[at].parent;
		}
		if (!next)
			break;
		at = next - 1;
	}
	return show(tree, err);
}
