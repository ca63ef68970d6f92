// SPDX-License-Identifier: GPL-3.0-or-later
// calltree.c - call chains summed up: how much of something was seen in each

#include "trace/output/calltree.h"

#include <inttypes.h>

#include "base/json.h"

static size_t slot_of(const struct calltree *tree, uint32_t parent, const struct symbol *symbol)
{
	uint64_t hash = (parent + 1) * 0x9e3779b97f4a7c15ull ^ symbol->id * 0xc2b2ae3d27d4eb4full;
	size_t i = (hash ^ hash >> 32) & (tree->n_slots - 1);

	for (;; i = (i + 1) & (tree->n_slots - 1)) {
		const struct calltree_node *node;

		if (!tree->slots[i])
			return i;
		node = &tree->nodes.items[tree->slots[i] - 1];
		if (node->parent == parent && node->symbol == symbol)
			return i;
	}
}

/* At most half of the slots are used. */
static bool grow(struct calltree *tree)
{
	size_t n_slots = tree->n_slots ? 2 * tree->n_slots : 1024;

	if (2 * (tree->nodes.n + 1) < tree->n_slots)
		return true;
	free(tree->slots);
	tree->slots = calloc(n_slots, sizeof(*tree->slots));
	tree->n_slots = tree->slots ? n_slots : 0;
	for (size_t i = 0; tree->slots && i < tree->nodes.n; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		tree->slots[slot_of(tree, node->parent, node->symbol)] = (uint32_t)i + 1;
	}
	return tree->slots;
}

uint32_t calltree_child(struct calltree *tree, uint32_t parent, const struct symbol *symbol)
{
	struct calltree_node *node;
	size_t slot;

	if (!grow(tree))
		return CALLTREE_ROOT;
	slot = slot_of(tree, parent, symbol);
	if (!tree->slots[slot]) {
		node = vec_push(&tree->nodes);
		if (!node)
			return CALLTREE_ROOT;
		*node = (struct calltree_node){ .symbol = symbol, .parent = parent };
		tree->slots[slot] = (uint32_t)tree->nodes.n;
	}
	return tree->slots[slot] - 1;
}

int calltree_add(struct calltree *tree, const struct symbol *thread,
		 const struct symbol *const *chain, size_t n, uint64_t count, struct uspl_err *err)
{
	uint32_t node = calltree_child(tree, CALLTREE_ROOT, thread);

	while (n-- && node != CALLTREE_ROOT)
		node = calltree_child(tree, node, chain[n]);
	if (node == CALLTREE_ROOT)
		return uspl_fail_nomem(err);
	tree->nodes.items[node].self += count;
	return 0;
}

void calltree_release(struct calltree *tree)
{
	vec_release(&tree->nodes);
	free(tree->slots);
	tree->slots = NULL;
	tree->n_slots = 0;
}

static void add_folded_chain(const struct calltree *tree, uint32_t node, struct buf *out)
{
	const struct calltree_node *item = &tree->nodes.items[node];

	if (item->parent != CALLTREE_ROOT) {
		add_folded_chain(tree, item->parent, out);
		buf_addstr(out, ";");
	}
	/* A name in a chain must not have the signs that part names and numbers. */
	for (const char *name = item->symbol->name; *name; name++)
		buf_addf(out, "%c", *name == ';' ? ':' : *name == ' ' ? '_' : *name);
}

void calltree_add_folded(const struct calltree *tree, struct buf *out)
{
	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		if (!tree->nodes.items[i].self)
			continue;
		add_folded_chain(tree, i, out);
		buf_addf(out, " %" PRIu64 "\n", tree->nodes.items[i].self);
	}
}

static void add_json_chain(const struct calltree *tree, uint32_t node, struct json *json)
{
	const struct calltree_node *item = &tree->nodes.items[node];

	if (item->parent == CALLTREE_ROOT) {
		json_string(json, "thread", item->symbol->name);
		json_open(json, "stack", '[');
		return;
	}
	add_json_chain(tree, item->parent, json);
	json_string(json, NULL, item->symbol->name);
}

void calltree_add_json(const struct calltree *tree, const char *unit, struct buf *out)
{
	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		auto_json struct json json = { 0 };

		if (!tree->nodes.items[i].self)
			continue;
		json_open(&json, NULL, '{');
		add_json_chain(tree, i, &json);
		json_close(&json, ']');
		json_number(&json, unit, (int64_t)tree->nodes.items[i].self);
		json_close(&json, '}');
		buf_addf(out, "%s\n", json_text(&json));
		out->oom |= json.buf.oom;
	}
}

/* The tree as it is printed: all threads in one, with sums, and the largest branch first. */
struct branch {
	uint32_t node;
	uint32_t parent; /* place in the drawing's branches; CALLTREE_ROOT: none */
	uint64_t total;
};

/* What was counted in a function. */
struct share {
	const struct symbol *symbol;
	uint64_t self, total;
	uint32_t last; /* the chain that was counted for it last, + 1: once, even if it recurs */
};

struct drawing {
	struct calltree merged;
	uint64_t *totals; /* by node of merged */
	struct share *shares;
	size_t n_shares;
	uint64_t all, least;
};

/* Puts every node of the tree into the merged one, but for the threads. */
static int merge(const struct calltree *tree, struct calltree *merged, struct uspl_err *err)
{
	auto_free uint32_t *places = calloc(tree->nodes.n + 1, sizeof(*places));

	if (!places)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < tree->nodes.n; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		places[i] = CALLTREE_ROOT;
		if (node->parent == CALLTREE_ROOT)
			continue;
		places[i] = calltree_child(merged, places[node->parent], node->symbol);
		if (places[i] == CALLTREE_ROOT)
			return uspl_fail_nomem(err);
		merged->nodes.items[places[i]].self += node->self;
	}
	return 0;
}

uint64_t *calltree_totals(const struct calltree *tree)
{
	uint64_t *totals = calloc(tree->nodes.n + 1, sizeof(*totals));

	for (size_t i = tree->nodes.n; totals && i-- > 0;) {
		const struct calltree_node *node = &tree->nodes.items[i];

		totals[i] += node->self;
		if (node->parent != CALLTREE_ROOT)
			totals[node->parent] += totals[i];
	}
	return totals;
}

static void share_out(struct drawing *drawing)
{
	const struct calltree *tree = &drawing->merged;

	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		uint64_t self = tree->nodes.items[i].self;

		drawing->shares[tree->nodes.items[i].symbol->id].self += self;
		for (uint32_t at = i; self && at != CALLTREE_ROOT;
		     at = tree->nodes.items[at].parent) {
			const struct symbol *symbol = tree->nodes.items[at].symbol;
			struct share *share = &drawing->shares[symbol->id];

			share->symbol = symbol;
			if (share->last != i + 1)
				share->total += self;
			share->last = i + 1;
		}
	}
}

static int by_self(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->total > y->total ? -1 : x->total < y->total;
}

static double percent(const struct drawing *drawing, uint64_t count)
{
	return drawing->all ? 100.0 * (double)count / (double)drawing->all : 0;
}

typedef VEC(struct branch) branch_vec;

static int by_parent_and_total(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The branches below a node, and those below them. They are sorted by their parents. */
static void add_branches(const struct drawing *drawing, const branch_vec *branches, uint32_t parent,
			 int depth, struct buf *out)
{
	size_t low = vec_lower_bound(branches, it, it->parent < parent);

	for (; low < branches->n && branches->items[low].parent == parent; low++) {
		const struct branch *branch = &branches->items[low];
		const struct calltree_node *node = &drawing->merged.nodes.items[branch->node];

		buf_addf(out, "%7.2f%% %7.2f%%  %*s%s\n", percent(drawing, branch->total),
			 percent(drawing, node->self), 2 * depth, "", node->symbol->name);
		add_branches(drawing, branches, branch->node, depth + 1, out);
	}
}

static int add_tree(const struct drawing *drawing, struct buf *out, struct uspl_err *err)
{
	const struct calltree *tree = &drawing->merged;
	branch_vec branches = { 0 };

	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		struct branch *branch;

		if (drawing->totals[i] < drawing->least)
			continue;
		branch = vec_push(&branches);
		if (!branch) {
			vec_release(&branches);
			return uspl_fail_nomem(err);
		}
		*branch = (struct branch){ i, tree->nodes.items[i].parent, drawing->totals[i] };
	}
	if (branches.n)
		qsort(branches.items, branches.n, sizeof(*branches.items), by_parent_and_total);
	buf_addstr(out, "#\n#  TOTAL     SELF  CALLS\n");
	add_branches(drawing, &branches, CALLTREE_ROOT, 0, out);
	vec_release(&branches);
	return 0;
}

static int draw(const struct calltree *tree, struct drawing *drawing, struct uspl_err *err)
{
	const struct calltree_node *node;
	int rc = merge(tree, &drawing->merged, err);

	vec_for_each (&drawing->merged.nodes, node)
		if (node->symbol->id >= drawing->n_shares)
			drawing->n_shares = node->symbol->id + 1;
	vec_for_each (&drawing->merged.nodes, node)
		drawing->all += node->self;
	drawing->totals = calltree_totals(&drawing->merged);
	drawing->shares = calloc(drawing->n_shares + 1, sizeof(*drawing->shares));
	if (rc)
		return rc;
	if (!drawing->totals || !drawing->shares)
		return uspl_fail_nomem(err);
	share_out(drawing);
	return 0;
}

static void release(struct drawing *drawing)
{
	calltree_release(&drawing->merged);
	free(drawing->totals);
	free(drawing->shares);
}

DEFINE_AUTO_RELEASE(drawing, struct drawing, release)
#define auto_drawing __attribute__((cleanup(cleanup_drawing_)))

int calltree_add_text(const struct calltree *tree, double least, struct buf *out,
		      struct uspl_err *err)
{
	auto_drawing struct drawing drawing = { 0 };
	int rc = draw(tree, &drawing, err);

	if (rc)
		return rc;
	drawing.least = (uint64_t)(least * (double)drawing.all);
	drawing.least += !drawing.least;
	qsort(drawing.shares, drawing.n_shares, sizeof(*drawing.shares), by_self);
	buf_addstr(out, "#   SELF    TOTAL  FUNCTION\n");
	for (size_t i = 0; i < drawing.n_shares; i++) {
		const struct share *share = &drawing.shares[i];

		if (share->symbol && share->total >= drawing.least)
			buf_addf(out, "%7.2f%% %7.2f%%  %s\n", percent(&drawing, share->self),
				 percent(&drawing, share->total), share->symbol->name);
	}
	return add_tree(&drawing, out, err);
}
