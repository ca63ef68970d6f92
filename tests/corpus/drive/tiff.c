// SPDX-License-Identifier: GPL-3.0-or-later
// tiff.c - writes pictures in several ways, and reads them

#include "drive.h"

#include <tiffio.h>

static unsigned long one(uint16_t compression, uint16_t photometric)
{
	static uint8_t line[64 * 3];
	static uint32_t raster[64 * 64];
	TIFF *tiff = TIFFOpen("work.tif", "w");
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
	tiff = TIFFOpen("work.tif", "r");
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
	return one(COMPRESSION_LZW, PHOTOMETRIC_RGB) + 3 * one(COMPRESSION_NONE, PHOTOMETRIC_RGB) +
	       5 * one(COMPRESSION_PACKBITS, PHOTOMETRIC_RGB);
}

const char *probe(const char *fix)
{
	(void)fix;
	return "";
}
