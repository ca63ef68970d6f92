// SPDX-License-Identifier: GPL-3.0-or-later
// audiofile.c - writes sound in several formats, and reads it in another one

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

const char *probe(const char *fix)
{
	return strcmp(fix, "03_CVE-2015-7747.patch") ? "" : mixed();
}
