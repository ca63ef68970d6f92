/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readings.h - the state of the demonstration server: named temperatures
 */
#ifndef READINGS_H
#define READINGS_H

#include <stddef.h>

/*
 * Answers one request line in reply (a line without its newline, cut at size). Any number of
 * threads may call it.
 *
 *     put NAME FAHRENHEIT    stores a reading          ok
 *     get NAME               shows it in Celsius       NAME is 100 C
 *     count                  how much was answered     1234 requests, 8 readings
 */
void readings_answer(const char *request, char *reply, size_t size);

#endif
