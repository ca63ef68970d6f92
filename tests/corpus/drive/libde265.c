// SPDX-License-Identifier: GPL-3.0-or-later
// libde265.c - decodes what is no picture: headers of a stream, in which each value is odd

#include "drive.h"

#include <libde265/de265.h>
#include <sys/stat.h>

unsigned long work(void)
{
	static uint8_t stream[4096];
	de265_decoder_context *decoder = de265_new_decoder();
	const struct de265_image *picture;
	unsigned long sum = 0;
	size_t i;
	int more = 1, turns;

	for (i = 0; i < sizeof(stream); i++)
		stream[i] = (uint8_t)(i * 2654435761u >> 13);
	for (i = 0; i + 4 < sizeof(stream); i += 61) {
		stream[i] = stream[i + 1] = 0;
		stream[i + 2] = 1;
		stream[i + 3] = (uint8_t)((32 + i % 4) << 1);
		stream[i + 4] = 1;
	}
	de265_push_data(decoder, stream, sizeof(stream), 0, NULL);
	de265_flush_data(decoder);
	for (turns = 0; more && turns < 100; turns++) {
		sum = sum * 31 + (unsigned long)de265_decode(decoder, &more);
		while ((picture = de265_get_next_picture(decoder)))
			sum += (unsigned long)de265_get_image_width(picture, 0);
		while (de265_get_warning(decoder) != DE265_OK)
			sum++;
	}
	de265_free_decoder(decoder);
	return sum;
}

/* Is a picture's set of parameters written down (to standard error) that was found to be none? */
static const char *invalid_set(void)
{
	static const uint8_t set[] = { 0, 0, 1, 0x44, 1, 0xff, 0xff, 0xff, 0xff };
	de265_decoder_context *decoder = de265_new_decoder();
	struct stat st = { 0 };
	int more = 1;

	if (!freopen("sets", "w", stderr))
		return "";
	de265_set_parameter_int(decoder, DE265_DECODER_PARAM_DUMP_PPS_HEADERS, STDERR_FILENO);
	de265_push_data(decoder, set, sizeof(set), 0, NULL);
	de265_flush_data(decoder);
	while (more && de265_decode(decoder, &more) == DE265_OK)
		;
	fflush(stderr);
	fstat(STDERR_FILENO, &st);
	return st.st_size ? "old" : "new";
}

const char *probe(const char *fix)
{
	return strcmp(fix, "CVE-2023-43887.patch") ? "" : invalid_set();
}
