// SPDX-License-Identifier: GPL-3.0-or-later
// update_test.c - updates come back as they were written, and nothing hostile gets through

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tap.h"
#include "update/gzip.h"
#include "update/manifest.h"
#include "update/stated.h"
#include "update/tarball.h"
#include "update_sample.h"

static char folder[] = "/tmp/uspl-update-test.XXXXXX";

/* The bytes of the sample's tarball. */
static void sample_bytes(struct buf *buf)
{
	auto_update struct update *update = sample_update();
	auto_free char *path = file_join(folder, "sample.tar.gz");
	struct uspl_err err = { 0 };

	if (update_write(update, path, &err) || file_read(path, buf, &err))
		printf("# %s\n", err.msg);
}

/* Reads bytes as an update; the code of the failure, 0 if there was none. */
static int read_bytes(const struct buf *buf, struct uspl_err *err)
{
	auto_update struct update *update = NULL;

	*err = (struct uspl_err){ 0 };
	return -update_read_memory(buf->data, buf->len, &update, err);
}

static void check_equal(const struct update *a, const struct update *b, const char *what)
{
	const struct update_target *x = a->targets.items, *y = b->targets.items;

	ok(!strcmp(a->id, b->id) && !strcmp(a->description, b->description) &&
		   !strcmp(a->tool, b->tool) && !strcmp(a->created, b->created),
	   "%s: the update's strings", what);
	ok(a->patch_len == b->patch_len && !memcmp(a->patch, b->patch, a->patch_len),
	   "%s: the patch", what);
	ok(a->targets.n == b->targets.n && !strcmp(x->name, y->name) && !strcmp(x->path, y->path) &&
		   !strcmp(x->compiler, y->compiler) && !x->soname == !y->soname,
	   "%s: the target", what);
	ok(x->build_ids.n == y->build_ids.n &&
		   !strcmp(x->build_ids.items[0], y->build_ids.items[0]),
	   "%s: its build-ids", what);
	ok(x->matched.n == y->matched.n && x->matched.items[0].places.n == 1 &&
		   !strcmp(x->matched.items[0].file, y->matched.items[0].file) &&
		   !strcmp(x->matched.items[0].build_id, y->matched.items[0].build_id) &&
		   !strcmp(x->matched.items[0].places.items[0].symbol,
			   y->matched.items[0].places.items[0].symbol) &&
		   y->matched.items[0].places.items[0].addr == 0x1234,
	   "%s: what was matched ahead", what);
	ok(x->functions.n == y->functions.n &&
		   !strcmp(x->functions.items[0].symbol, y->functions.items[0].symbol) &&
		   !strcmp(x->functions.items[0].reason, y->functions.items[0].reason),
	   "%s: its functions", what);
	ok(y->new_code && y->pre_code && y->new_code->secs.n == x->new_code->secs.n &&
		   !memcmp(x->new_code->secs.items[0]->data, y->new_code->secs.items[0]->data,
			   x->new_code->secs.items[0]->size) &&
		   y->new_code->secs.items[0]->rels.n == 1,
	   "%s: its code", what);
}

static void test_round_trip(void)
{
	auto_free char *path = file_join(folder, "trip.tar.gz");
	auto_free char *unpacked = file_join(folder, "uspl-k3x9");
	auto_update struct update *update = sample_update();
	auto_update struct update *back = NULL, *from_folder = NULL;
	auto_buf struct buf once = { 0 }, twice = { 0 }, command = { 0 };
	struct uspl_err err = { 0 };

	ok(!update_write(update, path, &err) && !update_read(path, &back, &err),
	   "write and read: %s", err.msg);
	if (!back)
		return;
	check_equal(update, back, "tarball");
	ok(!file_read(path, &once, &err) && !update_write(back, path, &err) &&
		   !file_read(path, &twice, &err) && once.len == twice.len &&
		   !memcmp(once.data, twice.data, once.len),
	   "written again it has the same bytes");
	buf_addf(&command, "tar xzf '%s' -C '%s'", path, folder);
	ok(!system(buf_str(&command)) && !update_read(unpacked, &from_folder, &err),
	   "an unpacked one: %s", err.msg);
	if (from_folder)
		check_equal(update, from_folder, "folder");
}

static void test_folder(void)
{
	auto_free char *unpacked = file_join(folder, "uspl-k3x9");
	auto_free char *patch = file_join(unpacked, "patch"), *fifo = file_join(unpacked, "fifo");
	auto_update struct update *update = NULL;
	struct uspl_err err = { 0 };

	ok(!mkfifo(fifo, 0600) && update_read(unpacked, &update, &err) == -USPL_E_HOSTILE,
	   "a FIFO in a folder: %s", err.msg);
	unlink(fifo);
	unlink(patch);
	ok(update_read(unpacked, &update, &err) == -USPL_E_FILE, "a missing part: %s", err.msg);
	ok(!symlink("/etc/hostname", patch) &&
		   update_read(unpacked, &update, &err) == -USPL_E_HOSTILE,
	   "a symbolic link in a folder: %s", err.msg);
	ok(update_read("/dev/zero", &update, &err) == -USPL_E_FILE, "a device: %s", err.msg);
	ok(update_read("/nonexistent/x", &update, &err) == -USPL_E_FILE, "no file: %s", err.msg);
}

static bool unpacks_to(const struct buf *packed, const struct buf *want)
{
	auto_buf struct buf have = { 0 };

	return !gzip_unpack(packed->data, packed->len, PARTS_MAX_BYTES, &have, NULL) &&
	       have.len == want->len && !memcmp(have.data, want->data, have.len);
}

/*
 * A tarball ends with its checksum, so that no cut and no flipped bit behind the gzip header goes
 * unseen.
 */
static void test_damage(void)
{
	auto_buf struct buf good = { 0 }, tar = { 0 };
	struct uspl_err err;
	unsigned int accepted = 0, other_code = 0;

	sample_bytes(&good);
	ok(read_bytes(&good, &err) == 0 &&
		   !gzip_unpack(good.data, good.len, PARTS_MAX_BYTES, &tar, &err),
	   "the sample is good");
	for (size_t len = 0; len < good.len; len += 97) {
		struct buf cut = { .data = good.data, .len = len };

		other_code += read_bytes(&cut, &err) != USPL_E_FILE;
	}
	ok(!other_code, "cut short at every 97th byte: a bad file");
	good.len--;
	ok(read_bytes(&good, &err) == USPL_E_FILE, "a byte missing: %s", err.msg);
	good.len++;
	for (size_t i = 10; i < good.len; i++) {
		good.data[i] ^= 0x10;
		accepted += !read_bytes(&good, &err) && !unpacks_to(&good, &tar);
		good.data[i] ^= 0x10;
	}
	ok(!accepted,
	   "a flipped bit in every byte behind the gzip header is noticed, or changes nothing");
	buf_add(&good, "x", 1);
	ok(read_bytes(&good, &err) == USPL_E_FILE, "a byte too many: %s", err.msg);
}

static void test_no_archive(void)
{
	static const char text[] =
		"This is a text that is long enough to be taken for something else, but isn't.";
	auto_buf struct buf buf = { 0 };
	auto_free char *path = file_join(folder, "empty");
	auto_update struct update *update = NULL;
	struct uspl_err err = { 0 };

	ok(!file_write(path, "", 0, &err) && update_read(path, &update, &err) == -USPL_E_FILE,
	   "an empty file: %s", err.msg);
	buf_addstr(&buf, text);
	ok(read_bytes(&buf, &err) == USPL_E_FILE, "a text: %s", err.msg);
	buf_addzero(&buf, 100000);
	ok(read_bytes(&buf, &err) == USPL_E_FILE, "text and zeros: %s", err.msg);
	memset(buf.data, 0, buf.len);
	ok(read_bytes(&buf, &err) == USPL_E_FILE, "an archive without entries: %s", err.msg);
}

/* Plain tar archives, entry by entry, as no honest program would write them. */

static void tar_add(struct buf *tar, const char *name, char type, const char *link,
		    unsigned long long size)
{
	char head[512] = "";
	unsigned int sum = 8 * ' ';

	snprintf(head, 100, "%s", name);
	snprintf(head + 100, 8, "%07o", 0644u);
	snprintf(head + 108, 8, "%07o", 0u);
	snprintf(head + 116, 8, "%07o", 0u);
	snprintf(head + 124, 13, "%012llo", size);
	snprintf(head + 136, 12, "%011o", 0u);
	head[156] = type;
	snprintf(head + 157, 100, "%s", link);
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(head); i++)
		sum += i >= 148 && i < 156 ? 0 : (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	buf_add(tar, head, sizeof(head));
}

static void test_hostile_entries(void)
{
	static const struct {
		const char *name, *link;
		char type;
		unsigned long long size;
		enum uspl_code want;
	} entries[] = {
		{ "../uspl-x/patch", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x/../../etc/passwd", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x/..", "", '0', 0, USPL_E_HOSTILE },
		{ "..", "", '5', 0, USPL_E_HOSTILE },
		{ "/etc/passwd", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x//patch", "", '0', 0, USPL_E_HOSTILE },
		{ "./patch", "", '0', 0, USPL_E_HOSTILE },
		{ "patch", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x/\x1b[2Jpatch", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x/pa\ntch", "", '0', 0, USPL_E_HOSTILE },
		{ "uspl-x/patch", "/etc/passwd", '2', 0, USPL_E_HOSTILE },
		{ "uspl-x/patch", "uspl-x/manifest.json", '1', 0, USPL_E_HOSTILE },
		{ "uspl-x/patch", "", '3', 0, USPL_E_HOSTILE },
		{ "uspl-x/patch", "", '6', 0, USPL_E_HOSTILE },
		{ "uspl-x/patch", "", '0', 1 << 20, USPL_E_FILE },
		{ "uspl-x/patch", "", '0', 1ull << 35, USPL_E_HOSTILE },
	};
	struct uspl_err err;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		auto_buf struct buf tar = { 0 };
		int code;

		tar_add(&tar, entries[i].name, entries[i].type, entries[i].link, entries[i].size);
		buf_addzero(&tar, 1024);
		code = read_bytes(&tar, &err);
		ok(code == (int)entries[i].want, "type %c, size %llu: %s", entries[i].type,
		   entries[i].size, err.msg);
	}
}

static void test_many_entries(void)
{
	auto_buf struct buf twice = { 0 }, files = { 0 }, folders = { 0 };
	struct uspl_err err;
	char name[64];

	tar_add(&twice, "uspl-x/patch", '0', "", 0);
	tar_add(&twice, "uspl-x/patch", '0', "", 0);
	buf_addzero(&twice, 1024);
	ok(read_bytes(&twice, &err) == USPL_E_HOSTILE, "an entry twice: %s", err.msg);
	for (unsigned int i = 0; i <= PARTS_MAX_ENTRIES; i++) {
		snprintf(name, sizeof(name), "uspl-x/%u", i);
		tar_add(&files, name, '0', "", 0);
		tar_add(&folders, "uspl-x/", '5', "", 0);
	}
	buf_addzero(&files, 1024);
	buf_addzero(&folders, 1024);
	ok(read_bytes(&files, &err) == USPL_E_HOSTILE, "many files: %s", err.msg);
	ok(read_bytes(&folders, &err) == USPL_E_HOSTILE, "many folders: %s", err.msg);
}

/* Zeros that pack into next to nothing and unpack into more than anybody wants. */
static void test_bomb(void)
{
	size_t used = 0, mib = 1 << 20;
	auto_free char *zeros = calloc(1, mib), *packed = malloc(4 * mib);
	struct archive *writer = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	struct uspl_err err;
	struct buf buf;

	archive_write_add_filter_gzip(writer);
	archive_write_set_filter_option(writer, "gzip", "compression-level", "1");
	archive_write_set_format_ustar(writer);
	archive_write_open_memory(writer, packed, 4 * mib, &used);
	archive_entry_set_pathname(entry, "uspl-x/patch");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_size(entry, 300 * (la_int64_t)mib);
	archive_write_header(writer, entry);
	for (int i = 0; i < 300; i++)
		archive_write_data(writer, zeros, mib);
	archive_write_free(writer);
	archive_entry_free(entry);
	buf = (struct buf){ .data = packed, .len = used };
	ok(used > 0 && read_bytes(&buf, &err) == USPL_E_HOSTILE, "a bomb of %zu bytes: %s", used,
	   err.msg);
}

/* The sample with a part changed, added or removed. A NULL text removes. */
static int read_changed(const char *name, const void *data, size_t len, struct uspl_err *err)
{
	auto_buf struct buf good = { 0 }, bad = { 0 }, copy = { 0 };
	auto_parts struct parts parts = { 0 };
	struct part *part;

	sample_bytes(&good);
	if (tarball_read(good.data, good.len, &parts, err))
		return -1;
	part = parts_find(&parts, name);
	if (part) {
		free(part->name);
		free(part->data);
		*part = parts.items.items[--parts.items.n];
	}
	buf_add(&copy, data, len);
	if ((data && parts_add(&parts, name, &copy, err)) || tarball_write(&parts, 0, &bad, err))
		return -1;
	return read_bytes(&bad, err);
}

static void test_parts(void)
{
	auto_buf struct buf good = { 0 };
	auto_parts struct parts parts = { 0 };
	struct part *code;
	struct uspl_err err = { 0 };

	ok(read_changed("manifest.json", NULL, 0, &err) == USPL_E_FILE, "no manifest: %s", err.msg);
	ok(read_changed("patch", NULL, 0, &err) == USPL_E_FILE, "no patch: %s", err.msg);
	ok(read_changed("patch", "", 0, &err) == 0, "an empty patch is a patch");
	ok(read_changed("targets/0/new.o", NULL, 0, &err) == USPL_E_FILE, "no new code: %s",
	   err.msg);
	ok(read_changed("targets/0/pre.o", "", 0, &err) == USPL_E_FILE, "empty pre code: %s",
	   err.msg);
	ok(read_changed("targets/0/new.o", "text", 4, &err) > 0, "text as new code: %s", err.msg);
	ok(read_changed("targets/1/new.o", "", 0, &err) == USPL_E_FORMAT, "a part too many: %s",
	   err.msg);

	sample_bytes(&good);
	ok(!tarball_read(good.data, good.len, &parts, &err), "the sample's parts");
	code = parts_find(&parts, "targets/0/new.o");
	if (!code)
		return;
	((Elf64_Ehdr *)code->data)->e_machine = EM_AARCH64;
	ok(read_changed("targets/0/new.o", code->data, code->len, &err) == USPL_E_FORMAT,
	   "code of another processor: %s", err.msg);
}

/* The sample's manifest with the first `from` replaced by `to`. */
static int read_manifest_with(const char *from, const char *to, struct uspl_err *err)
{
	auto_update struct update *update = sample_update();
	auto_buf struct buf good = { 0 }, bad = { 0 };
	const char *at;

	if (manifest_write(update, &good, err) || !(at = strstr(good.data, from)))
		return -1;
	buf_add(&bad, good.data, (size_t)(at - good.data));
	buf_addstr(&bad, to);
	buf_addstr(&bad, at + strlen(from));
	return read_changed("manifest.json", bad.data, bad.len, err);
}

/* The key that is newer than format 3. */
#define OF_PACKAGE(from, more)                                                                     \
	"\"upgrade\": {\"source\": \"server\", \"from\": \"" from "\", \"to\": \"1.6-2\"" more "}" \
	","

/* Changes of the manifest, and what reading it comes to then. */
static const struct {
	const char *from, *to;
	enum uspl_code want;
} manifest_changes[] = {
	{ "\"format\": 4", "\"format\": 8", USPL_E_FORMAT },
	{ "\"format\": 4", "\"format\": 7", USPL_OK }, /* nothing in it is newer */
	{ "\"format\": 4,", "\"format\": 7, \"by_thread\": true,", USPL_OK },
	{ "\"format\": 4,", "\"format\": 6, \"by_thread\": true,", USPL_E_FORMAT },
	{ "\"format\": 4,", "\"format\": 7, \"by_thread\": 1,", USPL_E_FILE },
	{ "\"format\": 4", "\"format\": 6", USPL_OK }, /* the same */
	{ "\"format\": 4", "\"format\": 5", USPL_OK }, /* the same */
	{ "\"format\": 4,", "\"format\": 6, \"replaces\": [\"one\", \"two\"],", USPL_OK },
	{ "\"format\": 4,", "\"format\": 5, \"replaces\": [\"one\"],", USPL_E_FORMAT },
	{ "\"format\": 4,", "\"format\": 6, \"replaces\": [\"no id\"],", USPL_E_FILE },
	{ "\"format\": 4,", "\"format\": 6, \"replaces\": [7],", USPL_E_FILE },
	{ "\"format\": 4,", "\"format\": 6, \"replaces\": \"one\",", USPL_E_FILE },
	{ "\"format\": 4", "\"format\": 3", USPL_OK },       /* the same */
	{ "\"format\": 4", "\"format\": 2", USPL_OK },       /* nothing in it is newer */
	{ "\"format\": 4", "\"format\": 1", USPL_E_FORMAT }, /* has no 'matched' */
	{ "\"format\": 4", "\"format\": 0", USPL_E_FORMAT },
	{ "\"format\": 4", "\"format\": 9999999999", USPL_E_FORMAT },
	{ "\"format\": 4", "\"format\": \"1\"", USPL_E_FILE },
	{ "\"format\": 4,", "", USPL_E_FILE },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("1.6-1", ""), USPL_OK },
	{ "\"format\": 4,", "\"format\": 3," OF_PACKAGE("1.6-1", ""), USPL_E_FORMAT },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("-x", ""), USPL_E_FILE },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("1", ", \"x\": \"\""), USPL_E_FORMAT },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("1", ", \"change\": \"a.patch\""),
	  USPL_OK },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("1", ", \"left_out\": \"a, b\""), USPL_OK },
	{ "\"format\": 4,", "\"format\": 4," OF_PACKAGE("1", ", \"change\": \"\""), USPL_E_FILE },
	{ "\"format\": 4,", "\"format\": 4, \"upgrade\": {},", USPL_E_FILE },
	{ "\"0x1234\"", "\"1234\"", USPL_E_FILE },
	{ "\"0x1234\"", "\"0x\"", USPL_E_FILE },
	{ "\"0x1234\"", "\"0x1234 \"", USPL_E_FILE },
	{ "\"0x1234\"", "\"0x12345678123456781\"", USPL_E_FILE },
	{ "\"0x1234\"", "4660", USPL_E_FILE },
	{ "\"places\": {", "\"places\": [], \"x\": {", USPL_E_FORMAT },
	{ "\"file\": \"/usr", "\"path\": \"/usr", USPL_E_FORMAT },
	{ "\"file\": \"/usr/bin/server\"", "\"file\": \"\"", USPL_E_FILE },
	{ "\"x86_64\"", "\"aarch64\"", USPL_E_FORMAT },
	{ "\"id\": \"k3x9\"", "\"id\": \"other\"", USPL_E_FILE },
	{ "\"id\": \"k3x9\"", "\"id\": \"../x\"", USPL_E_FILE },
	{ "\"id\": \"k3x9\"", "\"id\": \"\"", USPL_E_FILE },
	{ "\"id\": \"k3x9\"", "\"id\": 9", USPL_E_FILE },
	{ "\"id\": \"k3x9\"", "\"id\": \"k3x9\", \"force\": true", USPL_E_FORMAT },
	{ "\"reason\"", "\"raison\"", USPL_E_FORMAT },
	{ "2026-01-31T", "2026-13-31T", USPL_E_FILE },
	{ "2026-01-31T", "2026-01-31 ", USPL_E_FILE },
	{ "uspl 0.1.0", "uspl\\u0000 0.1.0", USPL_E_FILE },
	{ "uspl 0.1.0", "uspl \xff", USPL_E_FILE },
	{ "uspl 0.1.0", "uspl \xc0\xbc", USPL_E_FILE },
	{ "\"name\": \"server\"", "\"name\": \"../server\"", USPL_E_FILE },
	{ "\"name\": \"server\"", "\"name\": \"\"", USPL_E_FILE },
	{ "\"name\": \"server\"", "\"name\": null", USPL_E_FILE },
	{ "0123456789abcdef", "0123456789ABCDEF", USPL_E_FILE },
	{ "0123456789abcdef", "012", USPL_E_FILE },
	{ "\"build_ids\": [", "\"build_ids\": [[[[[[[[[[[[[[[[", USPL_E_FILE },
	{ "\"build_ids\": [", "\"build_ids\": 7, \"x\": [", USPL_E_FORMAT },
	{ "\"symbol\": \"parse\"", "\"symbol\": \"parser\"", USPL_E_FILE },
	{ "\"functions\"", "\"answers\": [\"x\"], \"functions\"", USPL_E_FORMAT },
	{ "\"targets\": [", "\"targets\": [7,", USPL_E_FILE },
	{ "{", "[", USPL_E_FILE },
	{ "{", "{} {", USPL_E_FILE },
	{ "fix the", "fix \\u001b[2J the", USPL_OK },
	{ "fix the", "fix \xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9b the", USPL_OK },
	{ "fix the", "fix \\\xc3\xa4 the", USPL_E_FILE },
	{ "fix the", "fix \xed\xa0\x80 the", USPL_E_FILE },
};

static void test_manifest(void)
{
	struct uspl_err err;

	for (size_t i = 0; i < ARRAY_SIZE(manifest_changes); i++) {
		err = (struct uspl_err){ 0 };
		ok(read_manifest_with(manifest_changes[i].from, manifest_changes[i].to, &err) ==
			   (int)manifest_changes[i].want,
		   "change %zu: %s", i, err.msg);
	}
}

/* Reads the sample's manifest with a hook in it, and one thing replaced. */
static int read_hook_with(const char *from, const char *to, struct update **ret,
			  struct uspl_err *err)
{
	auto_update struct update *update = sample_update();
	struct update_target *target = update->targets.items;
	struct update_hook *hook = sample_need(vec_push(&target->hooks));
	char **answer = sample_need(vec_push(&target->answers));
	auto_buf struct buf good = { 0 }, bad = { 0 };
	const char *at;

	*hook = (struct update_hook){ USPL_HOOK_CHECK_UNDO, sample_str("may"),
				      sample_str("src/proto.c:may"), sample_str("src/proto.c") };
	*answer = sample_str("limit");
	if (manifest_write(update, &good, err) || !(at = strstr(good.data, from)))
		return -1;
	buf_add(&bad, good.data, (size_t)(at - good.data));
	buf_addstr(&bad, to);
	buf_addstr(&bad, at + strlen(from));
	return manifest_read(bad.data, bad.len, ret, err);
}

static void test_hooks(void)
{
	static const struct {
		const char *from, *to;
		enum uspl_code want;
	} changes[] = {
		{ "\"check_undo\"", "\"check\"", USPL_E_FILE },
		{ "\"check_undo\"", "\"?\"", USPL_E_FILE },
		{ "\"check_undo\"", "7", USPL_E_FILE },
		{ "\"kind\"", "\"when\"", USPL_E_FORMAT },
		{ "\"format\": 5", "\"format\": 4", USPL_E_FORMAT },
		{ "\"limit\"", "\"\"", USPL_E_FILE },
		{ "\"limit\"", "7", USPL_E_FILE },
	};
	auto_update struct update *back = NULL;
	struct uspl_err err = { 0 };
	int rc = read_hook_with("\"limit\"", "\"bound\"", &back, &err);

	ok(!rc && back->targets.items[0].hooks.n == 1 &&
		   back->targets.items[0].hooks.items[0].kind == USPL_HOOK_CHECK_UNDO &&
		   !strcmp(back->targets.items[0].hooks.items[0].symbol, "src/proto.c:may") &&
		   !strcmp(back->targets.items[0].answers.items[0], "bound"),
	   "hooks and answers are read as they were written: %s", err.msg);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_update struct update *update = NULL;

		rc = read_hook_with(changes[i].from, changes[i].to, &update, &err);
		ok(rc == -(int)changes[i].want, "hooks, change %zu: %s", i, err.msg);
	}
}

/* States of a target, in format 6, and what reading them comes to. */
static void test_states(void)
{
	static const struct {
		const char *format, *states;
		enum uspl_code want;
	} changes[] = {
		{ "6", "{\"name\": \"a_1\", \"number\": 2}", USPL_OK },
		{ "6", "{\"name\": \"a\", \"number\": 2, \"symbol\": \"x\"}", USPL_OK },
		{ "5", "{\"name\": \"a\", \"number\": 2}", USPL_E_FORMAT },
		{ "6", "{\"name\": \"a b\", \"number\": 2}", USPL_E_FILE },
		{ "6", "{\"name\": \"a=2\", \"number\": 2}", USPL_E_FILE },
		{ "6", "{\"name\": \"\", \"number\": 2}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\", \"number\": 0}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\", \"number\": -1}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\", \"number\": 1000000000}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\", \"number\": \"2\"}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\"}", USPL_E_FILE },
		{ "6", "{\"name\": \"a\", \"number\": 2, \"x\": 1}", USPL_E_FORMAT },
		{ "6", "7", USPL_E_FILE },
	};
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_update struct update *update = NULL;
		auto_buf struct buf text = { 0 }, said = { 0 };
		struct uspl_err err = { 0 };
		int rc;

		buf_addf(&text,
			 "{\"format\": %s, \"arch\": \"x86_64\", \"id\": \"a\", \"description\": "
			 "\"\","
			 "\"created\": \"2026-01-31T12:00:00Z\", \"tool\": \"\", \"targets\": [{"
			 "\"name\": \"server\", \"path\": \"server\", \"build_ids\": [], "
			 "\"functions\": [], \"states\": [%s]}]}",
			 changes[i].format, changes[i].states);
		rc = manifest_read(text.data, text.len, &update, &err);
		ok(rc == -(int)changes[i].want, "states, change %zu: %s", i, err.msg);
		if (rc || i)
			continue;
		stated_text(update, &said);
		ok(!strcmp(buf_str(&said), "a_1=2") && stated_number(update, "a_1") == 2 &&
			   !stated_number(update, "a"),
		   "a state as records have it: %s", buf_str(&said));
	}
}

static void test_write(void)
{
	auto_update struct update *update = sample_update();
	auto_update struct update *back = NULL, *spoken = NULL;
	auto_free char *path = file_join(folder, "bad.tar.gz");
	struct update_target *target = update->targets.items;
	struct uspl_err err = { 0 };

	target->functions.items[0].unit[0] = '\xff';
	ok(update_write(update, path, &err) == -USPL_E_UNSUPPORTED && access(path, F_OK),
	   "a name that isn't UTF-8 is refused, and no file is left: %s", err.msg);
	target->functions.items[0].unit[0] = 's';
	update->description[0] = '\xff';
	ok(!update_write(update, path, &err) && !access(path, F_OK),
	   "a description that isn't UTF-8 is made so");
	free(update->description);
	update->description = strdup("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9b \\ \"");
	ok(!update_write(update, path, &err) && !update_read(path, &spoken, &err) &&
		   !strcmp(spoken->description, update->description),
	   "one in other languages comes back as it was: %s", err.msg);
	sample_function(target, "parse", "twice");
	ok(!update_write(update, path, &err) && update_read(path, &back, &err) == -USPL_E_HOSTILE,
	   "a function that is listed twice: %s", err.msg);
	ok(update_id_valid("a-z_0.9") && !update_id_valid("") && update_id_valid("CVE-2025-1") &&
		   !update_id_valid("a/b") && !update_id_valid("\xc3\xa4"),
	   "ids");
}

int main(void)
{
	struct uspl_err err = { 0 };

	if (!mkdtemp(folder))
		tap_skip_all("no folder can be made in /tmp");
	test_round_trip();
	test_folder();
	test_damage();
	test_no_archive();
	test_hostile_entries();
	test_many_entries();
	test_bomb();
	test_parts();
	test_manifest();
	test_hooks();
	test_states();
	test_write();
	ok(!file_remove_tree(folder, &err), "everything is removed");
	return tap_done();
}
