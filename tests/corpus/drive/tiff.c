// SPDX-License-Identifier: GPL-3.0-or-later
// tiff.c - writes pictures in several ways, and reads them

#include "drive.h"

#include <math.h>
#include <stdarg.h>
#include <tiffio.h>

static unsigned long one(const char *name, uint16_t compression, uint16_t photometric)
{
	static uint8_t line[64 * 3];
	static uint32_t raster[64 * 64];
	TIFF *tiff = TIFFOpen(name, "w");
	unsigned long sum = 0;
	uint32_t y;
	size_t i;

	TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 64);
	TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 64);
	TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
	TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
	TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 8);
	TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
	TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
	TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	for (y = 0; y < 64; y++) {
		for (i = 0; i < sizeof(line); i++)
			line[i] = (uint8_t)(i * y >> 3);
		TIFFWriteScanline(tiff, line, y, 0);
	}
	TIFFClose(tiff);
	tiff = TIFFOpen(name, "r");
	if (!tiff)
		return 1;
	for (y = 0; y < 64; y++) {
		TIFFReadScanline(tiff, line, y, 0);
		sum = digest(sum, line, sizeof(line));
	}
	TIFFReadRGBAImage(tiff, 64, 64, raster, 0);
	sum = digest(sum, raster, sizeof(raster));
	TIFFClose(tiff);
	return sum;
}

unsigned long work(void)
{
	return one("work.tif", COMPRESSION_LZW, PHOTOMETRIC_RGB) +
	       3 * one("work.tif", COMPRESSION_NONE, PHOTOMETRIC_RGB) +
	       5 * one("work.tif", COMPRESSION_PACKBITS, PHOTOMETRIC_RGB);
}

static char said[1024]; /* the last error */

static void hears(const char *module, const char *format, va_list args)
{
	(void)module;
	vsnprintf(said, sizeof(said), format, args);
}

/* A strip without its end, which is read once more. */
static const char *read_on(void)
{
	static uint8_t line[64 * 3];
	uint64_t *lengths;
	TIFF *tiff;

	one("asked.tif", COMPRESSION_LZW, PHOTOMETRIC_RGB);
	tiff = TIFFOpen("asked.tif", "r+");
	if (!TIFFGetField(tiff, TIFFTAG_STRIPBYTECOUNTS, &lengths))
		return "";
	lengths[0] = 40;
	for (int y = 0; y < 7; y++)
		TIFFReadScanline(tiff, line, (uint32_t)y, 0);
	return strstr(said, "previous error") ? "new" : strstr(said, "EOI") ? "old" : "";
}

static const char *row_beyond(void)
{
	static uint32_t raster[64 * 64];
	TIFF *tiff;

	one("asked.tif", COMPRESSION_NONE, PHOTOMETRIC_RGB);
	tiff = TIFFOpen("asked.tif", "r");
	TIFFReadRGBAStripExt(tiff, 64, raster, 0);
	return strstr(said, "Invalid row") ? "new" : "old";
}

/* Is the raster of fewer rows than the picture has alone written to? */
static const char *fewer_rows(void)
{
	static uint32_t room[3 * 64 * 64];
	TIFF *tiff;

	one("asked.tif", COMPRESSION_NONE, PHOTOMETRIC_RGB);
	tiff = TIFFOpen("asked.tif", "r");
	TIFFReadRGBAImageOriented(tiff, 64, 32, room + 64 * 64, ORIENTATION_BOTLEFT, 0);
	for (int i = 0; i < 64 * 64; i++)
		if (room[i] || room[64 * 64 + 32 * 64 + i])
			return "old";
	return "new";
}

/* How a pixel of that colour is encoded, 24 bits. */
static uint32_t encoded(float x, float y, float z)
{
	float pixels[3 * 4] = { x, y, z, x, y, z, x, y, z, x, y, z };
	uint32_t raw[4] = { 0 };
	TIFF *tiff = TIFFOpen("luv.tif", "w");

	TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
	TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
	TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
	TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
	TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
	TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
	TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_SGILOG24);
	TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_LOGLUV);
	TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
	TIFFSetField(tiff, TIFFTAG_SGILOGENCODE, SGILOGENCODE_NODITHER);
	TIFFWriteScanline(tiff, pixels, 0, 0);
	TIFFClose(tiff);
	tiff = TIFFOpen("luv.tif", "r");
	TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_RAW);
	if (TIFFReadScanline(tiff, raw, 0, 0) != 1)
		return 0;
	return raw[0];
}

/* What is no number counts as no colour. */
static const char *no_number(void)
{
	uint32_t grey = encoded(1, 1, 1);

	return !grey ? "" : encoded(NAN, 1, NAN) == grey ? "new" : "old";
}

static int scarce; /* is there no memory for names? */

extern void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	return scarce && size == 32 ? NULL : __libc_malloc(size);
}

/* Tags that aren't known get a name, or there is no memory for one. */
static const char *nameless(void)
{
	TIFF *tiff;

	one("asked.tif", COMPRESSION_NONE, PHOTOMETRIC_RGB);
	tiff = TIFFOpen("asked.tif", "r");
	TIFFSetWarningHandler(hears);
	scarce = 1;
	TIFFReadEXIFDirectory(tiff, TIFFCurrentDirOffset(tiff));
	return strstr(said, "anonymous field") ? "new" : "";
}

const char *probe(const char *fix)
{
	TIFFSetErrorHandler(hears);
	if (!strcmp(fix, "TIFFClose_avoid_NULL_pointer_dereferencing.patch")) {
		TIFFClose(NULL);
		return "new";
	}
	if (!strcmp(fix, "CVE-2023-2731.patch"))
		return read_on();
	if (!strcmp(fix, "CVE-2023-52356.patch"))
		return row_beyond();
	if (!strcmp(fix, "CVE-2025-9900.patch"))
		return fewer_rows();
	if (!strcmp(fix, "CVE-2024-7006.patch"))
		return nameless();
	if (!strcmp(fix, "CVE-2023-26966.patch"))
		return no_number();
	return "";
}
