// SPDX-License-Identifier: GPL-3.0-or-later
// yajl.c - parses and writes a document

#include "drive.h"

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

const char *probe(const char *fix)
{
	(void)fix;
	return "";
}
