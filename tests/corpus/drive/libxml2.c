// SPDX-License-Identifier: GPL-3.0-or-later
// libxml2.c - parses, validates, searches and writes documents

#include "drive.h"

#include <libxml/HTMLparser.h>
#include <libxml/catalog.h>
#include <libxml/dict.h>
#include <libxml/parser.h>
#include <libxml/pattern.h>
#include <libxml/relaxng.h>
#include <libxml/valid.h>
#include <libxml/xinclude.h>
#include <libxml/xmlreader.h>
#include <libxml/xmlschemas.h>
#include <libxml/xmlwriter.h>
#include <libxml/xpath.h>

static const char document[] =
	"<?xml version='1.0'?><!DOCTYPE d [<!ELEMENT d (p*)><!ELEMENT p (#PCDATA)>"
	"<!ATTLIST p i ID #IMPLIED><!ENTITY e 'text'>]><d><p i='a'>&e;</p><p>2</p></d>";
static const char schema[] =
	"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element "
	"name='d'><xs:complexType>"
	"<xs:sequence><xs:element name='p' maxOccurs='unbounded'><xs:complexType><xs:simpleContent>"
	"<xs:extension base='xs:string'><xs:attribute name='i' type='xs:ID'/></xs:extension>"
	"</xs:simpleContent></xs:complexType></xs:element></xs:sequence></xs:complexType>"
	"<xs:key name='k'><xs:selector xpath='./p'/><xs:field "
	"xpath='.'/></xs:key></xs:element></xs:schema>";
static const char grammar[] =
	"<element name='d' xmlns='http://relaxng.org/ns/structure/1.0'><zeroOrMore><element "
	"name='p'>"
	"<optional><attribute name='i'/></optional><text/></element></zeroOrMore></element>";

static void silent(void *arg, const char *format, ...)
{
	(void)arg;
	(void)format;
}

unsigned long work(void)
{
	xmlDocPtr doc = xmlReadMemory(document, sizeof(document) - 1, "d.xml", NULL,
				      XML_PARSE_NOENT | XML_PARSE_DTDVALID);
	xmlSchemaParserCtxtPtr reads = xmlSchemaNewMemParserCtxt(schema, sizeof(schema) - 1);
	xmlSchemaPtr rules = xmlSchemaParse(reads);
	xmlSchemaValidCtxtPtr valid = xmlSchemaNewValidCtxt(rules);
	xmlRelaxNGParserCtxtPtr reads_rng =
		xmlRelaxNGNewMemParserCtxt(grammar, sizeof(grammar) - 1);
	xmlRelaxNGPtr rng = xmlRelaxNGParse(reads_rng);
	xmlRelaxNGValidCtxtPtr valid_rng = xmlRelaxNGNewValidCtxt(rng);
	xmlXPathContextPtr paths = xmlXPathNewContext(doc);
	xmlXPathObjectPtr found = xmlXPathEvalExpression(BAD_CAST "string(//p[@i='a'])", paths);
	xmlTextReaderPtr reader = xmlReaderForMemory(document, sizeof(document) - 1, NULL, NULL, 0);
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
	htmlDocPtr html = htmlReadMemory("<p>a<br>b</p>", 13, NULL, NULL, 0);
	unsigned long sum = 0;
	xmlChar *text;
	int len;

	sum += (unsigned long)xmlSchemaValidateDoc(valid, doc);
	sum += (unsigned long)xmlRelaxNGValidateDoc(valid_rng, doc) * 3;
	xmlXIncludeProcess(doc);
	while (xmlTextReaderRead(reader) == 1)
		sum = digest(sum, xmlTextReaderConstName(reader),
			     strlen((const char *)xmlTextReaderConstName(reader)));
	sum = digest(sum, found->stringval, strlen((const char *)found->stringval));
	xmlTextWriterStartElementNS(writer, BAD_CAST "p", BAD_CAST "e", BAD_CAST "urn:p");
	xmlTextWriterEndElement(writer);
	xmlFreeTextWriter(writer);
	sum = digest(sum, xmlBufferContent(buffer), (size_t)xmlBufferLength(buffer));
	xmlDocDumpMemory(doc, &text, &len);
	sum = digest(sum, text, (size_t)len);
	xmlFree(text);
	htmlDocDumpMemory(html, &text, &len);
	sum = digest(sum, text, (size_t)len);
	xmlFree(text);
	xmlBufferFree(buffer);
	xmlFreeTextReader(reader);
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(paths);
	xmlRelaxNGFreeValidCtxt(valid_rng);
	xmlRelaxNGFree(rng);
	xmlRelaxNGFreeParserCtxt(reads_rng);
	xmlSchemaFreeValidCtxt(valid);
	xmlSchemaFree(rules);
	xmlSchemaFreeParserCtxt(reads);
	xmlFreeDoc(html);
	xmlFreeDoc(doc);
	return sum;
}

/* Does a catalog that names itself end the recursion before the stack does? */
static const char *recursive(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");
	xmlCatalogPtr catalog;

	fputs(text, file);
	fclose(file);
	catalog = xmlLoadSGMLSuperCatalog(name);
	if (catalog)
		xmlConvertSGMLCatalog(catalog);
	return "new";
}

const char *probe(const char *fix)
{
	xmlSetGenericErrorFunc(NULL, silent);
	if (!strncmp(fix, "CVE-2023-29469", 14)) {
		xmlDictPtr dict = xmlDictCreate();

		return xmlDictLookup(dict, BAD_CAST "x", 0) == xmlDictLookup(dict, BAD_CAST "y", 0)
			       ? "new"
			       : "old";
	}
	if (!strcmp(fix, "CVE-2025-8732.patch"))
		return recursive("self.sgml", "CATALOG self.sgml\n");
	return "";
}
