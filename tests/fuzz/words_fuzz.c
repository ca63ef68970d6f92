// SPDX-License-Identifier: GPL-3.0-or-later
// words_fuzz.c - texts that the tools read: maps, filters, formats of messages, diffs, options,
// what a terminal is shown
/*
 * The first byte chooses the reader.
 */

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/strmap.h"
#include "base/text.h"
#include "create/patch/diff_read.h"
#include "proc/maps.h"
#include "trace/cmd/arg_specs.h"
#include "trace/probe/filter.h"
#include "trace/probe/message.h"
#include "trace/tally/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_maps(char *text)
{
	mapping_vec maps = { 0 };

	if (mappings_parse(text, &maps, NULL))
		return;
	(void)mappings_find_hole(&maps, 0x400000, 0x500000, 0x3000, 1u << 31);
	(void)mappings_find_wide(&maps, 0x3000);
	(void)mappings_at(&maps, 0x400000);
	mappings_release(&maps);
}

static void read_filter(char *text)
{
	struct marker marker = { .format = "n=%d s=%s x=%f", .n_args = 3 };
	struct filter filter = { 0 };

	marker.args[0].kind = USPL_PROBE_SIGNED;
	marker.args[1].kind = USPL_PROBE_TEXT;
	marker.args[2].kind = USPL_PROBE_FLOAT;
	if (filter_parse(text, &marker, &filter, NULL) == 0)
		filter_release(&filter);
}

static void read_message(char *text)
{
	const struct message_value values[] = {
		{ .kind = USPL_PROBE_SIGNED, .word = (uint64_t)-5 },
		{ .kind = USPL_PROBE_TEXT, .text = "text" },
		{ .kind = USPL_PROBE_FLOAT, .real = 1e300 },
	};
	auto_buf struct buf out = { 0 };

	message_add(&out, text, values, ARRAY_SIZE(values));
	for (size_t i = 0; i < 4; i++)
		(void)message_wants_text(text, i);
	(void)message_arg_named(text, "n", 1);
}

static void read_diff(char *text)
{
	struct strmap names = { 0 };

	(void)!diff_names(text, &names, NULL);
	strmap_release(&names);
}

static void read_options(char *text)
{
	bool flag = false;
	const char *string = NULL;
	cli_strings strings = { 0 };
	double seconds = 0;
	int number = 0, first;
	const struct cli_option table[] = {
		{ 'f', "flag", NULL, CLI_FLAG, &flag, "a flag" },
		{ 0, "string", "TEXT", CLI_STRING, &string, "a text" },
		{ 's', "strings", "TEXT", CLI_STRINGS, &strings, "texts" },
		{ 't', "time", "TIME", CLI_SECONDS, &seconds, "a time" },
		{ 'n', "number", "N", CLI_INT, &number, "a number" },
	};
	const struct cli_command cmd = { "uspl-fuzz", "[OPTION]...", "Does nothing", table,
					 ARRAY_SIZE(table) };
	char *argv[16] = { (char[]){ "uspl-fuzz" } }, *save = NULL;
	pid_vec pids = { 0 };
	int argc = 1;

	for (char *word = strtok_r(text, "\n", &save); word && argc < 15;
	     word = strtok_r(NULL, "\n", &save))
		argv[argc++] = word;
	(void)cli_peek(&cmd, argc, argv, "string");
	if (cli_parse(&cmd, argc, argv, &first, NULL) == CLI_GO_ON)
		(void)!cli_pids(argv + first, argc - first, &pids, NULL);
	vec_release(&pids);
	vec_release(&strings);
}

static void read_arg_specs(char *text)
{
	trigger_vec triggers = { 0 };
	arg_spec_vec specs = { 0 };
	cli_strings words = { 0 };
	const char **word = vec_push(&words);

	*word = text;
	(void)!triggers_parse(&words, &triggers, NULL);
	(void)!arg_specs_parse(&words, false, &specs, NULL);
	triggers_release(&triggers);
	arg_specs_release(&specs);
	vec_release(&words);
}

static void show(char *text)
{
	auto_buf struct buf once = { 0 }, twice = { 0 };

	text_add_printable(&once, text, strlen(text), false);
	text_add_printable(&twice, buf_str(&once), once.len, false);
	if (strcmp(buf_str(&once), buf_str(&twice)))
		abort();
	(void)text_width(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(char *text) = { read_maps,   read_filter,    read_message,
						       read_diff,   read_arg_specs, show,
						       read_options };
	char *text;

	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	readers[data[0] % ARRAY_SIZE(readers)](text);
	free(text);
	return 0;
}
