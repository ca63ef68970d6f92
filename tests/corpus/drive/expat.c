// SPDX-License-Identifier: GPL-3.0-or-later
// expat.c - parses a document with entities and namespaces

#include "drive.h"

#include <expat.h>

static void XMLCALL start(void *sum, const XML_Char *name, const XML_Char **attributes)
{
	*(unsigned long *)sum = digest(*(unsigned long *)sum, name, strlen(name));
	for (; *attributes; attributes++)
		*(unsigned long *)sum =
			digest(*(unsigned long *)sum, *attributes, strlen(*attributes));
}

static void XMLCALL text(void *sum, const XML_Char *at, int len)
{
	*(unsigned long *)sum = digest(*(unsigned long *)sum, at, (size_t)len);
}

unsigned long work(void)
{
	static const char document[] =
		"<?xml version='1.0'?><!DOCTYPE d [<!ENTITY e 'some <b>text</b>'><!ATTLIST d z "
		"CDATA 'y'>]>"
		"<d xmlns:p='urn:p' p:a='1'><p:q>&e; and &#228;</p:q><!-- c --><![CDATA[<&>]]></d>";
	XML_Parser parser = XML_ParserCreateNS(NULL, '|');
	unsigned long sum = 0;
	size_t at;

	XML_SetUserData(parser, &sum);
	XML_SetElementHandler(parser, start, NULL);
	XML_SetCharacterDataHandler(parser, text);
	for (at = 0; at < sizeof(document) - 1; at += 40) {
		size_t len = sizeof(document) - 1 - at < 40 ? sizeof(document) - 1 - at : 40;

		sum += (unsigned long)XML_Parse(parser, document + at, (int)len,
						at + len == sizeof(document) - 1);
	}
	XML_ParserFree(parser);
	return sum;
}

/* Entities that refer to one another, so many that recursion needs more than the stack. */
static const char *deep(void)
{
	enum { DEPTH = 100000 };
	char *document = malloc(DEPTH * 40 + 200), *at = document;
	XML_Parser parser = XML_ParserCreate(NULL);
	int i;

	at += sprintf(at, "<!DOCTYPE d [<!ENTITY e0 'x'>");
	for (i = 1; i < DEPTH; i++)
		at += sprintf(at, "<!ENTITY e%d '&e%d;'>", i, i - 1);
	at += sprintf(at, "]><d>&e%d;</d>", DEPTH - 1);
	XML_Parse(parser, document, (int)(at - document), 1);
	return "new";
}

static void XMLCALL seen(void *data, const XML_Char *name, const XML_Char **attributes)
{
	(void)attributes;
	*(int *)data += !strcmp(name, "b");
}

/* Is a long tag that has ended with few bytes more parsed at once, or not yet? */
static const char *deferred(void)
{
	XML_Parser parser = XML_ParserCreate(NULL);
	static char begin[4100] = "<b c='";
	int tags = 0;

	memset(begin + strlen(begin), 'x', 4000);
	XML_SetUserData(parser, &tags);
	XML_SetElementHandler(parser, seen, NULL);
	XML_Parse(parser, "<a>", 3, 0);
	XML_Parse(parser, begin, (int)strlen(begin), 0);
	XML_Parse(parser, "'/>", 3, 0);
	return tags ? "old" : "new";
}

const char *probe(const char *fix)
{
	XML_Parser parser = XML_ParserCreate(NULL);

	if (!strcmp(fix, "CVE-2024-45490.patch")) {
		XML_GetBuffer(parser, 16);
		XML_ParseBuffer(parser, -1, 0);
		return XML_GetErrorCode(parser) == XML_ERROR_INVALID_ARGUMENT ? "new" : "old";
	}
	if (!strcmp(fix, "expat-2.5.0-CVE-2024-50602.patch"))
		return XML_StopParser(parser, XML_TRUE) == XML_STATUS_ERROR ? "new" : "old";
	if (!strcmp(fix, "expat-2.5.0-CVE-2023-52425.patch"))
		return deferred();
	if (!strcmp(fix, "expat-2.5.0-CVE-2024-8176.patch"))
		return deep();
	return "";
}
