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

const char *probe(const char *fix)
{
	(void)fix;
	return "";
}
