// SPDX-License-Identifier: GPL-3.0-or-later
// download.c - a file of a known size at most, by https or from this machine
/*
 * By libcurl, which is loaded when it is needed. What the other side can do is bounded: how much it
 * sends, how slowly, and how often it sends us elsewhere, which is https again.
 */

#include "machine/upgrade/download.h"

#include <string.h>

#include <curl/curl.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/late.h"
#include "late_names.h"

LATE(curl_easy_init);
LATE(curl_easy_setopt);
LATE(curl_easy_perform);
LATE(curl_easy_cleanup);
LATE(curl_easy_strerror);

#define CONNECT_S 30L
/* Bytes a second, for so many seconds. */
#define SLOW_RATE 1000L
#define SLOW_S 60L
#define REDIRECTS 3L

static const char https[] = "https://", local[] = "file://";

struct transfer {
	struct buf *to;
	size_t left; /* of what may come */
	bool too_much;
};

static size_t take(char *data, size_t one, size_t n, void *ctx)
{
	struct transfer *transfer = ctx;

	n *= one;
	transfer->too_much |= n > transfer->left;
	if (transfer->too_much)
		return 0;
	buf_add(transfer->to, data, n);
	transfer->left -= n;
	return transfer->to->oom ? 0 : n;
}

static int look_around(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
		       curl_off_t up)
{
	(void)ctx, (void)total, (void)now, (void)up_total, (void)up;
	return cancel_requested();
}

static int load(struct uspl_err *err)
{
	static const struct late_function functions[] = {
		LATE_LINE(curl_easy_init),     LATE_LINE(curl_easy_setopt),
		LATE_LINE(curl_easy_perform),  LATE_LINE(curl_easy_cleanup),
		LATE_LINE(curl_easy_strerror),
	};

	if (late_load(LATE_CURL, functions, ARRAY_SIZE(functions)))
		return 0;
	uspl_fail(err, USPL_E_SYSTEM, "cannot load '%s', which fetches files", LATE_CURL);
	uspl_hint(err, "install libcurl, or fetch the folder by other means and name it");
	return -USPL_E_SYSTEM;
}

bool download_is_url(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+.-");

	return len && !strncmp(word + len, "://", 3);
}

#define SET(option, value)                                                                         \
	(code = code == CURLE_OK ? late_curl_easy_setopt(curl, option, value) : code)

static CURLcode prepare(CURL *curl, const char *url, const char *cacert, char *message,
			struct transfer *transfer)
{
	CURLcode code = CURLE_OK;

	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, strncmp(url, https, strlen(https)) ? "file" : "https");
	SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
	SET(CURLOPT_FOLLOWLOCATION, 1L);
	SET(CURLOPT_MAXREDIRS, REDIRECTS);
	SET(CURLOPT_FAILONERROR, 1L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	SET(CURLOPT_LOW_SPEED_LIMIT, SLOW_RATE);
	SET(CURLOPT_LOW_SPEED_TIME, SLOW_S);
	SET(CURLOPT_USERAGENT, "uspl/" USPL_VERSION);
	SET(CURLOPT_ERRORBUFFER, message);
	SET(CURLOPT_WRITEFUNCTION, take);
	SET(CURLOPT_WRITEDATA, transfer);
	SET(CURLOPT_XFERINFOFUNCTION, look_around);
	SET(CURLOPT_NOPROGRESS, 0L);
	if (cacert) {
		SET(CURLOPT_CAINFO, cacert);
		SET(CURLOPT_CAPATH, NULL);
	}
	return code;
}

static int fail(CURLcode code, const char *url, const char *message,
		const struct transfer *transfer, size_t max, struct uspl_err *err)
{
	static const CURLcode untrusted[] = { CURLE_PEER_FAILED_VERIFICATION,
					      CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR };
	enum uspl_code cause = USPL_E_FILE;

	if (cancel_requested())
		return cancel_check(err);
	if (transfer->to->oom)
		return uspl_fail_nomem(err);
	if (transfer->too_much)
		return uspl_fail(err, USPL_E_HOSTILE, "'%s' has more than %zu bytes", url, max);
	for (size_t i = 0; i < ARRAY_SIZE(untrusted); i++)
		if (code == untrusted[i])
			cause = USPL_E_UNTRUSTED;
	return uspl_fail(err, cause, "cannot fetch '%s': %.600s", url,
			 *message ? message : late_curl_easy_strerror(code));
}

int download(const char *folder, const char *name, size_t max, const char *cacert, struct buf *ret,
	     struct uspl_err *err)
{
	size_t len = strlen(folder);
	struct transfer transfer = { .to = ret, .left = max };
	char message[CURL_ERROR_SIZE] = "";
	auto_free char *url = NULL;
	CURLcode code;
	CURL *curl;
	int rc;

	if (strncmp(folder, https, strlen(https)) != 0 &&
	    strncmp(folder, local, strlen(local)) != 0)
		return uspl_fail(err, USPL_E_USAGE, "'%s' is neither https:// nor file://", folder);
	if (asprintf(&url, "%s%s%s", folder, folder[len - 1] == '/' ? "" : "/", name) < 0) {
		url = NULL;
		return uspl_fail_nomem(err);
	}
	rc = load(err);
	if (rc)
		return rc;
	curl = late_curl_easy_init();
	if (!curl)
		return uspl_fail_nomem(err);
	code = prepare(curl, url, cacert, message, &transfer);
	if (code == CURLE_OK)
		code = late_curl_easy_perform(curl);
	if (code != CURLE_OK)
		rc = fail(code, url, message, &transfer, max, err);
	late_curl_easy_cleanup(curl);
	return rc;
}
