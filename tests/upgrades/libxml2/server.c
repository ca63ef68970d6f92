// SPDX-License-Identifier: GPL-3.0-or-later
// server.c CATALOG - a web server that answers with what libxml2 makes of documents
//
//     /NUMBER     the number, by an XPath expression, out of a document with as many elements
//     /catalog    how many nextCatalog entries the catalog has: CVE-2026-0992

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/catalog.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "../serve.h"

enum { MAX_ELEMENTS = 1000 };

static const char *catalog;

static int count_elements(int n)
{
	char *text = malloc((size_t)n * 4 + 16), *end = text;
	xmlXPathContextPtr context;
	xmlXPathObjectPtr result;
	xmlDocPtr doc;
	int count;

	end += sprintf(end, "<a>");
	for (int i = 0; i < n; i++)
		end += sprintf(end, "<b/>");
	end += sprintf(end, "</a>");
	doc = xmlReadMemory(text, (int)(end - text), "text.xml", NULL, 0);
	context = xmlXPathNewContext(doc);
	result = xmlXPathEvalExpression(BAD_CAST "count(//b)", context);
	count = result ? (int)result->floatval : -1;
	xmlXPathFreeObject(result);
	xmlXPathFreeContext(context);
	xmlFreeDoc(doc);
	free(text);
	return count;
}

/* The library remembers what it has read from a file: each time it is another one. */
static int count_entries(void)
{
	static int asked;
	xmlCatalogPtr loaded;
	FILE *out = tmpfile();
	char line[512];
	int n = 0;

	snprintf(line, sizeof(line), "%s.%d", catalog, asked++);
	if (link(catalog, line))
		return -1;
	loaded = xmlLoadACatalog(line);
	/* A catalog is read when it is first asked. */
	xmlFree(xmlACatalogResolveSystem(loaded, BAD_CAST "none"));
	xmlACatalogDump(loaded, out);
	rewind(out);
	while (fgets(line, sizeof(line), out))
		n += strstr(line, "nextCatalog") != NULL;
	fclose(out);
	xmlFreeCatalog(loaded);
	return n;
}

static int number_of(const char *path)
{
	int n = atoi(path);

	return strncmp(path, "catalog", 7) ? count_elements(n < MAX_ELEMENTS ? n : 0)
					   : count_entries();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	catalog = argv[1];
	xmlInitParser();
	return serve();
}
