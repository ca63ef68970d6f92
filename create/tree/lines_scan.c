// SPDX-License-Identifier: GPL-3.0-or-later
// lines_scan.c - before which lines a directive may stand
//
// Not in a comment, a string or a line that goes on after a '\'; and not between parentheses, which
// may be those of a macro's arguments. Between braces within parentheses (the body of a lambda that
// is an argument) it may, unless the name before the parentheses looks like a macro's: gcc and
// clang understand a directive even there, but warn if they are asked to be pedantic. What is
// written in directives opens no parenthesis: macros needn't be balanced. The branches of an #if
// are alternatives, so each begins with the parentheses that were open before the first. Wrong
// guesses are cheap: a '}' at the beginning of a line closes all, and a line that is wrongly held
// unsafe only has the number that it would have without us.

#include "base/text.h"
#include "create/tree/lines.h"

#include <ctype.h>
#include <string.h>

enum { MAX_GROUPS = 64, MAX_BRACES = 64, MAX_DELIMITER = 16 };

struct scanner {
	bool joined; /* the last line ended in '\' */
	bool directive, line_comment, block_comment;
	char quote;                  /* of the string or character that we are in */
	char raw[MAX_DELIMITER + 3]; /* what ends the raw string that we are in: ")DELIMITER\"" */
	size_t depth;                /* open parentheses, since the last brace within some */
	size_t macro;                /* which of them seems to be of a macro; 0: none */
	size_t braces; /* open braces within parentheses; the parentheses before each: */
	size_t outer[MAX_BRACES];
	size_t groups; /* open #if groups; of the first ones, the parentheses and braces: */
	size_t depths[MAX_GROUPS], group_braces[MAX_GROUPS];
	bool own_numbers;
};

/* The first character that isn't blank; end if there is none. */
static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

static void note_group(struct scanner *scanner, struct line *line, const char *name, size_t len)
{
	size_t top = scanner->groups - 1; /* of no group: beyond all bounds */

	if (len >= 2 && !strncmp(name, "if", 2)) {
		if (scanner->groups < MAX_GROUPS) {
			scanner->depths[scanner->groups] = scanner->depth;
			scanner->group_braces[scanner->groups] = scanner->braces;
		}
		scanner->groups++;
		return;
	}
	line->ends_group =
		(len >= 2 && !strncmp(name, "el", 2)) || (len == 5 && !strncmp(name, "endif", 5));
	if (!line->ends_group || !scanner->groups)
		return;
	if (name[1] == 'n') {
		scanner->groups--;
	} else if (top < MAX_GROUPS) {
		scanner->depth = scanner->depths[top];
		scanner->braces = scanner->group_braces[top];
	}
}

static void begin_directive(struct scanner *scanner, struct line *line, const char *p)
{
	const char *end = line->text + line->len;
	const char *name = skip_blanks(p + 1, end);
	size_t len = 0;

	while (name + len < end && text_in_word(name[len]))
		len++;
	if (len && (isdigit((unsigned char)*name) || (len == 4 && !strncmp(name, "line", 4))))
		scanner->own_numbers = true;
	note_group(scanner, line, name, len);
}

/* The word that ends before p, as its first character. */
static const char *word_before(const struct line *line, const char *p)
{
	while (p > line->text && text_in_word(p[-1]))
		p--;
	return p;
}

/* R"DELIMITER(: notes what will end it. */
static bool begin_raw(struct scanner *scanner, const struct line *line, const char *quote)
{
	static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };
	const char *word = word_before(line, quote), *end = line->text + line->len;
	const char *open = memchr(quote, '(', (size_t)(end - quote));
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		found |= strlen(prefixes[i]) == (size_t)(quote - word) &&
			 !strncmp(word, prefixes[i], (size_t)(quote - word));
	if (!found || !open || open - quote - 1 > MAX_DELIMITER)
		return false;
	snprintf(scanner->raw, sizeof(scanner->raw), ")%.*s\"", (int)(open - quote - 1), quote + 1);
	return true;
}

/* In a string or character: what comes after it, end if it isn't over. */
static const char *skip_quoted(struct scanner *scanner, const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == scanner->quote) {
			scanner->quote = '\0';
			return p + 1;
		}
	}
	return end;
}

/* What comes after text; NULL if it isn't there. */
static const char *skip_past(const char *p, const char *end, const char *text)
{
	const char *found = memmem(p, (size_t)(end - p), text, strlen(text));

	return found ? found + strlen(text) : NULL;
}

/* Is the word that ends before p one in capitals? */
static bool is_capital(const struct line *line, const char *p)
{
	bool has = false;

	for (const char *word = word_before(line, p); word < p; word++) {
		if (islower((unsigned char)*word))
			return false;
		has |= isupper((unsigned char)*word);
	}
	return has;
}

static void scan_bracket(struct scanner *scanner, const struct line *line, const char *p)
{
	if (*p == '(') {
		scanner->depth++;
		if (!scanner->macro && is_capital(line, p))
			scanner->macro = scanner->depth;
	} else if (*p == ')' && scanner->depth) {
		if (scanner->macro == scanner->depth)
			scanner->macro = 0;
		scanner->depth--;
	} else if (*p == '{' && !scanner->macro && (scanner->depth || scanner->braces)) {
		if (scanner->braces < MAX_BRACES)
			scanner->outer[scanner->braces] = scanner->depth;
		scanner->braces++;
		scanner->depth = 0;
	} else if (*p == '}' && !scanner->macro && scanner->braces) {
		scanner->braces--;
		scanner->depth = scanner->braces < MAX_BRACES ? scanner->outer[scanner->braces] : 1;
	}
}

/* One character of code, or what it begins. */
static void scan_char(struct scanner *scanner, const struct line *line, const char *p)
{
	if (*p == '/' && p[1] == '*')
		scanner->block_comment = true;
	else if (*p == '/' && p[1] == '/')
		scanner->line_comment = true;
	else if (*p == '"' && !begin_raw(scanner, line, p))
		scanner->quote = '"';
	/* 1'000'000 is a number. */
	else if (*p == '\'' && !isdigit((unsigned char)*word_before(line, p)))
		scanner->quote = '\'';
	else if (*p == '}' && p == line->text)
		scanner->depth = scanner->macro = scanner->braces = 0;
	else if (!scanner->directive)
		scan_bracket(scanner, line, p);
}

/* Goes on from p in the state that we are in; returns where it may have changed. */
static const char *scan_step(struct scanner *scanner, const struct line *line, const char *p)
{
	const char *end = line->text + line->len, *next = end;

	if (scanner->raw[0]) {
		next = skip_past(p, end, scanner->raw);
		if (next)
			scanner->raw[0] = '\0';
	} else if (scanner->block_comment) {
		next = skip_past(p, end, "*/");
		scanner->block_comment = !next;
	} else if (scanner->quote) {
		next = skip_quoted(scanner, p, end);
	} else if (!scanner->line_comment) {
		scan_char(scanner, line, p);
		next = p + (scanner->block_comment ? 2 : 1);
	}
	return next ? next : end;
}

static void scan_line(struct scanner *scanner, struct line *line)
{
	const char *end = line->text + line->len;
	const char *first = skip_blanks(line->text, end);
	bool fresh = !scanner->joined && !scanner->block_comment && !scanner->raw[0];
	size_t len = line->len;

	/* A '(' may belong to the name of a macro in the line before. */
	line->safe = fresh && !scanner->depth && first < end && *first != '(';
	if (fresh)
		scanner->directive = first < end && *first == '#';
	if (fresh && scanner->directive)
		begin_directive(scanner, line, first);
	line->code = first < end && !scanner->directive && !scanner->block_comment &&
		     !scanner->line_comment && strncmp(first, "//", 2) != 0;
	for (const char *p = line->text; p < end;)
		p = scan_step(scanner, line, p);
	/* Does the next line belong to it? */
	while (len && (line->text[len - 1] == '\n' || line->text[len - 1] == '\r'))
		len--;
	scanner->joined = len && line->text[len - 1] == '\\';
	if (!scanner->joined) {
		scanner->line_comment = false;
		scanner->quote = '\0';
	}
}

bool lines_scan(line_list *lines)
{
	struct scanner scanner = { 0 };
	struct line *line;

	vec_for_each (lines, line)
		scan_line(&scanner, line);
	return !scanner.own_numbers;
}
