// SPDX-License-Identifier: GPL-3.0-or-later
// text_test.c - UTF-8, what a terminal may be shown, JSON that is valid whatever it holds, LEB128

#include "base/json.h"
#include "base/text.h"
#include "tap.h"

static void shows(const char *text, size_t len, bool keep_lines, const char *want)
{
	auto_buf struct buf once = { 0 };
	auto_buf struct buf twice = { 0 };

	text_add_printable(&once, text, len, keep_lines);
	ok_str(buf_str(&once), want, want);
	text_add_printable(&twice, buf_str(&once), once.len, keep_lines);
	ok_str(buf_str(&twice), want, "and the same again when it is repeated");
}

static void test_printable(void)
{
	shows("plain", 5, false, "plain");
	shows("a\nb\tc", 5, false, "a\\nb\\tc");
	shows("a\nb\tc", 5, true, "a\nb\tc");
	shows("\x1b[2Jx\r\b\x7f", 8, true, "\\x1b[2Jx\\x0d\\x08\\x7f");
	shows("gr\xc3\xbc\xc3\x9f", 6, false, "gr\xc3\xbc\xc3\x9f");
	shows("\xc2\x9b"
	      "2J",
	      4, false, "\\u009b2J");
	shows("\xe2\x80\xae"
	      "abc",
	      6, false, "\\u202eabc");
	shows("\xff\xc3", 2, false, "\\xff\\xc3");
	shows("a\0b", 3, false, "a\\x00b");
}

static void test_decode(void)
{
	uint32_t c = 0;

	ok(text_decode("\xf0\x9f\x98\x80", 4, &c) == 4 && c == 0x1f600, "four bytes");
	ok(text_decode("\xf0\x9f\x98\x80", 3, &c) == 0, "cut short");
	ok(text_decode("\xc0\x80", 2, &c) == 0, "an overlong NUL");
	ok(text_decode("\xed\xa0\x80", 3, &c) == 0, "a surrogate");
	ok(text_decode("\xf4\x90\x80\x80", 4, &c) == 0, "above U+10FFFF");
	ok(text_decode("\xf8\x88\x80\x80\x80", 5, &c) == 0, "five bytes");
	ok(text_decode("\x80", 1, &c) == 0, "a byte that continues nothing");
	ok(text_is_utf8("gr\xc3\xbc\xc3\x9f", 7 - 1) && !text_is_utf8("a\0b", 3),
	   "a NUL isn't text");
	ok(text_width("gr\xc3\xbc\xc3\x9f") == 4, "width counts characters");
}

/* The examples of DWARF 5, tables 7.7 and 7.8, and the ends of what a number can be. */
static void test_leb(void)
{
	static const int64_t is_signed[] = { 2, -2, 127, -127, 128, -128, 129, -129, 0, INT64_MIN };
	static const uint64_t is_unsigned[] = { 2, 127, 128, 129, 12857, 0, UINT64_MAX };
	auto_buf struct buf signed_bytes = { 0 }, unsigned_bytes = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(is_signed); i++)
		buf_add_sleb(&signed_bytes, is_signed[i]);
	for (size_t i = 0; i < ARRAY_SIZE(is_unsigned); i++)
		buf_add_uleb(&unsigned_bytes, is_unsigned[i]);
	ok(signed_bytes.len == 25 &&
		   !memcmp(signed_bytes.data,
			   "\x02\x7e\xff\x00\x81\x7f\x80\x01\x80\x7f\x81\x01\xff\x7e\x00"
			   "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f",
			   25),
	   "signed numbers");
	ok(unsigned_bytes.len == 19 && !memcmp(unsigned_bytes.data,
					       "\x02\x7f\x80\x01\x81\x01\xb9\x64\x00"
					       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
					       19),
	   "unsigned numbers");
}

static void test_json(void)
{
	auto_json struct json json = { 0 };
	auto_json struct json pretty = { .pretty = true };

	json_open(&json, NULL, '{');
	json_string(&json, "name", "a\"b\\\n\x01\xff");
	json_open(&json, "list", '[');
	json_number(&json, NULL, -3);
	json_address(&json, NULL, 0xffffffffff600000);
	json_open(&json, NULL, '{');
	json_close(&json, '}');
	json_close(&json, ']');
	json_string(&json, "none", NULL);
	json_bytes(&json, "part", "abcdef", 3);
	json_close(&json, '}');
	ok_str(json_text(&json),
	       "{\"name\":\"a\\\"b\\\\\\n\\u0001\xef\xbf\xbd\",\"list\":[-3,\"0xffffffffff600000\","
	       "{}],"
	       "\"none\":null,\"part\":\"abc\"}",
	       "compact JSON");

	json_open(&pretty, NULL, '[');
	json_open(&pretty, NULL, '{');
	json_string(&pretty, "a", "b");
	json_number(&pretty, "c", 1);
	json_close(&pretty, '}');
	json_open(&pretty, NULL, '[');
	json_close(&pretty, ']');
	json_close(&pretty, ']');
	ok_str(json_text(&pretty), "[\n  {\n    \"a\": \"b\",\n    \"c\": 1\n  },\n  []\n]",
	       "pretty JSON");
}

static void test_words(void)
{
	static const char *const words[] = { "if", "else" };
	auto_free char *text = text_format("%s-%d", "a", 7);

	ok(text_starts_with("prefix.1", "prefix") && !text_starts_with("pre", "prefix"),
	   "how a text begins");
	ok(TEXT_IS_ONE_OF("else", words) && !TEXT_IS_ONE_OF("elsewhere", words),
	   "a word of a list");
	ok(TEXT_STARTS_WITH_ONE_OF("elsewhere", words) && !TEXT_STARTS_WITH_ONE_OF("el", words),
	   "a text that begins with one");
	ok(text_in_word('_') && text_in_word('9') && !text_in_word('-') && !text_in_word('\0'),
	   "characters of words");
	ok_str(text_next_line("one\ntwo\n"), "two\n", "the next line");
	ok_str(text_next_line("one"), "", "behind the last line");
	ok_str(text, "a-7", "a text that is put together");
}

int main(void)
{
	test_printable();
	test_words();
	test_decode();
	test_leb();
	test_json();
	return tap_done();
}
