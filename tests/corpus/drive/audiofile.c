// SPDX-License-Identifier: GPL-3.0-or-later
// audiofile.c - writes sound in several formats, and reads it in another one

#define _GNU_SOURCE /* memmem */
#include "drive.h"

#include <audiofile.h>
#include <stdint.h>

static unsigned long one(int format, int compression)
{
	AFfilesetup setup = afNewFileSetup();
	static int16_t frames[2000];
	AFfilehandle file;
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < 2000; i++)
		frames[i] = (int16_t)(i * i);
	afInitFileFormat(setup, format);
	afInitChannels(setup, AF_DEFAULT_TRACK, 2);
	afInitSampleFormat(setup, AF_DEFAULT_TRACK, AF_SAMPFMT_TWOSCOMP, 16);
	afInitCompression(setup, AF_DEFAULT_TRACK, compression);
	file = afOpenFile("work.sound", "w", setup);
	afFreeFileSetup(setup);
	if (!file)
		return 1;
	afWriteFrames(file, AF_DEFAULT_TRACK, frames, 1000);
	afCloseFile(file);
	file = afOpenFile("work.sound", "r", NULL);
	if (!file)
		return 2;
	afSetVirtualSampleFormat(file, AF_DEFAULT_TRACK, AF_SAMPFMT_TWOSCOMP, 8);
	memset(frames, 0, sizeof(frames));
	sum = (unsigned long)afReadFrames(file, AF_DEFAULT_TRACK, frames, 1000);
	sum = digest(sum, frames, sizeof(frames));
	afCloseFile(file);
	return sum;
}

unsigned long work(void)
{
	return one(AF_FILE_WAVE, AF_COMPRESSION_NONE) + 3 * one(AF_FILE_WAVE, AF_COMPRESSION_IMA) +
	       5 * one(AF_FILE_WAVE, AF_COMPRESSION_MS_ADPCM) +
	       7 * one(AF_FILE_NEXTSND, AF_COMPRESSION_G711_ULAW);
}

/* Two channels of 16 bits read as one of 8: the sums of each two, a 256th of them. */
static const char *mixed(void)
{
	static const int16_t frames[] = { 14298, 392, 3923, -683, 958, -1921 };
	AFfilesetup setup = afNewFileSetup();
	AFfilehandle file;
	int8_t bytes[8] = { 0 };

	afInitFileFormat(setup, AF_FILE_WAVE);
	afInitChannels(setup, AF_DEFAULT_TRACK, 2);
	afInitSampleFormat(setup, AF_DEFAULT_TRACK, AF_SAMPFMT_TWOSCOMP, 16);
	file = afOpenFile("mixed.sound", "w", setup);
	afWriteFrames(file, AF_DEFAULT_TRACK, frames, 3);
	afCloseFile(file);
	file = afOpenFile("mixed.sound", "r", NULL);
	afSetVirtualSampleFormat(file, AF_DEFAULT_TRACK, AF_SAMPFMT_TWOSCOMP, 8);
	afSetVirtualChannels(file, AF_DEFAULT_TRACK, 1);
	afReadFrames(file, AF_DEFAULT_TRACK, bytes, 3);
	return bytes[0] == 28 && bytes[1] == 6 && bytes[2] == -2 ? "new" : "old";
}

/* ---- files that are as no writer makes them ---- */

static unsigned char file[65536];
static size_t file_len;

static void load_crafted(void)
{
	FILE *from = fopen("crafted.sound", "rb");

	file_len = fread(file, 1, sizeof(file), from);
	fclose(from);
}

static void save_crafted(void)
{
	FILE *to = fopen("crafted.sound", "wb");

	fwrite(file, 1, file_len, to);
	fclose(to);
}

/* Sound of one channel, in `file`; where its data begin. */
static unsigned char *craft(int format, int compression)
{
	AFfilesetup setup = afNewFileSetup();
	static int16_t frames[2000];
	AFfilehandle out;
	size_t at;

	afInitFileFormat(setup, format);
	afInitChannels(setup, AF_DEFAULT_TRACK, 1);
	afInitSampleFormat(setup, AF_DEFAULT_TRACK, AF_SAMPFMT_TWOSCOMP, 16);
	afInitCompression(setup, AF_DEFAULT_TRACK, compression);
	out = afOpenFile("crafted.sound", "w", setup);
	afWriteFrames(out, AF_DEFAULT_TRACK, frames, 2000);
	afCloseFile(out);
	load_crafted();
	for (at = 0; at + 8 < file_len; at++)
		if (!memcmp(file + at, "data", 4))
			return file + at + 8;
	return NULL;
}

static long first_error = -1;

static void hears(long error, const char *text)
{
	(void)text;
	if (first_error < 0)
		first_error = error;
}

/* The second sample of what is in `file`; 100000 if it can't be read. */
static int second_sample(void)
{
	int16_t frames[400] = { 0 };
	AFfilehandle in;
	long n;

	save_crafted();
	in = afOpenFile("crafted.sound", "r", NULL);
	n = in ? (long)afReadFrames(in, AF_DEFAULT_TRACK, frames, 200) : 0;
	return n > 1 ? frames[1] : 100000;
}

/* An index of steps behind the table's end: taken for its last one? */
static const char *ima_index(void)
{
	unsigned char *data = craft(AF_FILE_WAVE, AF_COMPRESSION_IMA);
	int last;

	if (!data)
		return "";
	data[0] = data[1] = 0;
	data[2] = 88;
	data[4] = 0x07;
	last = second_sample();
	if (last == 100000)
		return "";
	data[2] = 255;
	return second_sample() == last ? "new" : "old";
}

/* Steps that grow until their product has no room. */
static const char *msadpcm_steps(void)
{
	unsigned char *data = craft(AF_FILE_WAVE, AF_COMPRESSION_MS_ADPCM);

	if (!data)
		return "";
	data[0] = 0;
	memset(data + 1, 0x7f, 2);
	memset(data + 7, 0x77, 100);
	second_sample();
	return first_error == AF_BAD_COMPRESSION ? "new" : "old";
}

/* Samples of three bits, which are not decoded. Formats begin at 20. */
static const char *ima_width(void)
{
	if (!craft(AF_FILE_WAVE, AF_COMPRESSION_IMA))
		return "";
	file[34] = 3;
	save_crafted();
	return afOpenFile("crafted.sound", "r", NULL) ? "old" : "new";
}

/* Blocks of no length: a division by zero, or no frames. */
static const char *no_block(void)
{
	if (!craft(AF_FILE_WAVE, AF_COMPRESSION_MS_ADPCM))
		return "";
	file[32] = file[33] = 0;
	second_sample();
	return "new";
}

static const char *many_channels(void)
{
	static const unsigned char head[28] = {
		'.', 's', 'n', 'd', 0, 0, 0,    28,   0,    0, 0, 8,
		0,   0,   0,   3,   0, 0, 0x1f, 0x40, 0x10, 0, 0, 1
	};

	memcpy(file, head, sizeof(head));
	file_len = sizeof(head) + 8;
	save_crafted();
	afOpenFile("crafted.sound", "r", NULL);
	return first_error == AF_BAD_CHANNELS ? "new" : "old";
}

/* Sound whose decoder lacks what it must know. */
static const char *no_cookie(void)
{
	unsigned char *cookie;

	craft(AF_FILE_CAF, AF_COMPRESSION_ALAC);
	cookie = memmem(file, file_len, "kuki", 4);
	if (!cookie)
		return "";
	*cookie = 'x';
	return second_sample() == 100000 ? "new" : "";
}

const char *probe(const char *fix)
{
	afSetErrorHandler(hears);
	if (!strcmp(fix, "03_CVE-2015-7747.patch"))
		return mixed();
	if (!strcmp(fix, "04_clamp-index-values-to-fix-index-overflow-in-IMA.cpp.patch"))
		return ima_index();
	if (!strcmp(fix, "06_Check-for-multiplication-overflow-in-MSADPCM-decodeSam.patch"))
		return msadpcm_steps();
	if (!strcmp(fix, "09_Actually-fail-when-error-occurs-in-parseFormat.patch"))
		return ima_width();
	if (!strcmp(fix, "10_Check-for-division-by-zero-in-BlockCodec-runPull.patch"))
		return no_block();
	if (!strcmp(fix, "11_CVE-2018-13440.patch"))
		return no_cookie();
	if (!strcmp(fix, "15-Partial-fix-of-CVE-2019-13147.patch"))
		return many_channels();
	return "";
}
