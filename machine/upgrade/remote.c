// SPDX-License-Identifier: GPL-3.0-or-later
// remote.c - a folder of updates with a signed index, elsewhere

#include "machine/upgrade/remote.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "machine/upgrade/download.h"
#include "update/manifest.h"

/* An index that isn't checked yet; beside it lies the one that was, the time before. */
#define NEW "new-" INDEX_NAME

static int make_folder(struct remote *remote, struct uspl_err *err)
{
	auto_free char *all = file_in_cache("uspl/fetched");
	char digest[DIGEST_HEX];

	digest_hex(remote->url, strlen(remote->url), digest);
	digest[16] = '\0';
	remote->folder = all ? file_join(all, digest) : NULL;
	return remote->folder ? file_mkdirs(remote->folder, err) : uspl_fail_nomem(err);
}

/* The signature of a file, put beside where that is kept. */
static int fetch_signature(const struct remote *remote, const char *name, const char *path,
			   struct uspl_err *err)
{
	auto_free char *from = signature_path(name);
	auto_free char *to = signature_path(path);
	auto_buf struct buf text = { 0 };
	int rc = from && to ? download(remote->url, from, SIGNATURE_MAX_BYTES, remote->cacert,
				       &text, err)
			    : uspl_fail_nomem(err);

	return rc ? rc : file_write(to, buf_str(&text), text.len, err);
}

/* When the index that was kept the time before was signed; 0: there is none, or not a good one. */
static int64_t signed_before(const char *path)
{
	const struct signature_terms terms = { .required = true };
	auto_buf struct buf text = { 0 }, ignored = { 0 };
	struct signature_signer signer;

	if (file_read(path, &text, NULL) != 0 ||
	    signature_check_file(path, buf_str(&text), text.len, &terms, &signer, &ignored, NULL))
		return 0;
	return signer.signed_at;
}

static int check_age(const char *path, const struct signature_signer *signer, struct uspl_err *err)
{
	char now[CLOCK_UTC_LEN], then[CLOCK_UTC_LEN];
	int64_t before = signed_before(path);

	if (signer->signed_at >= before)
		return 0;
	clock_utc_text(signer->signed_at, now);
	clock_utc_text(before, then);
	uspl_fail(err, USPL_E_UNTRUSTED,
		  "it is an old one: signed on %s, and one of %s was there before", now, then);
	uspl_hint(err, "if that is meant, remove '%s'", path);
	return -USPL_E_UNTRUSTED;
}

/* The checked index takes the place of the one before. */
static int keep_index(const char *from, const char *to, struct uspl_err *err)
{
	auto_free char *from_signature = signature_path(from);
	auto_free char *to_signature = signature_path(to);

	if (!from_signature || !to_signature)
		return uspl_fail_nomem(err);
	if (rename(from, to) < 0 || rename(from_signature, to_signature) < 0)
		return uspl_fail_errno(err, "cannot write '%s'", to);
	return 0;
}

static int open_index(struct remote *remote, struct uspl_err *err)
{
	const struct signature_terms terms = { .required = true };
	auto_free char *fresh = file_join(remote->folder, NEW);
	auto_free char *kept = file_join(remote->folder, INDEX_NAME);
	auto_buf struct buf text = { 0 }, ignored = { 0 };
	struct signature_signer signer;
	int rc = fresh && kept ? download(remote->url, INDEX_NAME, MANIFEST_MAX_BYTES,
					  remote->cacert, &text, err)
			       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = fetch_signature(remote, INDEX_NAME, fresh, err);
	if (rc)
		return rc;
	rc = signature_check_file(fresh, buf_str(&text), text.len, &terms, &signer, &ignored, err);
	if (!rc)
		rc = check_age(kept, &signer, err);
	if (!rc)
		rc = index_read(buf_str(&text), text.len, &remote->entries, err);
	if (rc) {
		uspl_context(err, "the index of '%s'", remote->url);
		return rc;
	}
	rc = file_write(fresh, text.data, text.len, err);
	return rc ? rc : keep_index(fresh, kept, err);
}

int remote_open(const char *url, const char *cacert, struct remote *ret, struct uspl_err *err)
{
	int rc;

	ret->url = url;
	ret->cacert = cacert;
	rc = make_folder(ret, err);
	return rc ? rc : open_index(ret, err);
}

static bool is_listed(const struct buf *data, const struct index_entry *entry)
{
	char digest[DIGEST_HEX];

	digest_hex(buf_str(data), data->len, digest);
	return data->len == entry->size && !strcmp(digest, entry->sha256);
}

static int fetch_file(const struct remote *remote, const struct index_entry *entry,
		      const char *path, struct uspl_err *err)
{
	auto_buf struct buf kept = { 0 }, data = { 0 };
	int rc;

	if (file_read(path, &kept, NULL) == 0 && is_listed(&kept, entry))
		return 0;
	rc = download(remote->url, entry->file, entry->size, remote->cacert, &data, err);
	if (rc)
		return rc;
	if (!is_listed(&data, entry))
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "'%s' at '%s' is not the file that the index lists", entry->file,
				 remote->url);
	return file_write(path, data.data, data.len, err);
}

int remote_fetch(const struct remote *remote, const struct index_entry *entry, char **ret,
		 struct uspl_err *err)
{
	auto_free char *path = file_join(remote->folder, entry->file);
	auto_free char *signature = path ? signature_path(path) : NULL;
	int rc = signature ? fetch_file(remote, entry, path, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	if (entry->has_signature)
		rc = fetch_signature(remote, entry->file, path, err);
	else
		unlink(signature);
	if (rc)
		return rc;
	*ret = take_ptr(path);
	return 0;
}

void remote_release(struct remote *remote)
{
	free(remote->folder);
	index_release(&remote->entries);
}
