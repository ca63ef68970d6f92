// SPDX-License-Identifier: GPL-3.0-or-later
// report_parts.c - what the reports of apply, undo and view have in common

#include "command/report.h"

#include <string.h>

size_t report_count(const region_list *regions)
{
	const struct region **region;
	size_t n = 0;

	vec_for_each (regions, region)
		n += (*region)->sites.n;
	return n;
}

void report_functions(struct json *json, const region_list *regions)
{
	const struct region **region;
	const struct region_site *site;

	json_open(json, "functions", '[');
	vec_for_each (regions, region) {
		vec_for_each (&(*region)->sites, site) {
			json_open(json, NULL, '{');
			json_string(json, "name", site->name);
			json_address(json, "old", region_site_entry(site));
			if (site->new_addr)
				json_address(json, "new", site->new_addr);
			json_string(json, "module", (*region)->module_name);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
}

void report_changed(struct json *json, const struct report *report, bool changed)
{
	if (report->one_of_many)
		json_truth(json, "changed", changed);
}

void report_words(struct json *json, const char *key, const char *words)
{
	const char *at = words ? words : "";
	size_t len;

	if (!*at)
		return;
	json_open(json, key, '[');
	for (; *at; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		json_bytes(json, NULL, at, len);
	}
	json_close(json, ']');
}
