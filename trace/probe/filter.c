// SPDX-License-Identifier: GPL-3.0-or-later
// filter.c - a condition on a marker's arguments, as a list of tests
/*
 * A tree would have to be walked; tests that each know their two successors are code at once. An
 * expression is read into a run of tests whose ways out are PROBE_PASS and PROBE_SKIP. `a && b`:
 * what passes in a goes on with b's first test; `a || b`: what is skipped in a goes on there. `!`
 * exchanges the two. So a test's successors always come later.
 */

#include "trace/probe/filter.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32
#define TESTS_MAX 64

struct parser {
	const char *text, *at;
	const struct marker *marker;
	struct filter filter;
	int depth;
	struct uspl_err *err;
};

static int fail(const struct parser *parser, const char *what)
{
	return uspl_fail(parser->err, USPL_E_USAGE, "%s in the filter '%s' at '%s'", what,
			 parser->text, parser->at);
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

/* Takes the sign if it comes next. */
static bool take(struct parser *parser, const char *sign)
{
	skip_blanks(parser);
	if (strncmp(parser->at, sign, strlen(sign)))
		return false;
	parser->at += strlen(sign);
	return true;
}

/* Lets what ends in `end` from the test `first` on go on with the next test to come. */
static void link_to_next(struct parser *parser, size_t first, int end)
{
	for (size_t i = first; i < parser->filter.tests.n; i++) {
		struct probe_test *test = &parser->filter.tests.items[i];

		if (test->if_true == end)
			test->if_true = (int)parser->filter.tests.n;
		if (test->if_false == end)
			test->if_false = (int)parser->filter.tests.n;
	}
}

static int read_argument(struct parser *parser, struct probe_test *test)
{
	const char *from;
	int arg;

	skip_blanks(parser);
	from = parser->at;
	while (isalnum((unsigned char)*parser->at) || *parser->at == '_')
		parser->at++;
	arg = marker_arg_named(parser->marker, from, (size_t)(parser->at - from));
	if (arg < 0 || (size_t)arg >= parser->marker->n_args) {
		uspl_fail(parser->err, USPL_E_USAGE, "'%s' has no argument '%.*s'",
			  parser->marker->name, (int)(parser->at - from), from);
		if (parser->marker->untyped)
			uspl_hint(
				parser->err,
				"there is no debugging information of the function: its arguments "
				"are words, arg1 to arg%zu",
				parser->marker->n_args);
		return -USPL_E_USAGE;
	}
	if (parser->marker->args[arg].gone)
		return uspl_fail(parser->err, USPL_E_UNSUPPORTED,
				 "the compiler has removed the argument '%.*s' of '%s'",
				 (int)(parser->at - from), from, parser->marker->name);
	test->arg = (uint8_t)arg;
	return 0;
}

static bool is_real(const struct parser *parser, const struct probe_test *test)
{
	return parser->marker->args[test->arg].kind == USPL_PROBE_FLOAT;
}

static bool read_relation(struct parser *parser, struct probe_test *test)
{
	/* Those that others begin with come later. */
	static const struct {
		const char *sign;
		enum probe_relation relation;
	} relations[] = {
		{ "==", PROBE_EQUAL },         { "!=", PROBE_UNEQUAL }, { "<=", PROBE_LESS_EQUAL },
		{ ">=", PROBE_GREATER_EQUAL }, { "<", PROBE_LESS },     { ">", PROBE_GREATER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
		if (take(parser, relations[i].sign)) {
			test->relation = relations[i].relation;
			return true;
		}
	skip_blanks(parser);
	if (parser->at[0] == '&' && parser->at[1] != '&') {
		if (is_real(parser, test))
			return false;
		parser->at++;
		test->relation = PROBE_BITS;
		return true;
	}
	return false;
}

static int read_text(struct parser *parser, struct probe_test *test)
{
	const char *end = strchr(parser->at + 1, '"');
	char **place;

	if (!end)
		return fail(parser, "a string without an end");
	if (parser->marker->args[test->arg].kind != USPL_PROBE_TEXT)
		return fail(parser, "a comparison of a string with what is none");
	if (test->relation != PROBE_EQUAL && test->relation != PROBE_UNEQUAL)
		return fail(parser, "strings are compared by == and !=: a mistake");
	place = vec_push(&parser->filter.texts);
	if (place)
		*place = strndup(parser->at + 1, (size_t)(end - parser->at - 1));
	if (!place || !*place)
		return uspl_fail_nomem(parser->err);
	test->text = *place;
	parser->at = end + 1;
	return 0;
}

static uint64_t bits_of(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/*
 * A float is compared with a double: the same is true of it and the largest float that isn't above
 * that. What lies between two floats is equal to none.
 */
static void compare_with_double(struct probe_test *test, double number)
{
	float below = number > (double)FLT_MAX && !isinf(number) ? FLT_MAX : (float)number;

	if ((double)below > number)
		below = nextafterf(below, -INFINITY);
	test->value = bits_of(below);
	if ((double)below == number)
		return;
	if (test->relation == PROBE_EQUAL || test->relation == PROBE_UNEQUAL)
		test->value = bits_of(NAN);
	else if (test->relation == PROBE_LESS)
		test->relation = PROBE_LESS_EQUAL;
	else if (test->relation == PROBE_GREATER_EQUAL)
		test->relation = PROBE_GREATER;
}

/* "-1.5", "2e9", "0.1f" */
static int read_real(struct parser *parser, struct probe_test *test)
{
	const char *from = parser->at;
	char *end;
	double number = strtod(from, &end);
	float rounded = strtof(from, NULL);
	bool is_float = *end == 'f' || *end == 'F';

	if (end == from || isnan(number) || isalnum((unsigned char)end[is_float]) ||
	    end[is_float] == '.')
		return fail(parser, "no number");
	parser->at = end + is_float;
	if (is_float)
		number = (double)rounded;
	if (parser->marker->args[test->arg].place.size == sizeof(float))
		compare_with_double(test, number);
	else
		memcpy(&test->value, &number, sizeof(number));
	return 0;
}

static int read_value(struct parser *parser, struct probe_test *test)
{
	char *end;

	skip_blanks(parser);
	if (*parser->at == '"')
		return read_text(parser, test);
	if (parser->marker->args[test->arg].kind == USPL_PROBE_TEXT)
		return fail(parser, "a comparison of a string with what is none");
	if (is_real(parser, test))
		return read_real(parser, test);
	errno = 0;
	test->value = *parser->at == '-' ? (uint64_t)strtoll(parser->at, &end, 0)
					 : strtoull(parser->at, &end, 0);
	if (end == parser->at || errno || isalnum((unsigned char)*end) || *end == '.')
		return fail(parser, "no whole number");
	parser->at = end;
	return 0;
}

/* arg, or arg RELATION value */
static int read_comparison(struct parser *parser)
{
	struct probe_test test = { .relation = PROBE_UNEQUAL,
				   .if_true = PROBE_PASS,
				   .if_false = PROBE_SKIP },
			  *place;
	int rc = read_argument(parser, &test);

	if (rc)
		return rc;
	if (read_relation(parser, &test)) {
		rc = read_value(parser, &test);
		if (rc)
			return rc;
	}
	if (parser->filter.tests.n == TESTS_MAX)
		return fail(parser, "too many comparisons");
	place = vec_push(&parser->filter.tests);
	if (!place)
		return uspl_fail_nomem(parser->err);
	*place = test;
	return 0;
}

static int read_operand(struct parser *parser);
static int read_or(struct parser *parser);

/* What follows a ! */
static int read_negated(struct parser *parser)
{
	size_t first = parser->filter.tests.n;
	struct probe_test *test;
	int rc = read_operand(parser);

	if (rc)
		return rc;
	for (size_t i = first; i < parser->filter.tests.n; i++) {
		test = &parser->filter.tests.items[i];
		/* PASS is -1, SKIP is -2. */
		test->if_true = test->if_true < 0 ? -3 - test->if_true : test->if_true;
		test->if_false = test->if_false < 0 ? -3 - test->if_false : test->if_false;
	}
	return 0;
}

/* What follows a ( */
static int read_enclosed(struct parser *parser)
{
	int rc = read_or(parser);

	if (rc)
		return rc;
	return take(parser, ")") ? 0 : fail(parser, "a ')' is missing");
}

/* !x, (x), or a comparison */
static int read_operand(struct parser *parser)
{
	int rc;

	if (parser->depth++ >= DEPTH_MAX)
		return fail(parser, "too many parentheses");
	if (take(parser, "!"))
		rc = read_negated(parser);
	else if (take(parser, "("))
		rc = read_enclosed(parser);
	else
		rc = read_comparison(parser);
	parser->depth--;
	return rc;
}

static int read_and(struct parser *parser)
{
	size_t first = parser->filter.tests.n;
	int rc = read_operand(parser);

	if (rc)
		return rc;
	while (take(parser, "&&")) {
		link_to_next(parser, first, PROBE_PASS);
		rc = read_operand(parser);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_or(struct parser *parser)
{
	size_t first = parser->filter.tests.n;
	int rc = read_and(parser);

	if (rc)
		return rc;
	while (take(parser, "||")) {
		link_to_next(parser, first, PROBE_SKIP);
		rc = read_and(parser);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_all(struct parser *parser)
{
	int rc = read_or(parser);

	if (rc)
		return rc;
	skip_blanks(parser);
	return *parser->at ? fail(parser, "something that isn't understood") : 0;
}

int filter_parse(const char *text, const struct marker *marker, struct filter *ret,
		 struct uspl_err *err)
{
	struct parser parser = { .text = text, .at = text, .marker = marker, .err = err };
	int rc = read_all(&parser);

	if (rc)
		filter_release(&parser.filter);
	else
		*ret = parser.filter;
	return rc;
}

void filter_release(struct filter *filter)
{
	for (size_t i = 0; i < filter->texts.n; i++)
		free(filter->texts.items[i]);
	vec_release(&filter->texts);
	vec_release(&filter->tests);
}
