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

static int check_age(const char *path, const struct signature_signer *signer, struct uspl_err *err)
{
	const struct signature_terms terms = { .required = true };
	auto_buf struct buf text = { 0 }, ignored = { 0 };
	char now[CLOCK_UTC_LEN], then[CLOCK_UTC_LEN];
	struct signature_signer before;

	/* The index that was kept the time before; there may be none, or not a good one. */
	if (file_read(path, &text, NULL) != 0 ||
	    signature_check_file(path, buf_str(&text), text.len, &terms, &before, &ignored, NULL) ||
	    signer->signed_at >= before.signed_at)
		return 0;
	clock_utc_text(signer->signed_at, now);
	clock_utc_text(before.signed_at, then);
	uspl_fail(err, USPL_E_UNTRUSTED,
		  "it is an old one: signed on %s, and one of %s was there before", now, then);
	uspl_hint(err, "if that is meant, remove '%s'", path);
	return -USPL_E_UNTRUSTED;
}

static int open_index(struct remote *remote, struct uspl_err *err)
{
	const struct signature_terms terms = { .required = true };
	auto_free char *fresh = file_join(remote->folder, NEW);
	auto_free char *kept = file_join(remote->folder, INDEX_NAME);
	auto_free char *fresh_signature = fresh ? signature_path(fresh) : NULL;
	auto_free char *kept_signature = kept ? signature_path(kept) : NULL;
	auto_buf struct buf text = { 0 }, ignored = { 0 };
	struct signature_signer signer;
	int rc;

	if (!fresh_signature || !kept_signature)
		return uspl_fail_nomem(err);
	rc = download(remote->url, INDEX_NAME, MANIFEST_MAX_BYTES, remote->cacert, &text, err);
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
	if (rc)
		return rc;
	/* The checked index takes the place of the one before. */
	if (rename(fresh, kept) < 0 || rename(fresh_signature, kept_signature) < 0)
		return uspl_fail_errno(err, "cannot write '%s'", kept);
	return 0;
}

int remote_open(const char *url, const char *cacert, struct remote *ret, struct uspl_err *err)
{
	auto_free char *all = file_in_cache("uspl/fetched");
	char digest[DIGEST_HEX];
	int rc;

	ret->url = url;
	ret->cacert = cacert;
	digest_hex(url, strlen(url), digest);
	digest[16] = '\0';
	ret->folder = all ? file_join(all, digest) : NULL;
	if (!ret->folder)
		return uspl_fail_nomem(err);
	rc = file_mkdirs(ret->folder, err);
	return rc ? rc : open_index(ret, err);
}

static bool is_listed(const struct buf *data, const struct index_entry *entry)
{
	char digest[DIGEST_HEX];

	digest_hex(buf_str(data), data->len, digest);
	return data->len == entry->size && !strcmp(digest, entry->sha256);
}

int remote_fetch(const struct remote *remote, const struct index_entry *entry, char **ret,
		 struct uspl_err *err)
{
	auto_free char *path = file_join(remote->folder, entry->file);
	auto_free char *signature = path ? signature_path(path) : NULL;
	auto_buf struct buf kept = { 0 }, data = { 0 };
	int rc = 0;

	if (!signature)
		return uspl_fail_nomem(err);
	if (file_read(path, &kept, NULL) != 0 || !is_listed(&kept, entry)) {
		rc = download(remote->url, entry->file, entry->size, remote->cacert, &data, err);
		if (rc)
			return rc;
		if (!is_listed(&data, entry))
			return uspl_fail(err, USPL_E_UNTRUSTED,
					 "'%s' at '%s' is not the file that the index lists",
					 entry->file, remote->url);
		rc = file_write(path, data.data, data.len, err);
		if (rc)
			return rc;
	}
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
