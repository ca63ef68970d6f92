// SPDX-License-Identifier: GPL-3.0-or-later
// libxml2.c - parses, validates, searches and writes documents

#include "drive.h"

#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/catalog.h>
#include <libxml/debugXML.h>
#include <libxml/dict.h>
#include <libxml/parser.h>
#include <libxml/pattern.h>
#include <libxml/relaxng.h>
#include <libxml/schematron.h>
#include <libxml/valid.h>
#include <libxml/xinclude.h>
#include <libxml/xmlreader.h>
#include <libxml/xmlschemas.h>
#include <libxml/xmlwriter.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <malloc.h>
#include <stdarg.h>

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

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	fputs(text, file);
	fclose(file);
}

static char said[8192]; /* the last message */

static void hears(void *arg, const char *format, ...)
{
	va_list args;

	(void)arg;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static void hears_content(void *arg, xmlErrorPtr error)
{
	(void)arg;
	if (error->code == XML_DTD_CONTENT_MODEL)
		hears(NULL, "%s", error->message);
}

/*
 * A name with a prefix, as long as there is just room for. Of the fix's sum the message is the
 * sign: it breaks off before a name that may not fit.
 */
static const char *long_name(void)
{
	static char prefix[2501], local[2491], text[16384];

	memset(prefix, 'p', sizeof(prefix) - 1);
	memset(local, 'n', sizeof(local) - 1);
	snprintf(text, sizeof(text),
		 "<!DOCTYPE d [<!ELEMENT d (x)><!ELEMENT x EMPTY>]><d xmlns:%s='u'><%s:%s/></d>",
		 prefix, prefix, local);
	xmlSetStructuredErrorFunc(NULL, hears_content);
	xmlReadMemory(text, (int)strlen(text), NULL, NULL, XML_PARSE_DTDVALID);
	if (!said[0])
		return "";
	return strstr(said, " ...") ? "new" : "old";
}

static const char *child_axis(void)
{
	xmlDocPtr doc = xmlReadMemory("<a/>", 4, NULL, NULL, 0);
	xmlPatternPtr pattern = xmlPatterncompile(BAD_CAST "child::a", NULL, 0, NULL);

	return xmlPatternMatch(pattern, xmlDocGetRootElement(doc)) == 1 ? "new" : "old";
}

/* ---- the shell ---- */

static struct {
	int left; /* lines */
	char fill;
	size_t len;
} typed;

static char *type_line(char *prompt)
{
	char *line;

	(void)prompt;
	if (!typed.left--)
		return NULL;
	line = malloc(typed.len + 1);
	memset(line, typed.fill, typed.len);
	line[typed.len] = '\0';
	return line;
}

/* So many lines are typed, all of that character. */
static void shell(int lines, char fill, size_t len)
{
	typed.left = lines;
	typed.fill = fill;
	typed.len = len;
	xmlSetGenericErrorFunc(NULL, hears);
	xmlShell(xmlReadMemory("<a/>", 4, NULL, NULL, 0), "a.xml", type_line,
		 fopen("/dev/null", "w"));
}

static const char *cut_command(void)
{
	shell(1, 'c', 120);
	return strlen(said) == strlen("Unknown command \n") + 99 ? "new" : "old";
}

static const char *blank_lines(void)
{
	size_t before = mallinfo2().uordblks;

	shell(1000, ' ', 1000);
	return mallinfo2().uordblks - before < 500000 ? "new" : "old";
}

/* ---- the rest ---- */

/* A report with the name of what has none. */
static const char *nameless(void)
{
	static const char rules[] =
		"<s:schema xmlns:s='http://purl.oclc.org/dsdl/schematron'><s:pattern id=''>"
		"<s:rule context='b'><s:report test='not(0)'><s:name path='/'/></s:report>"
		"</s:rule></s:pattern></s:schema>";
	xmlDocPtr doc = xmlReadMemory("<l><b t=''><a/></b></l>", 23, NULL, NULL, 0);
	xmlSchematronParserCtxtPtr reads = xmlSchematronNewMemParserCtxt(rules, sizeof(rules) - 1);
	xmlSchematronValidCtxtPtr valid =
		xmlSchematronNewValidCtxt(xmlSchematronParse(reads), XML_SCHEMATRON_OUT_ERROR);

	return xmlSchematronValidateDoc(valid, doc) == 1 ? "new" : "";
}

/* Are the bits that another library keeps in an attribute's type left alone? */
static const char *kept_bits(void)
{
	xmlDocPtr doc = xmlReadMemory("<a/>", 4, NULL, NULL, 0);
	xmlAttrPtr attr = xmlNewProp(xmlDocGetRootElement(doc), BAD_CAST "i", BAD_CAST "v");

	attr->atype = (xmlAttributeType)(1u << 27);
	xmlAddID(NULL, doc, BAD_CAST "v", attr);
	return (unsigned int)attr->atype >> 27 ? "new" : "old";
}

static const char *depth_was = "";

static void evaluates(xmlXPathParserContextPtr parser, int arguments)
{
	xmlXPathContextPtr context = parser->context;
	int before = context->depth;

	(void)arguments;
	xmlXPathFreeObject(xmlXPathEvalExpression(BAD_CAST "1 + 1", context));
	if (before)
		depth_was = context->depth == before ? "new" : "old";
	xmlXPathReturnTrue(parser);
}

static const char *depth(void)
{
	xmlXPathContextPtr context = xmlXPathNewContext(xmlReadMemory("<a/>", 4, NULL, NULL, 0));

	xmlXPathRegisterFunc(context, BAD_CAST "evaluates", evaluates);
	xmlXPathEvalExpression(BAD_CAST "1 + (2 + evaluates())", context);
	return depth_was;
}

/* Does a catalog that names itself end the recursion before the stack does? */
static const char *recursive_sgml(void)
{
	write_file("self.sgml", "CATALOG self.sgml\n");
	xmlLoadACatalog("self.sgml");
	return "new";
}

static const char *recursive_xml(void)
{
	write_file("self.xml", "<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'>"
			       "<nextCatalog catalog='self.xml'/></catalog>");
	return xmlACatalogResolveURI(xmlLoadACatalog("self.xml"), BAD_CAST "http://a/b") ? ""
											 : "new";
}

static const char *repeated(void)
{
	FILE *out = fopen("dumped.xml", "w+");
	xmlCatalogPtr catalog;
	char line[512];
	int found = 0;

	write_file("none.xml", "<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'/>");
	write_file("two.xml",
		   "<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'>"
		   "<nextCatalog catalog='none.xml'/><nextCatalog catalog='none.xml'/></catalog>");
	catalog = xmlLoadACatalog("two.xml");
	xmlACatalogResolveURI(catalog, BAD_CAST "http://a/b");
	xmlACatalogDump(catalog, out);
	rewind(out);
	while (fgets(line, sizeof(line), out))
		found += strstr(line, "<nextCatalog") != NULL;
	return found == 1 ? "new" : found == 2 ? "old" : "";
}

/* A schema that includes one that includes one, where two are allowed. */
static const char *included(void)
{
	static const char head[] = "<grammar xmlns='http://relaxng.org/ns/structure/1.0'>";
	char text[256], name[16];

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%s<include href='i%d.rng'/></grammar>", head, i + 1);
		snprintf(name, sizeof(name), "i%d.rng", i);
		write_file(name, text);
	}
	snprintf(text, sizeof(text),
		 "%s<start><element name='a'><empty/></element></start></grammar>", head);
	write_file("i3.rng", text);
	setenv("RNG_INCLUDE_LIMIT", "2", 1);
	return xmlRelaxNGParse(xmlRelaxNGNewParserCtxt("i0.rng")) ? "old" : "new";
}

const char *probe(const char *fix)
{
	xmlSetGenericErrorFunc(NULL, silent);
	if (!strcmp(fix, "CVE-2025-24928.patch"))
		return long_name();
	if (!strcmp(fix, "CVE-2025-27113.patch"))
		return child_axis();
	if (!strcmp(fix, "CVE-2025-6021.patch"))
		return xmlBuildQName(BAD_CAST "n", BAD_CAST "p", NULL, -1) ? "old" : "new";
	if (!strcmp(fix, "CVE-2025-6170.patch"))
		return cut_command();
	if (!strcmp(fix, "CVE-2025-49794_CVE-2025-49796.patch"))
		return nameless();
	if (!strcmp(fix, "CVE-2025-7425.patch"))
		return kept_bits();
	if (!strcmp(fix, "CVE-2025-9714.patch"))
		return depth();
	if (!strcmp(fix, "CVE-2026-1757.patch"))
		return blank_lines();
	if (!strcmp(fix, "CVE-2025-8732.patch"))
		return recursive_sgml();
	if (!strcmp(fix, "CVE-2026-0990.patch"))
		return recursive_xml();
	if (!strcmp(fix, "CVE-2026-0992/01-4af23b523.patch"))
		return repeated();
	if (!strcmp(fix, "CVE-2026-0989.patch"))
		return included();
	return "";
}
