// SPDX-License-Identifier: GPL-3.0-or-later
// yajl.c - parses and writes a document

#include "drive.h"

#include <malloc.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

unsigned long work(void)
{
	static const char text[] =
		"{\"a\": [1, 2.5, true, null, \"\\u00e4\\ud83d\\ude00\"], \"b\": {\"c\": []}}";
	static const char *const path[] = { "a", NULL };
	char error[256];
	const unsigned char *out;
	size_t len, i;
	unsigned long sum = 0;
	yajl_gen gen = yajl_gen_alloc(NULL);
	yajl_val tree = yajl_tree_parse(text, error, sizeof(error)), list;

	list = tree ? yajl_tree_get(tree, path, yajl_t_array) : NULL;
	yajl_gen_array_open(gen);
	for (i = 0; list && i < list->u.array.len; i++)
		if (YAJL_IS_STRING(list->u.array.values[i]))
			yajl_gen_string(
				gen,
				(const unsigned char *)YAJL_GET_STRING(list->u.array.values[i]),
				strlen(YAJL_GET_STRING(list->u.array.values[i])));
		else
			yajl_gen_integer(gen, list->u.array.values[i]->type);
	yajl_gen_array_close(gen);
	yajl_gen_get_buf(gen, &out, &len);
	sum = digest(sum, out, len);
	yajl_gen_free(gen);
	yajl_tree_free(tree);
	return sum;
}

/* Is what was read of a document that breaks off freed? */
static const char *broken_off(void)
{
	char error[256];
	size_t before;
	int i;

	yajl_tree_parse("{\"key\": [[1, 2", error, sizeof(error));
	before = mallinfo2().uordblks;
	for (i = 0; i < 1000; i++)
		yajl_tree_parse("{\"key\": [[1, 2", error, sizeof(error));
	return mallinfo2().uordblks - before < 10000 ? "new" : "old";
}

/*
 * The first half of a pair without the second one, at a string's end, and text that was decoded
 * before behind it.
 */
static const char *half_a_pair(void)
{
	static const char text[] = "[\"\\ud83dx\"]";
	char error[256];
	yajl_val tree = yajl_tree_parse(text, error, sizeof(error));
	const char *first = tree ? YAJL_GET_STRING(tree->u.array.values[0]) : NULL;

	return !first ? "" : !strcmp(first, "?x") ? "new" : "old";
}

static void gave_up(int signal)
{
	(void)signal;
	_exit(drive_new);
}

/* More text than any memory has room for: the new code ends the program itself. */
static const char *no_room(void)
{
	yajl_gen gen = yajl_gen_alloc(NULL);

	signal(SIGABRT, gave_up);
	yajl_gen_array_open(gen);
	yajl_gen_number(gen, "1", (size_t)-100);
	return "old";
}

const char *probe(const char *fix)
{
	if (!strcmp(fix, "CVE-2017-16516.patch"))
		return half_a_pair();
	if (!strcmp(fix, "CVE-2022-24795.patch"))
		return no_room();
	return strcmp(fix, "CVE-2023-33460.patch") ? "" : broken_off();
}
