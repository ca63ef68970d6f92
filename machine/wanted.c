// SPDX-License-Identifier: GPL-3.0-or-later
// wanted.c - the updates that this machine is to have

#include "machine/wanted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "update/debug_file.h"

#define LIST "SHA256SUMS"
/* What is being written; one tool at a time holds the folder's lock. */
#define ASIDE ".new"
#define KEEP ".keep"

/* The folder, open; -1: there is none. */
struct store {
	const char *path;
	int fd;
};

static void store_close(struct store *store)
{
	if (store->fd >= 0)
		close(store->fd);
}
DEFINE_AUTO_RELEASE(store, struct store, store_close)
#define auto_store __attribute__((cleanup(cleanup_store_)))

const char *wanted_folder(void)
{
	const char *set = secure_getenv("USPL_STATE");

	return set && *set ? set : WANTED_DIR;
}

int wanted_make_folder(struct uspl_err *err)
{
	if (mkdir(wanted_folder(), 0755) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot create the folder '%s'", wanted_folder());
	return 0;
}

bool wanted_is_list(const char *name)
{
	return !strcmp(name, LIST);
}

static int store_open(struct store *store, struct uspl_err *err)
{
	struct stat st;

	store->path = wanted_folder();
	store->fd = open(store->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (store->fd < 0 && errno == ENOENT)
		return 0;
	if (store->fd < 0)
		return uspl_fail_errno(err, "cannot open the folder '%s'", store->path);
	/* No other user can have written what is in it. */
	if (fstat(store->fd, &st) < 0)
		return uspl_fail_errno(err, "cannot look at '%s'", store->path);
	if ((!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	uspl_fail(err, USPL_E_HOSTILE, "others may write to '%s'", store->path);
	uspl_hint(err, "what is enabled there counts for nothing: give it to root, mode 0755");
	return -USPL_E_HOSTILE;
}

/* The file as a whole, or as it was; on the disk when this returns. */
static int store_write(const struct store *store, const char *name, const struct buf *data,
		       struct uspl_err *err)
{
	auto_close int fd = openat(store->fd, ASIDE,
				   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	bool good = fd >= 0 && file_write_all(fd, data->data, data->len) == 0 && fsync(fd) == 0 &&
		    renameat(store->fd, ASIDE, store->fd, name) == 0;
	int rc = good ? 0 : uspl_fail_errno(err, "cannot write '%s/%s'", store->path, name);

	if (rc)
		unlinkat(store->fd, ASIDE, 0);
	else if (fsync(store->fd) < 0)
		return uspl_fail_errno(err, "cannot synchronise the folder '%s'", store->path);
	return rc;
}

/* The name of the file that says so. */
static void keep_name(const char *id, struct buf *ret)
{
	buf_addf(ret, "uspl-%s" KEEP, id);
}

static int add_entry(const struct store *store, const char *digest, const char *id,
		     wanted_vec *list, struct uspl_err *err)
{
	struct wanted_update *wanted = vec_push(list);
	auto_buf struct buf path = { 0 }, name = { 0 };
	struct stat st;

	if (!wanted)
		return uspl_fail_nomem(err);
	buf_addf(&path, "%s/uspl-%s.tar.gz", store->path, id);
	wanted->id = strdup(id);
	wanted->path = buf_take(&path);
	if (!wanted->id || !wanted->path)
		return uspl_fail_nomem(err);
	memcpy(wanted->digest, digest, DIGEST_HEX - 1);
	keep_name(id, &name);
	wanted->keep =
		!name.oom && faccessat(store->fd, buf_str(&name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	wanted->since = lstat(wanted->path, &st) == 0 ? st.st_mtime : 0;
	return 0;
}

static int fail_damaged(const struct store *store, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_FILE, "the list '%s/%s' is damaged", store->path, LIST);
	uspl_hint(err, "remove it, and enable again what is to be there");
	return -USPL_E_FILE;
}

static int read_list(const struct store *store, wanted_vec *list, struct uspl_err *err)
{
	static const char before[] = "  uspl-", after[] = ".tar.gz";
	const size_t hex = DIGEST_HEX - 1, begin = hex + strlen(before), n = strlen(after);
	auto_buf struct buf text = { 0 };
	auto_close int fd = openat(store->fd, LIST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *line, *end;
	size_t len;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s/%s'", store->path, LIST);
	rc = file_read_fd(fd, LIST, &text, err);
	if (rc)
		return rc;
	if (!text.len)
		return 0;
	if (strlen(text.data) != text.len || text.data[text.len - 1] != '\n')
		return fail_damaged(store, err);
	for (line = text.data; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		/* A line is "DIGEST  uspl-ID.tar.gz". */
		len = strlen(line);
		if (len <= begin + n || strspn(line, "0123456789abcdef") != hex ||
		    memcmp(line + hex, before, strlen(before)) != 0 ||
		    strcmp(line + len - n, after) != 0)
			return fail_damaged(store, err);
		line[len - n] = '\0';
		if (!update_id_valid(line + begin))
			return fail_damaged(store, err);
		rc = add_entry(store, line, line + begin, list, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The folder, if it is there, and its list, to be changed: no other tool does until it is closed.
 */
static int store_open_locked(struct store *store, wanted_vec *list, struct uspl_err *err)
{
	int rc = store_open(store, err);

	if (rc || store->fd < 0)
		return rc;
	if (flock(store->fd, LOCK_EX) < 0)
		return uspl_fail_errno(err, "cannot lock the folder '%s'", store->path);
	return read_list(store, list, err);
}

static int write_list(const struct store *store, const wanted_vec *list, const char *left_out,
		      struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	const struct wanted_update *wanted;

	vec_for_each (list, wanted)
		if (!left_out || strcmp(wanted->id, left_out) != 0)
			buf_addf(&text, "%s  uspl-%s.tar.gz\n", wanted->digest, wanted->id);
	return text.oom ? uspl_fail_nomem(err) : store_write(store, LIST, &text, err);
}

int wanted_read(wanted_vec *ret, struct uspl_err *err)
{
	auto_store struct store store = { .fd = -1 };
	int rc = store_open(&store, err);

	return rc || store.fd < 0 ? rc : read_list(&store, ret, err);
}

void wanted_release(wanted_vec *list)
{
	struct wanted_update *wanted;

	vec_for_each (list, wanted) {
		free(wanted->id);
		free(wanted->path);
	}
	vec_release(list);
}

const struct wanted_update *wanted_find(const wanted_vec *list, const char *id)
{
	const struct wanted_update *wanted;

	vec_for_each (list, wanted)
		if (!strcmp(wanted->id, id))
			return wanted;
	return NULL;
}

int wanted_load(const struct wanted_update *wanted, const struct signature_terms *terms,
		struct update **ret, struct uspl_err *err)
{
	struct signature_terms then = { .when = wanted->since };
	auto_buf struct buf data = { 0 }, signature = { 0 };
	struct signature_signer signer = { 0 };
	char digest[DIGEST_HEX];
	int rc = file_read(wanted->path, &data, err);

	if (rc)
		return rc;
	digest_hex(data.data, data.len, digest);
	if (strcmp(digest, wanted->digest) != 0) {
		uspl_fail(err, USPL_E_FILE, "'%s' is not the file that was enabled", wanted->path);
		uspl_hint(err, "'uspl-disable %s', and enable the right one", wanted->id);
		return -USPL_E_FILE;
	}
	if (terms) {
		then.required = terms->required;
		rc = signature_check_file(wanted->path, data.data, data.len, &then, &signer,
					  &signature, err);
		if (rc) {
			uspl_context(err, "cannot use the enabled update '%s'", wanted->id);
			return rc;
		}
	}
	rc = update_read_memory(data.data, data.len, ret, err);
	if (rc)
		return rc;
	memcpy((*ret)->file.digest, digest, sizeof(digest));
	(*ret)->file.signer = signer;
	return 0;
}

/* The update's file and, if it is signed, its signature; an older signature goes. */
static int write_files(const struct store *store, const struct update *update, struct uspl_err *err)
{
	auto_buf struct buf name = { 0 }, signature_name = { 0 };
	int rc;

	buf_addf(&name, "uspl-%s.tar.gz", update->id);
	buf_addf(&signature_name, "%s" SIGNATURE_SUFFIX, buf_str(&name));
	if (name.oom || signature_name.oom)
		return uspl_fail_nomem(err);
	if (update->file.signature.len) {
		rc = store_write(store, buf_str(&signature_name), &update->file.signature, err);
		if (rc)
			return rc;
	} else {
		unlinkat(store->fd, buf_str(&signature_name), 0);
	}
	return store_write(store, buf_str(&name), &update->file.bytes, err);
}

int wanted_add(const char *path, const struct update *update, bool keep, bool *ret_new,
	       struct uspl_err *err)
{
	auto_store struct store store = { .fd = -1 };
	const char *digest = update->file.digest;
	auto_buf struct buf keep_file = { 0 }, nothing = { 0 };
	const struct wanted_update *present;
	auto_wanted wanted_vec list = { 0 };
	int rc;

	if (!update->file.bytes.len)
		return uspl_fail(err, USPL_E_USAGE,
				 "'%s' is an unpacked update: a file is needed to enable one",
				 path);
	rc = wanted_make_folder(err);
	if (rc)
		return rc;
	rc = store_open_locked(&store, &list, err);
	if (rc)
		return rc;
	if (store.fd < 0)
		return uspl_fail(err, USPL_E_SYSTEM, "the folder '%s' was removed", store.path);
	present = wanted_find(&list, update->id);
	if (present && strcmp(present->digest, digest) != 0) {
		uspl_fail(err, USPL_E_CONFLICT, "another update with the id '%s' is enabled",
			  present->id);
		uspl_hint(err, "'uspl-disable %s' first", present->id);
		return -USPL_E_CONFLICT;
	}
	*ret_new = !present;
	rc = write_files(&store, update, err);
	if (rc)
		return rc;
	/* A new update begins without it; to one that was there it is only added. */
	keep_name(update->id, &keep_file);
	if (keep_file.oom)
		return uspl_fail_nomem(err);
	if (keep)
		rc = store_write(&store, buf_str(&keep_file), &nothing, err);
	else if (!present)
		unlinkat(store.fd, buf_str(&keep_file), 0);
	if (rc || present)
		return rc;
	rc = add_entry(&store, digest, update->id, &list, err);
	if (rc)
		return rc;
	return write_list(&store, &list, NULL, err);
}

int wanted_add_debug(const char *path, const struct update *update, struct uspl_err *err)
{
	auto_debug_file struct debug_file file = { 0 };
	auto_free char *beside = debug_file_path(path);
	auto_store struct store store = { .fd = -1 };
	auto_wanted wanted_vec list = { 0 };
	auto_buf struct buf bytes = { 0 };
	auto_buf struct buf name = { 0 };
	int rc;

	buf_addf(&name, "uspl-%s" DEBUG_FILE_SUFFIX, update->id);
	if (!beside || name.oom)
		return uspl_fail_nomem(err);
	if (access(beside, F_OK) != 0)
		return 0;
	rc = debug_file_read(beside, update->id, update->file.digest, &file, &bytes, err);
	if (rc)
		return rc;
	rc = store_open_locked(&store, &list, err);
	/* It may have been removed meanwhile. */
	if (rc || store.fd < 0 || !wanted_find(&list, update->id))
		return rc;
	return store_write(&store, buf_str(&name), &bytes, err);
}

int wanted_remove(const char *id, struct uspl_err *err)
{
	auto_store struct store store = { .fd = -1 };
	auto_wanted wanted_vec list = { 0 };
	auto_buf struct buf name = { 0 };
	int rc = store_open_locked(&store, &list, err);

	if (rc)
		return rc;
	if (!wanted_find(&list, id)) {
		struct nearest nearest = { .word = id };
		const struct wanted_update *wanted;

		vec_for_each (&list, wanted)
			nearest_try(&nearest, wanted->id);
		uspl_fail(err, USPL_E_NOT_APPLIED, "the update '%s' is not enabled", id);
		if (nearest.name)
			uspl_hint(err, "did you mean '%s'?", nearest.name);
		else
			uspl_hint(err, "'uspl-list' lists those that are");
		return -USPL_E_NOT_APPLIED;
	}
	rc = write_list(&store, &list, id, err);
	if (rc)
		return rc;
	buf_addf(&name, "uspl-%s.tar.gz" SIGNATURE_SUFFIX, id);
	if (name.oom)
		return 0;
	unlinkat(store.fd, buf_str(&name), 0);
	name.data[name.len - strlen(SIGNATURE_SUFFIX)] = '\0';
	unlinkat(store.fd, buf_str(&name), 0);
	name.len = 0;
	keep_name(id, &name);
	unlinkat(store.fd, buf_str(&name), 0);
	name.len = 0;
	buf_addf(&name, "uspl-%s" DEBUG_FILE_SUFFIX, id);
	unlinkat(store.fd, buf_str(&name), 0);
	return 0;
}
