// SPDX-License-Identifier: GPL-3.0-or-later
// libde265.c - decodes what is no picture: headers of a stream, in which each value is odd

#include "drive.h"

#include <libde265/de265.h>
#include <malloc.h>
#include <stdbool.h>
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

/* ---- streams that are written bit by bit ---- */

enum { TRAIL = 1, IDR = 19, SPS = 33, PPS = 34 }; /* units */

static uint8_t unit[65536];
static size_t unit_bits;

static void put(unsigned value, int n)
{
	while (n--) {
		uint8_t bit = (uint8_t)((value >> n & 1) << (7 - unit_bits % 8));

		unit[unit_bits / 8] = (uint8_t)(unit_bits % 8 ? unit[unit_bits / 8] | bit : bit);
		unit_bits++;
	}
}

/* A number by the code of Exp-Golomb. */
static void put_number(unsigned value)
{
	int len = 32 - __builtin_clz(value + 1);

	put(0, len - 1);
	put(value + 1, len);
}

static void put_zeros(int numbers)
{
	while (numbers--)
		put_number(0);
}

static void begin(unsigned type)
{
	unit_bits = 0;
	put(type << 9 | 1, 16);
}

static void align(void)
{
	put(1, 1);
	put(0, (int)(-unit_bits % 8));
}

/* Two zeros and what begins a unit don't follow each other: a 3 comes between. */
static void push(de265_decoder_context *decoder)
{
	static uint8_t out[2 * sizeof(unit)];
	size_t n = 0, zeros = 0;

	for (size_t i = 0; i < unit_bits / 8; i++) {
		if (zeros >= 2 && unit[i] < 4) {
			out[n++] = 3;
			zeros = 0;
		}
		zeros = unit[i] ? 0 : zeros + 1;
		out[n++] = unit[i];
	}
	de265_push_NAL(decoder, out, (int)n, 0, NULL);
}

/* What pictures have in common: so many pixels each way, of so many bits. */
static void push_sps(de265_decoder_context *decoder, unsigned id, unsigned size, unsigned depth)
{
	begin(SPS);
	put(1, 8); /* one layer of the main profile */
	put(1, 8);
	put(0, 24);
	put(0, 32);
	put(0, 24);
	put(30, 8);
	put_number(id);
	put_number(1); /* half as many colours each way */
	put_number(size);
	put_number(size);
	put(0, 1);
	put_number(depth - 8);
	put_number(depth - 8);
	put_number(4); /* pictures are numbered by 8 bits */
	put(1, 1);
	put_number(4); /* 5 are kept */
	put_zeros(2);
	put_number(0); /* blocks of 8 to 16 pixels, transformed by 4 to 16 */
	put_number(1);
	put_number(0);
	put_number(2);
	put_zeros(2);
	put(0, 4);
	put_number(1); /* a picture may refer to the one before it */
	put_number(1);
	put_zeros(2);
	put(1, 1);
	put(0, 5);
	align();
	push(decoder);
}

/* What slices have in common: so many pictures that they may refer to, if they don't say. */
static void push_pps(de265_decoder_context *decoder, unsigned id, unsigned sps, unsigned pictures)
{
	begin(PPS);
	put_number(id);
	put_number(sps);
	put(0x40, 7); /* a slice may depend on the one before */
	put_number(pictures - 1);
	put_zeros(2);
	put(0, 3);
	put_zeros(2);
	put(0, 10);
	put_number(0);
	put(0, 2);
	align();
	push(decoder);
}

/* What the slice holds: anything will do. */
static void push_data(de265_decoder_context *decoder, int n)
{
	uint32_t random = 1;

	align();
	while (n--) {
		random = random * 1664525 + 1013904223;
		put(random >> 24, 8);
	}
	push(decoder);
}

/* A picture that refers to no other one. */
static void push_first(de265_decoder_context *decoder)
{
	begin(IDR);
	put(2, 2);
	put_number(0);
	put_number(2);
	put_number(0);
	push_data(decoder, 2000);
}

/* The picture behind it, which refers to it; place: 0, or the block that another slice begins at */
static void push_second(de265_decoder_context *decoder, unsigned pps, unsigned place)
{
	begin(TRAIL);
	put(!place, 1);
	put_number(pps);
	if (place)
		put(place, 5);
	put_number(1);
	put(1, 8);
	put(2, 2);
	put_zeros(2);
	push_data(decoder, 2000);
}

static unsigned warnings[2000];

/* What the second picture is like. */
static unsigned long decode(de265_decoder_context *decoder)
{
	const struct de265_image *picture;
	unsigned long sum = 0;
	de265_error warning;
	int more = 1, line;

	de265_flush_data(decoder);
	for (int turns = 0; more && turns < 100; turns++) {
		de265_decode(decoder, &more);
		while ((warning = de265_get_warning(decoder)) != DE265_OK)
			warnings[warning]++;
		while ((picture = de265_get_next_picture(decoder)))
			sum = digest(0, de265_get_image_plane(picture, 0, &line), 64);
	}
	return sum;
}

static de265_decoder_context *begin_stream(unsigned pictures)
{
	de265_decoder_context *decoder = de265_new_decoder();

	push_sps(decoder, 0, 64, 8);
	push_pps(decoder, 0, 0, pictures);
	push_first(decoder);
	return decoder;
}

/* What pictures have in common comes once more: is what slices have in common kept? */
static const char *repeated_set(void)
{
	de265_decoder_context *decoder;

	/* What isn't read of a set is compared, too. */
	mallopt(M_PERTURB, 1);
	decoder = begin_stream(1);
	push_sps(decoder, 0, 64, 8);
	push_first(decoder);
	decode(decoder);
	return warnings[DE265_WARNING_NONEXISTING_PPS_REFERENCED] ? "old" : "new";
}

/* Two sets of what pictures have in common, the second one for a larger one. */
static const char *other_size(void)
{
	de265_decoder_context *decoder = begin_stream(1);

	push_sps(decoder, 0, 72, 8);
	push_pps(decoder, 0, 0, 1);
	push_second(decoder, 0, 0);
	decode(decoder);
	return warnings[DE265_WARNING_REFERENCE_IMAGE_SIZE_DOES_NOT_MATCH_SPS]  ? "old"
	       : warnings[DE265_WARNING_NONEXISTING_REFERENCE_PICTURE_ACCESSED] ? "new"
										: "";
}

/* A slice says that samples have more bits than those of the picture that it is of. */
static const char *other_depth(void)
{
	de265_decoder_context *decoder = begin_stream(1);

	push_second(decoder, 0, 0);
	push_sps(decoder, 1, 64, 9);
	push_pps(decoder, 1, 1, 1);
	push_second(decoder, 1, 8);
	decode(decoder);
	return warnings[DE265_WARNING_BIT_DEPTH_OF_CURRENT_IMAGE_DOES_NOT_MATCH_SPS] ? "old"
										     : "new";
}

/* A slice depends on one whose parameters are gone. */
static const char *gone_set(bool dump)
{
	de265_decoder_context *decoder = begin_stream(1);

	if (dump)
		de265_set_parameter_int(decoder, DE265_DECODER_PARAM_DUMP_SLICE_HEADERS,
					STDERR_FILENO);
	push_sps(decoder, 0, 72, 8);
	push_pps(decoder, 1, 0, 1);
	begin(TRAIL);
	put(0, 1);
	put_number(1);
	put(1, 1);
	put(1, 5);
	push_data(decoder, 100);
	decode(decoder);
	return warnings[DE265_WARNING_NONEXISTING_PPS_REFERENCED] ? "new" : "";
}

/* So many pictures to refer to that a byte says none: is the slice read as if there were one? */
static const char *no_pictures(void)
{
	unsigned long sum[2];

	for (unsigned i = 0; i < 2; i++) {
		de265_decoder_context *decoder = begin_stream(i ? 256 : 1);

		push_second(decoder, 0, 0);
		sum[i] = decode(decoder);
	}
	return sum[0] == sum[1] ? "new" : "old";
}

const char *probe(const char *fix)
{
	if (!strcmp(fix, "CVE-2023-43887.patch"))
		return invalid_set();
	if (!strcmp(fix, "reject_reference_pics_from_different_sps.patch"))
		return other_size();
	if (!strcmp(fix, "use_sps_from_the_image.patch"))
		return other_depth();
	if (!strcmp(fix, "recycle_sps_if_possible.patch"))
		return repeated_set();
	if (!strcmp(fix, "CVE-2023-27102.patch"))
		return gone_set(false);
	if (!strcmp(fix, "CVE-2023-47471.patch"))
		return gone_set(true);
	if (!strcmp(fix, "CVE-2023-49467.patch"))
		return no_pictures();
	return "";
}
