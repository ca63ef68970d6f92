// SPDX-License-Identifier: GPL-3.0-or-later
// curl.c - fetches files from servers of its own and from the disk, and keeps cookies

#include "drive.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- servers: they answer each request alike, and keep connections ---- */

struct server {
	void *(*serve_one)(void *connection);
	int fd, port;
};

static void *serve_http(void *connection)
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

/* Files are there, and nobody wants to have one. */
static void *serve_ftp(void *connection)
{
	FILE *in = connection;
	char line[4096] = "";

	do {
		const char *reply = !*line                      ? "220 hello\r\n"
				    : !strncmp(line, "USER", 4) ? "230 come in\r\n"
				    : !strncmp(line, "PWD", 3)  ? "257 \"/\"\r\n"
				    : !strncmp(line, "SIZE", 4) ? "213 5\r\n"
				    : !strncmp(line, "REST", 4) ? "350 go on\r\n"
								: "200 well\r\n";

		if (send(fileno(in), reply, strlen(reply), MSG_NOSIGNAL) < 0)
			break;
	} while (fgets(line, sizeof(line), in));
	fclose(in);
	return NULL;
}

static void send_frame(int fd, const char *head, const char *data, size_t len)
{
	char frame[4096] = { (char)(len >> 16), (char)(len >> 8), (char)len };

	memcpy(frame + 3, head, 6);
	memcpy(frame + 9, data, len);
	send(fd, frame, len + 9, MSG_NOSIGNAL);
}

/* HTTP/2: each request is answered, and another one promised that has 1400 headers. */
static void *serve_pushes(void *connection)
{
	FILE *in = connection;
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	char promise[1424], preface[24], head[9], data[16384], server[32];

	/* Of stream 2: the method, the scheme, the path, the server, and Accept-Encoding. */
	memset(promise, 0x90, sizeof(promise));
	memcpy(promise, "\0\0\0\2\x82\x86\x84\x41\x0f", 9);
	getsockname(fileno(in), (struct sockaddr *)&name, &size);
	snprintf(server, sizeof(server), "127.0.0.1:%05d", ntohs(name.sin_port));
	memcpy(promise + 9, server, 15);
	if (fread(preface, sizeof(preface), 1, in) == 1)
		send_frame(fileno(in), "\4\0\0\0\0\0", "", 0);
	while (fread(head, sizeof(head), 1, in) == 1) {
		size_t len = (unsigned char)head[1] * 256u + (unsigned char)head[2];

		if (len && (len > sizeof(data) || fread(data, len, 1, in) != 1))
			break;
		if (head[3] == 4 && !head[4])
			send_frame(fileno(in), "\4\1\0\0\0\0", "", 0);
		if (head[3] != 1)
			continue;
		send_frame(fileno(in), "\5\4\0\0\0\1", promise, sizeof(promise));
		send_frame(fileno(in), "\1\5\0\0\0\1", "\x88", 1);
	}
	fclose(in);
	return NULL;
}

static void *serve(void *of)
{
	struct server *server = of;
	pthread_t thread;
	int fd;

	while ((fd = accept(server->fd, NULL, NULL)) >= 0)
		if (!pthread_create(&thread, NULL, server->serve_one, fdopen(fd, "r")))
			pthread_detach(thread);
	return NULL;
}

static void start_server(struct server *server)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	pthread_t thread;

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server->fd, (struct sockaddr *)&name, size) < 0 || listen(server->fd, 10) < 0 ||
	    getsockname(server->fd, (struct sockaddr *)&name, &size) < 0 ||
	    pthread_create(&thread, NULL, serve, server))
		_exit(1);
	server->port = ntohs(name.sin_port);
}

static struct server http = { serve_http, -1, 0 };

static void start_http(void)
{
	start_server(&http);
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

	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/", scheme, http.port);
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

	pthread_once(&once, start_http);
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

	start_http();
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

	start_http();
	curl = handle("http", &sum);
	curl_easy_perform(curl);
	curl_easy_setopt(curl, CURLOPT_GSSAPI_DELEGATION, (long)CURLGSSAPI_DELEGATION_FLAG);
	curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &made);
	return made == 1 ? "new" : made == 0 ? "old" : "";
}

/* Is a connection used again that was made for another account? */
static const char *account(void)
{
	struct server ftp = { serve_ftp, -1, 0 };
	unsigned long sum = 0;
	long made = -1;
	char url[64];
	CURL *curl = handle("ftp", &sum);

	start_server(&ftp);
	snprintf(url, sizeof(url), "ftp://127.0.0.1:%d/file", ftp.port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	if (curl_easy_perform(curl) != CURLE_OK)
		return "";
	curl_easy_setopt(curl, CURLOPT_FTP_ACCOUNT, "another");
	curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &made);
	return made == 1 ? "new" : made == 0 ? "old" : "";
}

static int take_push(CURL *parent, CURL *pushed, size_t headers, struct curl_pushheaders *names,
		     void *data)
{
	(void)parent, (void)pushed, (void)headers, (void)names, (void)data;
	return CURL_PUSH_DENY;
}

static CURLcode fetch_with_pushes(int port)
{
	CURLM *multi = curl_multi_init();
	unsigned long sum = 0;
	CURL *curl = handle("http", &sum);
	CURLcode result = CURLE_GOT_NOTHING;
	int running = 1, left;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	curl_multi_setopt(multi, CURLMOPT_PUSHFUNCTION, take_push);
	curl_multi_add_handle(multi, curl);
	while (!curl_multi_perform(multi, &running) && running)
		curl_multi_poll(multi, NULL, 0, 1000, NULL);
	for (CURLMsg *said; (said = curl_multi_info_read(multi, &left));)
		result = said->data.result;
	curl_multi_remove_handle(multi, curl);
	curl_easy_cleanup(curl);
	curl_multi_cleanup(multi);
	return result;
}

/* More headers in a promise than are taken: are those freed that were? */
static const char *many_headers(void)
{
	struct server server = { serve_pushes, -1, 0 };
	size_t before;

	start_server(&server);
	if (fetch_with_pushes(server.port) != CURLE_OK)
		return "";
	before = mallinfo2().uordblks;
	for (int i = 0; i < 10; i++)
		fetch_with_pushes(server.port);
	return mallinfo2().uordblks - before < 300000 ? "new" : "old";
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
	/* It has cookies, none of them from a file. */
	curl_easy_setopt(curl, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=.example.com; path=/");
	curl_easy_getinfo(curl_easy_duphandle(curl), CURLINFO_COOKIELIST, &cookies);
	for (; cookies; cookies = cookies->next)
		if (strstr(cookies->data, "injected"))
			return "old";
	return "new";
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
	if (!strcmp(fix, "CVE-2023-27535.patch"))
		return account();
	if (!strcmp(fix, "CVE-2023-27536.patch"))
		return delegation();
	if (!strcmp(fix, "CVE-2023-38546.patch"))
		return cookies_of_none();
	if (!strcmp(fix, "CVE-2023-46219.patch"))
		return long_jar();
	if (!strcmp(fix, "CVE-2024-2398.patch"))
		return many_headers();
	return "";
}
