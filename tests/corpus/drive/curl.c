// SPDX-License-Identifier: GPL-3.0-or-later
// curl.c - fetches files from a server of its own and from the disk, and keeps cookies

#include "drive.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- the server: it answers each request alike, and keeps connections ---- */

static int port;

static void *serve_one(void *connection)
{
	static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
				    "Set-Cookie: seen=yes; path=/\r\n\r\nhello";
	FILE *in = connection;
	char line[4096];

	while (fgets(line, sizeof(line), in))
		if (!strcmp(line, "\r\n") &&
		    send(fileno(in), reply, sizeof(reply) - 1, MSG_NOSIGNAL) < 0)
			break;
	fclose(in);
	return NULL;
}

static void *serve(void *listening)
{
	pthread_t thread;
	int fd;

	while ((fd = accept(*(int *)listening, NULL, NULL)) >= 0)
		if (!pthread_create(&thread, NULL, serve_one, fdopen(fd, "r")))
			pthread_detach(thread);
	return NULL;
}

static void start_server(void)
{
	static int listening;
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	pthread_t thread;

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listening, (struct sockaddr *)&name, size) < 0 || listen(listening, 10) < 0 ||
	    getsockname(listening, (struct sockaddr *)&name, &size) < 0 ||
	    pthread_create(&thread, NULL, serve, &listening))
		_exit(1);
	port = ntohs(name.sin_port);
}

/* ---- the load ---- */

static size_t take(char *data, size_t size, size_t n, void *sum)
{
	*(unsigned long *)sum = digest(*(unsigned long *)sum, data, size * n);
	return size * n;
}

static CURL *handle(const char *scheme, unsigned long *sum)
{
	CURL *curl = curl_easy_init();
	char url[64];

	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/", scheme, port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, sum);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
	return curl;
}

unsigned long work(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct curl_slist *cookies = NULL, *cookie;
	unsigned long sum = 0;
	CURL *curl, *copy;

	pthread_once(&once, start_server);
	curl = handle("http", &sum);
	curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
	curl_easy_setopt(curl, CURLOPT_COOKIELIST,
			 "Set-Cookie: name=value; domain=.example.com; path=/; version=1");
	sum += (unsigned long)curl_easy_perform(curl);
	sum += (unsigned long)curl_easy_perform(curl);
	copy = curl_easy_duphandle(curl);
	curl_easy_getinfo(copy ? copy : curl, CURLINFO_COOKIELIST, &cookies);
	for (cookie = cookies; cookie; cookie = cookie->next)
		if (strstr(cookie->data, "example.com"))
			sum = digest(sum, cookie->data, strlen(cookie->data));
	curl_slist_free_all(cookies);
	curl_easy_setopt(curl, CURLOPT_URL, "file:///etc/passwd");
	sum += (unsigned long)curl_easy_perform(curl);
	curl_easy_cleanup(copy);
	curl_easy_cleanup(curl);
	return sum;
}

/* ---- what tells ---- */

/* A user's name that isn't ASCII, for a server that says nothing. */
static const char *telnet_name(void)
{
	struct curl_slist *options = curl_slist_append(NULL, "TTYPE=vt100");
	unsigned long sum = 0;
	CURL *curl;

	start_server();
	curl = handle("telnet", &sum);
	curl_easy_setopt(curl, CURLOPT_USERPWD, "\xc3\xa4:x");
	curl_easy_setopt(curl, CURLOPT_TELNETOPTIONS, options);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 500L);
	return curl_easy_perform(curl) == CURLE_BAD_FUNCTION_ARGUMENT ? "new" : "old";
}

/* Is a connection used again that was made with less trust? */
static const char *delegation(void)
{
	unsigned long sum = 0;
	long made = -1;
	CURL *curl;

	start_server();
	curl = handle("http", &sum);
	curl_easy_perform(curl);
	curl_easy_setopt(curl, CURLOPT_GSSAPI_DELEGATION, (long)CURLGSSAPI_DELEGATION_FLAG);
	curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &made);
	return made == 1 ? "new" : made == 0 ? "old" : "";
}

/* Does a copy of a handle read cookies from a file by the name of "none"? */
static const char *cookies_of_none(void)
{
	FILE *none = fopen("none", "w");
	struct curl_slist *cookies = NULL;
	unsigned long sum = 0;
	CURL *curl = handle("http", &sum);

	fputs("example.org\tFALSE\t/\tFALSE\t0\tinjected\tyes\n", none);
	fclose(none);
	curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
	curl_easy_getinfo(curl_easy_duphandle(curl), CURLINFO_COOKIELIST, &cookies);
	return cookies && strstr(cookies->data, "injected") ? "old" : "new";
}

/* Cookies in a file whose name has no room for a suffix. */
static const char *long_jar(void)
{
	static char name[251];
	struct stat st = { 0 };
	unsigned long sum = 0;
	CURL *curl = handle("http", &sum);

	memset(name, 'j', 250);
	unlink(name);
	curl_easy_setopt(curl, CURLOPT_COOKIEJAR, name);
	curl_easy_setopt(curl, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=.example.com; path=/");
	curl_easy_cleanup(curl);
	stat(name, &st);
	return st.st_size > 0 ? "new" : "old";
}

const char *probe(const char *fix)
{
	if (!strcmp(fix, "CVE-2023-27533.patch"))
		return telnet_name();
	if (!strcmp(fix, "CVE-2023-27536.patch"))
		return delegation();
	if (!strcmp(fix, "CVE-2023-38546.patch"))
		return cookies_of_none();
	if (!strcmp(fix, "CVE-2023-46219.patch"))
		return long_jar();
	return "";
}
