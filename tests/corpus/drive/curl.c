// SPDX-License-Identifier: GPL-3.0-or-later
// curl.c - fetches a file and keeps cookies, with one handle after another

#include "drive.h"

#include <curl/curl.h>

static size_t take(char *data, size_t size, size_t n, void *sum)
{
	*(unsigned long *)sum = digest(*(unsigned long *)sum, data, size * n);
	return size * n;
}

unsigned long work(void)
{
	CURL *curl = curl_easy_init(), *copy;
	struct curl_slist *cookies = NULL, *cookie;
	unsigned long sum = 0;

	curl_easy_setopt(curl, CURLOPT_URL, "file:///etc/passwd");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sum);
	curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
	curl_easy_setopt(curl, CURLOPT_COOKIELIST,
			 "Set-Cookie: name=value; domain=.example.com; path=/; version=1");
	sum += (unsigned long)curl_easy_perform(curl);
	copy = curl_easy_duphandle(curl);
	curl_easy_getinfo(copy ? copy : curl, CURLINFO_COOKIELIST, &cookies);
	for (cookie = cookies; cookie; cookie = cookie->next)
		sum = digest(sum, cookie->data, strlen(cookie->data));
	curl_slist_free_all(cookies);
	curl_easy_cleanup(copy);
	curl_easy_cleanup(curl);
	return sum;
}

const char *probe(const char *fix)
{
	(void)fix;
	return "";
}
