// SPDX-License-Identifier: GPL-3.0-or-later
// meter.c - how far a build has come, by what the compiler wrapper has noted

#include "create/build/meter.h"

#include <string.h>
#include <time.h>

#include "create/tree/build.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void meter_start(struct meter *meter, const struct build_options *options, const char *what)
{
	*meter = (struct meter){
		.options = options,
		.start = now(),
		.progress.phase = what,
	};
}

void meter_report(struct meter *meter, const char *record)
{
	auto_free char *line = NULL;
	size_t size = 0;

	if (!meter->record)
		meter->record = fopen(record, "re");
	if (meter->record)
		clearerr(meter->record);
	/* A line is written at once, so none is seen in part. */
	while (meter->record && getline(&line, &size, meter->record) > 0)
		meter->progress.objects += !strncmp(line, "compile\t", 8);
	meter->progress.seconds = now() - meter->start;
	meter->options->progress(&meter->progress, meter->options->progress_ctx);
}

void meter_stop(struct meter *meter)
{
	if (meter->options->progress)
		meter->options->progress(NULL, meter->options->progress_ctx);
	if (meter->record)
		fclose(meter->record);
	meter->record = NULL;
}
