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

/* ---- palettes ---- */

/* Behind all that libpng gets there is room, in which each byte is odd. */
static png_voidp give(png_structp png, png_alloc_size_t size)
{
	char *room = malloc(size + 65536);

	(void)png;
	memset(room, 0, size);
	memset(room + size, 0xed, 65536);
	return room;
}

static void take_back(png_structp png, png_voidp room)
{
	(void)png;
	free(room);
}

static void fetch(png_structp png, png_bytep data, size_t len)
{
	(void)png;
	memcpy(data, file, len);
	memmove(file, file + len, sizeof(file) - len);
}

/* A picture of one pixel, of that number in a palette of four; alpha: of the first one. */
static void write_pixel(png_byte number, png_byte grey, png_byte alpha)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_color colors[4] = { { grey, grey, grey } };
	png_bytep row = &number;

	file_len = 0;
	png_set_write_fn(png, NULL, keep, flush);
	png_set_check_for_invalid_index(png, 0);
	png_set_IHDR(png, info, 1, 1, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_PLTE(png, info, colors, 4);
	png_set_tRNS(png, info, &alpha, 1, NULL);
	png_write_info(png, info);
	png_write_image(png, &row);
	png_write_end(png, info);
}

/* A number behind the palette's end: is it read as itself? */
static const char *beyond_palette(void)
{
	png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL, NULL,
						   give, take_back);
	png_infop info = png_create_info_struct(png);
	png_color colors[4] = { { 0, 0, 0 } };
	png_byte out = 0;

	write_pixel(200, 0, 255);
	png_set_read_fn(png, NULL, fetch);
	png_set_check_for_invalid_index(png, 0);
	png_read_info(png, info);
	png_set_quantize(png, colors, 4, 4, NULL, 0);
	png_read_update_info(png, info);
	png_read_row(png, &out, NULL);
	return out == 200 ? "new" : out == 0xed ? "old" : "";
}

/* Palettes of colours that are far from each other are made smaller, by several turns. */
static const char *fewer_colors(void)
{
	static png_color colors[256];
	unsigned random = 1;

	for (int turn = 0; turn < 200; turn++) {
		png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL,
							   NULL, give, take_back);
		int n = 4 + turn % 60;

		for (int i = 0; i < n; i++) {
			random = random * 1664525 + 1013904223;
			colors[i].red = (png_byte)(random >> 24);
			colors[i].green = (png_byte)(random >> 16);
			colors[i].blue = (png_byte)(random >> 8);
		}
		png_set_quantize(png, colors, n, 2, NULL, turn & 1);
		png_destroy_read_struct(&png, NULL, NULL);
	}
	return "new";
}

/*
 * A colour times its alpha: the fix computes that anew, and rounds up from 127/255 on. So of this
 * one come 3 or 4 of 255 steps of light, which are the colours 28 and 34.
 */
static const char *multiplied(void)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	png_byte out[4] = { 0 };

	write_pixel(0, 120, 13);
	if (!png_image_begin_read_from_memory(&image, file, file_len))
		return "";
	image.format = PNG_FORMAT_RGBA | PNG_FORMAT_FLAG_ASSOCIATED_ALPHA;
	if (!png_image_finish_read(&image, NULL, out, 0, NULL))
		return "";
	return out[0] == 34 ? "new" : out[0] == 28 ? "old" : "";
}

const char *probe(const char *fix)
{
	if (!strcmp(fix, "CVE-2025-64505.patch"))
		return beyond_palette();
	if (!strcmp(fix, "CVE-2025-64720.patch"))
		return multiplied();
	if (!strcmp(fix, "CVE-2026-25646.patch"))
		return fewer_colors();
	return strcmp(fix, "CVE-2025-65018-part2.patch") ? "" : deep();
}
