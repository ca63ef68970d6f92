// SPDX-License-Identifier: GPL-3.0-or-later
// update_file.c - an update as a file: reads and writes the tarball

#include "update/hooked.h"
#include "update/update.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/strmap.h"
#include "base/text.h"
#include "update/folder.h"
#include "update/manifest.h"
#include "update/parts.h"
#include "update/stated.h"
#include "update/tarball.h"
#include "update/unpack.h"

/* A limit of docs/update-format.md: later steps may look at all pairs of these. */
enum { FUNCTIONS_MAX = 4096 };

static const char manifest_part[] = "manifest.json";
static const char patch_part[] = "patch";

/* Reading */

static int take_part(struct parts *parts, const char *name, struct part **ret, struct uspl_err *err)
{
	struct part *part = parts_find(parts, name);

	if (!part)
		return uspl_fail(err, USPL_E_FILE, "it has no '%s'", name);
	part->used = true;
	*ret = part;
	return 0;
}

static int read_code(struct parts *parts, size_t target, const char *file, struct objfile **ret,
		     struct uspl_err *err)
{
	auto_free char *name = parts_object_name(target, file);
	struct part *part = NULL;
	int rc = name ? take_part(parts, name, &part, err) : uspl_fail_nomem(err);

	return rc ? rc : parts_read_object(part, ret, err);
}

/* Every function that the manifest lists must be code in the object. */
static int check_defined(const struct objfile *obj, const struct update_target *target,
			 struct uspl_err *err)
{
	const struct update_function *function;
	auto_strmap struct strmap defined = { 0 };
	struct objsym **sym;
	int rc = 0;

	vec_for_each (&obj->syms, sym)
		if ((*sym)->sec && objsec_is_code((*sym)->sec) &&
		    !strmap_set(&defined, (*sym)->name, *sym))
			rc = uspl_fail_nomem(err);
	if (rc)
		return rc;
	vec_for_each (&target->functions, function)
		if (!strmap_get(&defined, function->symbol)) {
			rc = uspl_fail(err, USPL_E_FILE, "the function '%s' is not in '%s'",
				       function->symbol, obj->name);
			if (rc)
				return rc;
		}
	return 0;
}

static int read_target_code(struct parts *parts, size_t i, struct update_target *target,
			    struct uspl_err *err)
{
	int rc;

	if (target->functions.n > FUNCTIONS_MAX)
		return uspl_fail(err, USPL_E_HOSTILE, "it changes more than %d functions of '%s'",
				 FUNCTIONS_MAX, target->name);
	rc = read_code(parts, i, "new.o", &target->new_code, err);
	if (rc)
		return rc;
	rc = read_code(parts, i, "pre.o", &target->pre_code, err);
	if (rc)
		return rc;
	rc = check_defined(target->new_code, target, err);
	if (rc)
		return rc;
	rc = check_defined(target->pre_code, target, err);
	if (rc)
		return rc;
	rc = hooked_check(target, err);
	if (rc)
		return rc;
	return stated_check(target, err);
}

/* From parts to an update. */
static int assemble(struct parts *parts, struct update **ret, struct uspl_err *err)
{
	auto_update struct update *update = NULL;
	const char *folder = parts->folder;
	struct part *part = NULL;
	int rc = take_part(parts, manifest_part, &part, err);

	if (rc)
		return rc;
	rc = manifest_read(part->data ? part->data : "", part->len, &update, err);
	if (rc) {
		uspl_context(err, "%s", manifest_part);
		return rc;
	}
	/* An unpacked update's folder may have been given another name. */
	if (folder && (strncmp(folder, "uspl-", 5) || strcmp(folder + 5, update->id)))
		return uspl_fail(err, USPL_E_FILE, "its folder is '%s', but its id is '%s'", folder,
				 update->id);
	rc = take_part(parts, patch_part, &part, err);
	if (rc)
		return rc;
	update->patch_len = part->len;
	update->patch = part->data ? take_ptr(part->data) : strdup("");
	if (!update->patch)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < update->targets.n; i++) {
		rc = read_target_code(parts, i, &update->targets.items[i], err);
		if (rc)
			return rc;
	}
	/* A part that we don't know may say something that we would have to heed. */
	vec_for_each (&parts->items, part)
		if (!part->used)
			return uspl_fail(err, USPL_E_FORMAT, "format %d has no part '%s'",
					 UPDATE_FORMAT, part->name);
	*ret = take_ptr(update);
	return 0;
}

int update_read_memory(const void *data, size_t len, struct update **ret, struct uspl_err *err)
{
	auto_parts struct parts parts = { 0 };
	int rc = tarball_read(data, len, &parts, err);

	if (rc)
		return rc;
	return assemble(&parts, ret, err);
}

/* How an update is read. */
struct reading {
	const char *path;
	bool confined;                       /* the command gives up its rights first */
	bool keeps;                          /* the file's bytes, too */
	const struct signature_terms *terms; /* NULL: signatures aren't looked for */
};

/* A tarball's bytes, which are all here: its signature, then what is in it. */
static int read_bytes(const struct reading *reading, struct buf *data, struct update **ret,
		      struct uspl_err *err)
{
	auto_buf struct buf signature = { 0 };
	auto_parts struct parts parts = { 0 };
	struct signature_signer signer = { 0 };
	int rc = 0;

	if (!data->len)
		return uspl_fail(err, USPL_E_FILE, "it is empty");
	if (reading->terms)
		rc = signature_check_file(reading->path, data->data, data->len, reading->terms,
					  &signer, &signature, err);
	if (rc)
		return rc;
	if (reading->confined) {
		confine(CONFINE_FILE);
		rc = tarball_read(data->data, data->len, &parts, err);
	} else {
		rc = unpack_apart(data->data, data->len, &parts, err);
	}
	if (rc)
		return rc;
	rc = assemble(&parts, ret, err);
	if (rc)
		return rc;
	digest_hex(data->data, data->len, (*ret)->file.digest);
	(*ret)->file.signer = signer;
	if (!reading->keeps)
		return 0;
	(*ret)->file.bytes = *data;
	(*ret)->file.signature = signature;
	*data = signature = (struct buf){ 0 };
	return 0;
}

static int read_open(const struct reading *reading, int fd, struct update **ret,
		     struct uspl_err *err)
{
	auto_parts struct parts parts = { 0 };
	auto_buf struct buf data = { 0 };
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return uspl_fail_errno(err, "cannot look at it");
	if (S_ISDIR(st.st_mode)) {
		if (reading->terms && reading->terms->required)
			return uspl_fail(
				err, USPL_E_UNTRUSTED,
				"it is unpacked: only the file uspl-ID.tar.gz can be signed");
		if (reading->confined)
			confine(CONFINE_LOOK);
		rc = folder_read(fd, &parts, err);
		return rc ? rc : assemble(&parts, ret, err);
	}
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return uspl_fail(err, USPL_E_FILE, "it is neither a file nor a folder");
	rc = folder_read_file(fd, PARTS_MAX_BYTES, &data, err);
	return rc ? rc : read_bytes(reading, &data, ret, err);
}

static int read_path(const struct reading *reading, struct update **ret, struct uspl_err *err)
{
	auto_close int fd = open(reading->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd < 0 && errno == ENOENT)
		return uspl_fail(err, USPL_E_FILE, "there is no file '%s'", reading->path);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", reading->path);
	rc = read_open(reading, fd, ret, err);
	if (rc)
		uspl_context(err, "cannot read the update '%s'", reading->path);
	return rc;
}

int update_read(const char *path, struct update **ret, struct uspl_err *err)
{
	const struct reading reading = { .path = path };

	return read_path(&reading, ret, err);
}

int update_read_signed(const char *path, const struct signature_terms *terms, struct update **ret,
		       struct uspl_err *err)
{
	const struct reading reading = { .path = path, .keeps = true, .terms = terms };

	return read_path(&reading, ret, err);
}

int update_read_kept(const char *path, struct update **ret, struct uspl_err *err)
{
	const struct reading reading = { .path = path, .keeps = true };

	return read_path(&reading, ret, err);
}

int update_read_confined(const char *path, struct update **ret, struct uspl_err *err)
{
	const struct reading reading = { .path = path, .confined = true };

	return read_path(&reading, ret, err);
}

/* Writing */

static int add_code(struct parts *parts, size_t target, const char *file, struct objfile *obj,
		    struct uspl_err *err)
{
	auto_free char *name = parts_object_name(target, file);
	auto_buf struct buf data = { 0 };
	int rc = name ? objfile_write(obj, &data, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	return parts_add(parts, name, &data, err);
}

static int take_apart(const struct update *update, struct parts *parts, struct uspl_err *err)
{
	auto_buf struct buf manifest = { 0 }, patch = { 0 };
	int rc = manifest_write(update, &manifest, err);

	if (rc)
		return rc;
	buf_add(&patch, update->patch, update->patch_len);
	rc = parts_add(parts, manifest_part, &manifest, err);
	if (rc)
		return rc;
	rc = parts_add(parts, patch_part, &patch, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < update->targets.n; i++) {
		rc = add_code(parts, i, "new.o", update->targets.items[i].new_code, err);
		if (rc)
			return rc;
		rc = add_code(parts, i, "pre.o", update->targets.items[i].pre_code, err);
		if (rc)
			return rc;
	}
	return 0;
}

int update_pack(struct update *update, struct buf *ret, struct uspl_err *err)
{
	auto_parts struct parts parts = { 0 };
	int rc = take_apart(update, &parts, err);

	return rc ? rc : tarball_pack(&parts, update->id, update->created, ret, err);
}

int update_write(struct update *update, const char *path, struct uspl_err *err)
{
	auto_buf struct buf tarball = { 0 };
	int rc = update_pack(update, &tarball, err);

	return rc ? rc : file_write(path, tarball.data, tarball.len, err);
}

#define SUFFIX ".tar.gz"

bool update_is_path(const char *word)
{
	auto_free char *manifest = *word ? file_join(word, manifest_part) : NULL;

	return text_ends_with(word, SUFFIX) || (manifest && access(manifest, F_OK) == 0);
}

int update_named(const char *word, char **ret, struct uspl_err *err)
{
	auto_update struct update *update = NULL;
	bool is_id = !strchr(word, '/') && (!update_is_path(word) || access(word, F_OK) != 0);
	const char *id = word + (strncmp(word, "uspl-", 5) ? 0 : 5);
	int rc;

	if (is_id) {
		*ret = strndup(id, strlen(id) - (text_ends_with(id, SUFFIX) ? strlen(SUFFIX) : 0));
	} else {
		rc = update_read(word, &update, err);
		if (rc)
			return rc;
		*ret = strdup(update->id);
	}
	return *ret ? 0 : uspl_fail_nomem(err);
}
