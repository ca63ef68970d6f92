// SPDX-License-Identifier: GPL-3.0-or-later
// server.c CATALOG - a web server that answers with what libxml2 makes of documents
//
//     /NUMBER     the number, by an XPath expression, out of a document with as many elements
//     /catalog    how many nextCatalog entries the catalog has: CVE-2026-0992
//
// On a port of the kernel's choice, which is printed. Four threads answer.

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxml/catalog.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>

enum { THREADS = 4, MAX_ELEMENTS = 1000 };

static const char *catalog;
static int server;

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

static int count_entries(void)
{
	xmlCatalogPtr loaded = xmlLoadACatalog(catalog);
	FILE *out = tmpfile();
	char line[512];
	int n = 0;

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

static void *answer(void *arg)
{
	(void)arg;
	for (;;) {
		int link = accept(server, NULL, NULL), n;
		char request[1024] = "";
		ssize_t len = read(link, request, sizeof(request) - 1);

		if (len <= 0 || strncmp(request, "GET /", 5)) {
			close(link);
			continue;
		}
		n = atoi(request + 5);
		n = strncmp(request + 5, "catalog", 7) ? count_elements(n < MAX_ELEMENTS ? n : 0)
						       : count_entries();
		dprintf(link, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n%d\n", n);
		shutdown(link, SHUT_WR);
		while (read(link, request, sizeof(request)) > 0)
			;
		close(link);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	pthread_t thread;

	if (argc != 2)
		return 2;
	catalog = argv[1];
	xmlInitParser();
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 64) ||
	    getsockname(server, (struct sockaddr *)&address, &len))
		return 1;
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, answer, NULL))
			return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	answer(NULL);
}
