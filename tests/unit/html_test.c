// SPDX-License-Identifier: GPL-3.0-or-later
// html_test.c - what strangers have named stays text on a page

#include "command/html.h"
#include "tap.h"

static void test_text(void)
{
	auto_buf struct buf out = { 0 };

	html_add_text(&out, "<a href='x'>&\"");
	ok_str(buf_str(&out), "&#60;a href=&#39;x&#39;&#62;&#38;&#34;",
	       "signs of markup are written out");
	buf_release(&out);
	html_add_text(&out, "\x01\xff z\xc3\xa4 \xef\xbf\xbf\n");
	ok_str(buf_str(&out), "\xef\xbf\xbd\xef\xbf\xbd z\xc3\xa4 \xef\xbf\xbd\n",
	       "what XML has no place for is replaced");
}

static void test_page(void)
{
	const struct html_page page = {
		.title = "<t>",
		.style = { "a{}", 3 },
		.body = "<p>body</p>",
		.body_len = 11,
		.data = "{\"name\":\"</script><script>x()</script>\"}",
		.script = { "1+1;", 4 },
	};
	auto_buf struct buf out = { 0 };
	size_t scripts = 0;

	html_add_page(&out, &page);
	for (const char *at = buf_str(&out); (at = strstr(at, "<script")); at++)
		scripts++;
	ok(scripts == 2, "there are two scripts, of which one is data");
	ok(strstr(buf_str(&out), "<title>&#60;t&#62;</title>"), "the title is text");
	ok(strstr(buf_str(&out), "{\"name\":\"\\u003c/script>\\u003cscript>x()"),
	   "a '<' in the data is written out");
	/* echo -n '1+1;' | openssl dgst -sha256 -binary | base64 */
	ok(strstr(buf_str(&out),
		  "script-src 'sha256-30P77814ZGU8Y3JVqxi7P+hvv8iH090V8z1hrWfUcJ8='"),
	   "only this script may run");
	ok(strstr(buf_str(&out), "default-src 'none'"), "nothing is loaded");
}

static void test_page_without_script(void)
{
	auto_buf struct buf out = { 0 };

	html_add_page(&out, &(struct html_page){ .title = "t", .body = "", .style = { "a{}", 3 } });
	ok(strstr(buf_str(&out), "script-src 'none'") && !strstr(buf_str(&out), "<script"),
	   "without a script none may run");
}

int main(void)
{
	test_text();
	test_page();
	test_page_without_script();
	return tap_done();
}
