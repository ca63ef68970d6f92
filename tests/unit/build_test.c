// SPDX-License-Identifier: GPL-3.0-or-later
// build_test.c - what uspl-create reads: the wrapper's record, archives, diffs, series

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strmap.h"
#include "base/strvec.h"
#include "create/build/arfile.h"
#include "create/build/record.h"
#include "create/patch/describe.h"
#include "create/patch/diff_read.h"
#include "create/patch/mail.h"
#include "create/patch/series.h"
#include "create/tree/tree.h"
#include "create/wrapper/record_write.h"
#include "tests/unit/tap.h"

static char work[] = "/tmp/uspl-build-test.XXXXXX";

static const char *put(const char *name, const void *data, size_t len)
{
	static char path[128];
	struct uspl_err err = { 0 };

	snprintf(path, sizeof(path), "%s/%s", work, name);
	if (file_write(path, data, len, &err))
		printf("# %s\n", err.msg);
	return path;
}

/* ---- record ---- */

static int read_record(const char *text, record_list *records, struct uspl_err *err)
{
	put("record-pre", text, strlen(text));
	return record_read(work, "pre", records, err);
}

static void test_record(void)
{
	auto_record record_list records = { 0 };
	struct uspl_err err = { 0 };
	int rc = read_record("compile\t/t/a%09b.o\t/t/a.c\t/t\t/w/1.o\t\tcc -O2\n"
			     "partial\t/t/r.o\t/w/2.o\t\t/t/a.o\n"
			     "link\t/t/p%25\t\t -lm\t/t/r.o\t(/t/l.a)x.o\n",
			     &records, &err);

	ok(rc == 0 && records.n == 3, "three lines");
	if (records.n != 3)
		return;
	ok_str(records.items[0]->output, "/t/a\tb.o", "an escaped tab");
	ok_str(records.items[0]->cwd, "/t", "the folder");
	ok_str(records.items[0]->command, "cc -O2", "the compiler and its options");
	ok(!records.items[0]->deps && records.items[0]->saved, "no list of dependencies");
	ok(records.items[1]->kind == RECORD_PARTIAL && records.items[1]->inputs.n == 1, "ld -r");
	ok_str(records.items[1]->saved, "/w/2.o", "its copy");
	ok_str(records.items[2]->output, "/t/p%", "an escaped percent sign");
	ok(records.items[2]->inputs.n == 2 && !records.items[2]->saved,
	   "a link has inputs and no copy");
}

/* What can't have come from the wrapper. */
static const char *const bad_records[] = {
	"compile\t/t/a.o\n",
	"compile\t/t/a.o\t/t/a.c\t/t\t/w/1.o\t\tcc\textra\n",
	"compile\t/t/a.o\t/t/a.c\t/t\t/w/1.o\t\t\n",
	"compile\t\t/t/a.c\t/t\t/w/1.o\t\tcc\n",
	"compile\t/t/a.o\t/t/a.c\t/t\t\t\tcc\n",
	"link\n",
	"link\t/t/a\n",
	"link\t/t/a\t\n",
	"link\t/t/%0\t\t\n",
	"link\t/t/%zz\t\t\n",
	"link\t/t/%00\t\t\n",
	"unknown\t/t/a\n",
	"\n",
	"link\t/t/cut\t",
};

static void test_bad_records(void)
{
	struct uspl_err err = { 0 };
	record_list records = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad_records); i++)
		ok(read_record(bad_records[i], &records, &err) == -USPL_E_FILE, "refused: line %zu",
		   i);
	put("record-pre", "link\t/t/a\0b\t\t\n", 14);
	ok(record_read(work, "pre", &records, &err) == -USPL_E_FILE, "refused: a NUL");
	record_release(&records);
	ok(record_read(work, "post", &records, &err) == 0 && !records.n,
	   "no record is an empty one");
}

static void test_round_trip(void)
{
	auto_record record_list records = { 0 };
	auto_buf struct buf line = { 0 };
	struct uspl_err err = { 0 };

	record_field(&line, "link");
	record_field(&line, "/t/\n%\t\x7f\xc3\xa9 p");
	record_field(&line, "/w/1");
	record_field(&line, " -lm");
	ok(record_write(work, "trip", &line, &err) == 0, "the wrapper writes");
	ok(record_read(work, "trip", &records, &err) == 0 && records.n == 1, "we read");
	ok_str(records.n ? records.items[0]->output : NULL, "/t/\n%\t\x7f\xc3\xa9 p", "the same");
}

static void test_depends(void)
{
	const char list[] = "x.o: x.c \\\n ./sub/../a\\ b.h \\\nc$$d.h\n";
	auto_free char *header = strdup(put("a b.h", "", 0));
	auto_free char *deps = strdup(put("x.d", list, strlen(list)));
	char c_file[] = "/t/x.c", other[] = "/t/b.h";
	struct record record = { .deps = deps, .source = c_file, .cwd = work };
	char *names[] = { header }, *others[] = { other }, *source[] = { c_file };
	strvec files = { names, 1, 1 };
	struct uspl_err err = { 0 };
	char sub[128];
	bool depends = false;

	snprintf(sub, sizeof(sub), "%s/sub", work);
	ok(mkdir(sub, 0777) == 0, "a folder");
	ok(record_depends(&record, &files, &depends, &err) == 0 && depends, "a name with a blank");
	files.items = others;
	ok(record_depends(&record, &files, &depends, &err) == 0 && !depends,
	   "a file that isn't included");
	files.items = source;
	ok(record_depends(&record, &files, &depends, &err) == 0 && depends, "the source itself");
}

/* ---- archives ---- */

static void add_member(struct buf *ar, const char *name, const char *data, size_t len)
{
	buf_addf(ar, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", len);
	buf_add(ar, data, len);
	if (len & 1)
		buf_addstr(ar, "\n");
}

static void test_archive(void)
{
	auto_buf struct buf ar = { 0 };
	auto_arfile struct arfile *archive = NULL;
	struct uspl_err err = { 0 };
	const char *path;

	buf_addstr(&ar, "!<arch>\n");
	add_member(&ar, "/", "symbols", 7);
	add_member(&ar, "//", "a_very_long_name.o/\nanother_long_one.o/\n", 40);
	add_member(&ar, "short.o/", "abc", 3);
	add_member(&ar, "/20", "defg", 4);
	add_member(&ar, "#1/5", "bsd.oxyz", 8);
	path = put("l.a", ar.data, ar.len);
	ok(arfile_read(path, &archive, &err) == 0 && archive->members.n == 3, "three members");
	if (!archive || archive->members.n != 3)
		return;
	ok_str(archive->members.items[0].name, "short.o", "a short name");
	ok(archive->members.items[0].len == 3 && !memcmp(archive->members.items[0].data, "abc", 3),
	   "its bytes");
	ok_str(archive->members.items[1].name, "another_long_one.o", "a long name");
	ok_str(archive->members.items[2].name, "bsd.o", "a BSD name");
	ok(archive->members.items[2].len == 3, "is not part of the bytes");
}

static void test_bad_archives(void)
{
	struct uspl_err err = { 0 };
	struct arfile *archive = NULL;
	struct buf ar = { 0 };

	buf_addstr(&ar, "!<arch>\n");
	add_member(&ar, "/999", "abc", 3);
	ok(arfile_read(put("l.a", ar.data, ar.len), &archive, &err) == -USPL_E_FILE,
	   "a name outside of the names");
	ar.len = 8;
	add_member(&ar, "#1/99", "abc", 3);
	ok(arfile_read(put("l.a", ar.data, ar.len), &archive, &err) == -USPL_E_FILE,
	   "a name longer than its member");
	ar.len = 8;
	add_member(&ar, "a.o/", "abcdef", 6);
	ok(arfile_read(put("l.a", ar.data, ar.len - 1), &archive, &err) == -USPL_E_FILE,
	   "cut short");
	ok(arfile_read(put("l.a", "!<thin>\n", 8), &archive, &err) == -USPL_E_FILE, "a thin one");
	buf_release(&ar);
}

/* ---- diffs ---- */

#define HUNK "@@ -1 +1 @@\n-a\n+b\n"

/* clang-format off */
static const struct { const char *text; int rc; const char *what; } diffs[] = {
	{ "words\n--- a/x.c\n+++ b/x.c\n" HUNK, 0, "a diff" },
	{ "--- /dev/null\n+++ b/x.c\n" HUNK, 0, "a new file" },
	{ "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n--- ../x\n+++ ../y\n c\n", 0,
	  "lines of a hunk that look like names" },
	{ "diff --git a/x.c b/y.c\nsimilarity index 100%\nrename from x.c\nrename to y.c\n", 0,
	  "a rename" },
	{ "--- a/x..c\n+++ b/..x/y...c\n" HUNK, 0, "dots in names" },
	{ "--- a/../x.c\n+++ b/x.c\n" HUNK, -USPL_E_HOSTILE, "'..'" },
	{ "--- a/x.c\n+++ b/sub/..\n" HUNK, -USPL_E_HOSTILE, "'..' at the end" },
	{ "--- a/x.c\n+++ /etc/passwd\n" HUNK, -USPL_E_HOSTILE, "an absolute name" },
	{ "--- \"a/\\056\\056/x.c\"\n+++ b/x.c\n" HUNK, -USPL_E_HOSTILE, "'..' in disguise" },
	{ "diff --git a/x b/../../y\nrename from x\nrename to ../y\n", -USPL_E_HOSTILE,
	  "a rename out of the tree" },
	{ "Index: ../x.c\n--- x.c\n+++ x.c\n" HUNK, -USPL_E_HOSTILE, "an index line" },
	{ "diff --git a/x.c b/x.c\nold mode 100644\nnew mode 100755\n", 0, "another mode" },
	{ "diff --git a/x.h b/x.h\nnew file mode 100644\nindex 0..e\n", 0, "an empty new file" },
	{ "--- a/x.c\r\n+++ b/x.c\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", 0, "DOS line ends" },
	{ "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ\n",
	  -USPL_E_UNSUPPORTED, "a binary file, as git writes it" },
	{ "--- a/x.c\n+++ b/x.c\n" HUNK "Binary files a/y and b/y differ\n", -USPL_E_UNSUPPORTED,
	  "a binary file, as diff writes it" },
	{ "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+Binary files a/y and b/y differ\n", 0,
	  "words on binary files in a hunk" },
	{ "", -USPL_E_FILE, "nothing" },
	{ "some words\n", -USPL_E_FILE, "no diff" },
	{ "--- a/x.c\n+++ b/x.c\n1d\n", -USPL_E_FILE, "an ed script" },
};
/* clang-format on */

static void test_diffs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(diffs); i++) {
		auto_buf struct buf text = { 0 };
		struct uspl_err err = { 0 };

		int rc = diff_read(put("d", diffs[i].text, strlen(diffs[i].text)), &text, &err);

		if (!rc)
			rc = diff_check("d", buf_str(&text), &err);
		ok(rc == diffs[i].rc, "%s", diffs[i].what);
	}
}

/* The files that a text of diffs names, also those that its hunks only seem to name. */
static void test_names(void)
{
	struct strmap names = { 0 };
	struct uspl_err err = { 0 };

	ok(diff_names("--- a/x.c\t2026\n+++ b/y.c\n" HUNK
		      "diff --git a/m n.h b/m n.h\n--- a/m n.h\t\n+++ /dev/null\n"
		      "@@ -1,2 +0,0 @@\n-a\n--- a/hidden.c\n",
		      &names, &err) == 0,
	   "names are read");
	ok(strmap_get(&names, "a/x.c") && strmap_get(&names, "b/y.c"), "those before a hunk");
	ok(strmap_get(&names, "a/m n.h") && strmap_get(&names, "/dev/null"), "with blanks");
	ok(!strmap_get(&names, "a/hidden.c"), "not those in a hunk");
	strmap_release(&names);
}

/* ---- series ---- */

/* clang-format off */
static const struct { const char *text, *names; int rc; const char *what; } series[] = {
	{ "a.patch\nb.diff -p0\n", "a.patch,b.diff -p0,", 0, "patches, with an option" },
	{ "# a\n\n \t\n  a.patch  # b\r\nsub/b\n", "a.patch,sub/b,", 0, "comments and blanks" },
	{ "a.patch -p1 # b\nlast", "a.patch -p1,last,", 0, "no line end" },
	{ "done.patch\na.patch\n", "a.patch,", 0, "what quilt has applied" },
	{ "done.patch\n", "", -USPL_E_FILE, "nothing but that" },
	{ "a.patch -R\n", "", -USPL_E_FILE, "another option" },
	{ "a.patch -p1 -R\n", "", -USPL_E_FILE, "two options" },
	{ "", "", -USPL_E_FILE, "an empty one" },
	{ "#\n", "", -USPL_E_FILE, "comments only" },
};
/* clang-format on */

static void test_series(void)
{
	struct uspl_err err = { 0 };
	char quilt[64];

	snprintf(quilt, sizeof(quilt), "%s/.pc", work);
	ok(mkdir(quilt, 0777) == 0, "a folder");
	put(".pc/applied-patches", "done.patch\n", 11);
	for (size_t i = 0; i < ARRAY_SIZE(series); i++) {
		const char *path = put("series", series[i].text, strlen(series[i].text));
		auto_series series_patches patches = { 0 };
		auto_buf struct buf names = { 0 };
		struct series_patch *patch;

		ok(series_read(path, work, &patches, &err) == series[i].rc, "%s", series[i].what);
		vec_for_each (&patches, patch)
			buf_addf(&names, "%s%s%s,", patch->path + strlen(work) + 1,
				 patch->option ? " " : "", patch->option ? patch->option : "");
		ok_str(buf_str(&names), series[i].names, "its patches");
	}
	ok(series_read(put("series", "a\0b\n", 4), work, &(series_patches){ 0 }, &err) ==
		   -USPL_E_FILE,
	   "a NUL");
}

/* clang-format off */
static const struct { const char *text, *want; } descriptions[] = {
	{ "fix a leak\n\nmore\n--- a/x\n", "fix a leak" },
	{ "From 12\nSubject: [PATCH 1/2] fix a leak\n\n---\n", "fix a leak" },
	{ "Subject: Re: [stable] [PATCH v2 02/10] fix a leak\n\n---\n", "fix a leak" },
	{ "subject: [RFC PATCH] a [b] c\r\n\r\n", "a [b] c" },
	{ "Subject: [not closed\n", "[not closed" },
	{ "Author: A\nDescription: fix it\n--- a/x\n", "fix it" },
	{ "\n  \n--- a/x\nwords\n", "" },
	{ "diff --git a/x b/x\n", "" },
	{ "a\x1b[31m b\n--- a/x", "a [31m b" },
	{ "", "" },
};
/* clang-format on */

static void test_descriptions(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++) {
		auto_free char *have = describe_patch(descriptions[i].text);

		ok_str(have, descriptions[i].want, "a description");
	}
}

/* clang-format off */
static const struct { const char *text, *want; } mails[] = {
	{ "no mail\n--- a/x\n", "no mail\n--- a/x\n" },
	{ "A: b\nis no header\n", "A: b\nis no header\n" },
	{ "Author: A\nDescription: fix\n\n--- a/x\n", "Author: A\nDescription: fix\n\n--- a/x\n" },
	{ "Subject: a\n b\n\nbody\n", "Subject: a\n b\n\nbody\n" },
	{ "From: me\nReceived: by\n\tall\nX-A: b\nSubject: =?utf-8?q?a?=\n\tb\nMIME-Version: 1.0\n\nbody\n",
	  "From: me\nSubject: a b\n\nbody\n" },
	{ "Subject: =?UTF-8?Q?gr=C3=BC=C3=9Fe_an?=\n =?utf-8?b?IGFsbGU=?= x\n\n", "Subject: grüße an alle x\n\n" },
	{ "Subject: =?iso-8859-1?q?gr=FC=DFe?=\n\n", "Subject: grüße\n\n" },
	{ "Subject: =?nosuch?q?a?= =?broken\n\n", "Subject: a =?broken\n\n" },
	{ "Subject: a\nContent-Transfer-Encoding: quoted-printable\n\na=3D=\nb=\r\nc =zz=\n", "Subject: a\n\na=bc =zz" },
	{ "Subject: a\nContent-Transfer-Encoding: base64\n\nYQpi\nCg==\n", "Subject: a\n\na\nb\n" },
	{ "From 12 Mon Sep 17 00:00:00 2001\nSubject: a\n\none\nFrom me\n\n"
	  "From 13 Mon Sep 17 00:00:00 2001\nSubject: =?utf-8?q?b?=\n\ntwo\n",
	  "From 12 Mon Sep 17 00:00:00 2001\nSubject: a\n\none\nFrom me\n\nSubject: b\n\ntwo\n" },
	{ "Subject: a\nContent-Type: multipart/mixed; boundary=\"x\"\n\npreamble\n--x\n\none\n--x\n"
	  "Content-Type: text/x-patch\nContent-Transfer-Encoding: base64\n\ndHdvCg==\n--x\n"
	  "Content-Type: image/png\n\nthree\n--x--\n", "Subject: a\n\none\ntwo\n" },
	{ "Subject: a\nContent-Type: multipart/mixed; boundary=\n\n--\n", "Subject: a\n\n" },
	{ "Subject:", "Subject:" },
	{ "Subject: =?", "Subject: =?\n\n" },
};
/* clang-format on */

static void test_mails(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mails); i++) {
		struct uspl_err err = { 0 };
		auto_buf struct buf have = { 0 };

		ok(mail_decode(mails[i].text, strlen(mails[i].text), &have, &err) == 0, "a text");
		ok_str(buf_str(&have), mails[i].want, "what it carries");
	}
}

int main(void)
{
	struct uspl_err err = { 0 };

	if (!mkdtemp(work))
		return 1;
	test_record();
	test_bad_records();
	test_round_trip();
	test_depends();
	test_archive();
	test_bad_archives();
	test_diffs();
	test_names();
	test_series();
	test_descriptions();
	test_mails();
	ok(file_remove_tree(work, &err) == 0, "tidied up");
	return tap_done();
}
