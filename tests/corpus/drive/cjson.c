// SPDX-License-Identifier: GPL-3.0-or-later
// cjson.c - parses, prints and searches a document

#include "drive.h"

#include <cJSON.h>
#include <cJSON_Utils.h>

unsigned long work(void)
{
	cJSON *tree = cJSON_Parse("{\"a\":[1,2.5,true,null,\"text\"],\"b\":{\"c\":[-3e10]}}");
	cJSON *found = cJSONUtils_GetPointer(tree, "/b/c/0");
	char *text = cJSON_Print(tree);
	unsigned long sum = digest(found != NULL, text, strlen(text));

	free(text);
	cJSON_Delete(tree);
	return sum;
}

/* A number with more digits than the old buffer had room for. */
static const char *many_digits(void)
{
	char number[101];

	memset(number, '1', 100);
	number[100] = '\0';
	return cJSON_ParseWithOpts(number, NULL, 1) ? "new" : "old";
}

const char *probe(const char *fix)
{
	cJSON *list = cJSON_CreateArray();
	int i;

	if (!strcmp(fix, "0001-allocate-memory-for-the-temporary-buffer.patch"))
		return many_digits();
	if (strcmp(fix, "CVE-2025-57052.patch") != 0)
		return "";
	for (i = 0; i < 40; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(i));
	/* 'A' counts as a digit of 17. */
	return cJSONUtils_GetPointer(list, "/1A") ? "old" : "new";
}
