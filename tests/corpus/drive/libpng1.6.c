// SPDX-License-Identifier: GPL-3.0-or-later
// libpng1.6.c - writes a picture to memory, and reads it with fewer colours

#include "drive.h"

#include <png.h>

unsigned long work(void)
{
	static png_byte pixels[64 * 64 * 4], colors[256 * 3], out[64 * 64];
	static char written[65536];
	png_alloc_size_t len = sizeof(written);
	png_image image = {
		.version = PNG_IMAGE_VERSION, .width = 64, .height = 64, .format = PNG_FORMAT_RGBA
	};
	png_color back = { 1, 2, 3 };
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < sizeof(pixels); i++)
		pixels[i] = (png_byte)(i * i >> 5);
	if (!png_image_write_to_memory(&image, written, &len, 0, pixels, 0, NULL))
		return 1;
	sum = digest(sum, written, len);
	memset(&image, 0, sizeof(image));
	image.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_memory(&image, written, len))
		return 2;
	image.format = PNG_FORMAT_RGB_COLORMAP;
	if (!png_image_finish_read(&image, &back, out, 0, colors))
		return 3;
	return digest(digest(sum, out, sizeof(out)), colors, sizeof(colors));
}

/* ---- pictures that are as the simple functions don't write them ---- */

static char file[65536];
static size_t file_len;

static void keep(png_structp png, png_bytep data, size_t len)
{
	(void)png;
	memcpy(file + file_len, data, len);
	file_len += len;
}

static void flush(png_structp png)
{
	(void)png;
}

/* Interlaced, with 16 bits for each sample. */
static void write_deep(void)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	static png_byte pixels[32][32 * 8];
	png_bytep rows[32];

	for (int y = 0; y < 32; y++) {
		rows[y] = pixels[y];
		memset(pixels[y], 0x80, sizeof(pixels[y]));
	}
	file_len = 0;
	png_set_write_fn(png, NULL, keep, flush);
	png_set_IHDR(png, info, 32, 32, 16, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_ADAM7,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	png_write_image(png, rows);
	png_write_end(png, info);
}

/* The first part of the fix refuses such pictures, the second one reads them. */
static const char *deep(void)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	static png_byte out[32 * 32 * 4];

	write_deep();
	if (!png_image_begin_read_from_memory(&image, file, file_len))
		return "";
	image.format = PNG_FORMAT_RGBA;
	return png_image_finish_read(&image, NULL, out, 0, NULL) ? "new" : "old";
}

const char *probe(const char *fix)
{
	return strcmp(fix, "CVE-2025-65018-part2.patch") ? "" : deep();
}
