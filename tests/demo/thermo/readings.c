// SPDX-License-Identifier: GPL-3.0-or-later
// readings.c - named temperatures, stored in Fahrenheit, shown in Celsius

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "readings.h"

#define NAME_MAX_LEN 31
#define READINGS_MAX 64

struct reading {
	char name[NAME_MAX_LEN + 1];
	int fahrenheit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reading readings[READINGS_MAX];
static unsigned int n_readings;
static unsigned long n_requests;

/* The bug: in integers 5 / 9 is 0, and every reading is shown as 0 C. */
static int to_celsius(int fahrenheit)
{
	return (fahrenheit - 32) * (5 / 9);
}

static struct reading *find(const char *name)
{
	for (unsigned int i = 0; i < n_readings; i++)
		if (!strcmp(readings[i].name, name))
			return &readings[i];
	return NULL;
}

static void put(const char *name, int fahrenheit, char *reply, size_t size)
{
	struct reading *reading = find(name);

	if (!reading && n_readings < READINGS_MAX) {
		reading = &readings[n_readings++];
		snprintf(reading->name, sizeof(reading->name), "%s", name);
	}
	if (!reading) {
		snprintf(reply, size, "no room for '%s'", name);
		return;
	}
	reading->fahrenheit = fahrenheit;
	snprintf(reply, size, "ok");
}

static void get(const char *name, char *reply, size_t size)
{
	const struct reading *reading = find(name);

	if (reading)
		snprintf(reply, size, "%s is %d C", name, to_celsius(reading->fahrenheit));
	else
		snprintf(reply, size, "no reading '%s'", name);
}

void readings_answer(const char *request, char *reply, size_t size)
{
	char name[NAME_MAX_LEN + 1];
	int fahrenheit;

	pthread_mutex_lock(&lock);
	n_requests++;
	if (sscanf(request, "put %31s %d", name, &fahrenheit) == 2)
		put(name, fahrenheit, reply, size);
	else if (sscanf(request, "get %31s", name) == 1)
		get(name, reply, size);
	else if (!strcmp(request, "count"))
		snprintf(reply, size, "%lu requests, %u readings", n_requests, n_readings);
	else
		snprintf(reply, size, "unknown request");
	pthread_mutex_unlock(&lock);
}
