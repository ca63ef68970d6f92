// SPDX-License-Identifier: GPL-3.0-or-later
// inputs.c - the objects that a program was linked from
//
// An object given by its path was made by the last compilation before the link that wrote this
// path. Members of archives have no path, only a name that several may share: they are known by
// their bytes, which are those of one of the copies that the wrapper saved; and so are objects that
// the build moved or copied. What is left is a stranger: shipped ready-made, made by a compiler
// that the build called by its absolute path, or changed after it was compiled.

#include "create/build/inputs.h"

#include "create/build/arfile.h"
#include "create/build/record.h"

#include <gelf.h>
#include <string.h>

#include "base/file.h"

enum { MAX_DEPTH = 16, NT_GO_BUILD_ID = 4 };

static uint64_t hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	while (len--)
		h = (h ^ *p++) * 1099511628211u;
	return h;
}

int input_hash_file(const char *path, uint64_t *ret, struct uspl_err *err)
{
	auto_buf struct buf bytes = { 0 };
	int rc = file_read(path, &bytes, err);

	if (rc)
		return rc;
	*ret = hash(bytes.data, bytes.len);
	return 0;
}

/* Does a section of notes hold build-ids only, of the linker or of Go? */
static bool is_build_id(Elf_Data *notes)
{
	size_t at = 0, next, name, desc, n = 0;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		const char *owner = (const char *)notes->d_buf + name;
		bool gnu = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			   !memcmp(owner, "GNU", 4);
		bool go = note.n_type == NT_GO_BUILD_ID && note.n_namesz == 4 &&
			  !memcmp(owner, "Go\0", 4);

		if (!gnu && !go)
			return false;
		n++;
		at = next;
	}
	return n;
}

/*
 * The hash of an object that no compiler of ours made, less its build-ids: Go's is computed from
 * all sources of the program, and isn't the code's.
 */
static int hash_stranger(const void *data, size_t len, uint64_t *ret, struct uspl_err *err)
{
	auto_free char *copy = malloc(len + 1);
	Elf_Scn *section = NULL;
	Elf *elf;

	if (!copy)
		return uspl_fail_nomem(err);
	memcpy(copy, data, len);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, len);
	while (elf && elf_kind(elf) == ELF_K_ELF && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *notes;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    header.sh_offset > len || header.sh_size > len - header.sh_offset)
			continue;
		notes = elf_getdata(section, NULL);
		if (notes && notes->d_buf && is_build_id(notes))
			memset(copy + header.sh_offset, 0, header.sh_size);
	}
	elf_end(elf);
	*ret = hash(copy, len);
	return 0;
}

bool makers_add(struct makers *makers, const struct record *record)
{
	if (record->kind == RECORD_LINK)
		return true;
	/* By its saved copy too: a command that compiles and links at once links that. */
	return strmap_set(&makers->by_path, record->output, (void *)record) &&
	       strmap_set(&makers->by_path, record->saved, (void *)record);
}

/* A saved object that may be the one that is looked for. */
struct candidate {
	const struct record *record;
	uint64_t hash;
	bool hashed;
};

typedef VEC(struct candidate) candidate_list;

static void forget_sizes(struct strmap *sizes)
{
	for (size_t i = 0; i < sizes->cap; i++) {
		candidate_list *list = sizes->slots[i].key ? sizes->slots[i].value : NULL;

		if (list)
			vec_release(list);
		free(list);
	}
	strmap_release(sizes);
}

void makers_forget_archives(struct makers *makers)
{
	forget_sizes(&makers->sizes[0]);
	forget_sizes(&makers->sizes[1]);
	makers->sized = false;
	for (size_t i = 0; i < makers->archives.cap; i++)
		if (makers->archives.slots[i].key)
			arfile_free(makers->archives.slots[i].value);
	strmap_release(&makers->archives);
}

void makers_release(struct makers *makers)
{
	makers_forget_archives(makers);
	strmap_release(&makers->by_path);
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && path[len] == '/';
}

static int get_archive(struct makers *makers, const char *path, const struct arfile **ret,
		       struct uspl_err *err)
{
	struct arfile *archive = strmap_get(&makers->archives, path);
	int rc;

	if (!archive) {
		rc = arfile_read(path, &archive, err);
		if (rc)
			return rc;
		if (!strmap_set(&makers->archives, path, archive)) {
			arfile_free(archive);
			return uspl_fail_nomem(err);
		}
	}
	*ret = archive;
	return 0;
}

/* Those with so many bytes; NULL if there are none. */
static candidate_list *of_size(const struct strmap *sizes, uint64_t size)
{
	char text[24];

	snprintf(text, sizeof(text), "%ju", (uintmax_t)size);
	return strmap_get(sizes, text);
}

static bool add_candidate(struct strmap *sizes, const struct record *record)
{
	candidate_list *list = of_size(sizes, record->size);
	struct candidate *slot;
	char text[24];

	if (!list) {
		snprintf(text, sizeof(text), "%ju", (uintmax_t)record->size);
		list = calloc(1, sizeof(*list));
		if (!list || !strmap_set(sizes, text, list)) {
			free(list);
			return false;
		}
	}
	slot = vec_push(list);
	if (slot)
		slot->record = record;
	return slot != NULL;
}

static int sort_by_size(struct makers *makers, struct uspl_err *err)
{
	const record_list *const lists[] = { makers->pre, makers->post };

	if (makers->sized)
		return 0;
	makers->sized = true;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct record **slot;

		if (!lists[i])
			continue;
		vec_for_each (lists[i], slot)
			if ((*slot)->kind != RECORD_LINK &&
			    !add_candidate(&makers->sizes[i], *slot))
				return uspl_fail_nomem(err);
	}
	return 0;
}

/* The record whose saved copy has these bytes; of several the one whose object has the name. */
static const struct record *find_in(const struct strmap *sizes, const char *name, const void *data,
				    size_t len)
{
	candidate_list *list = of_size(sizes, len);
	uint64_t wanted = list ? hash(data, len) : 0;
	const struct record *found = NULL;
	struct candidate *candidate;

	if (!list)
		return NULL;
	vec_for_each (list, candidate) {
		const char *saved = candidate->record->saved;
		auto_buf struct buf bytes = { 0 };

		/* Each is read once for its hash, and those that have the right one once more. */
		if (!candidate->hashed && input_hash_file(saved, &candidate->hash, NULL))
			continue;
		candidate->hashed = true;
		if (candidate->hash != wanted || file_read(saved, &bytes, NULL) ||
		    bytes.len != len || memcmp(bytes.data, data, len))
			continue;
		if (!strcmp(file_basename(candidate->record->output), name))
			return candidate->record;
		found = candidate->record;
	}
	return found;
}

/* A link in work: what is resolved, and where the result goes. */
struct resolve {
	struct makers *makers;
	input_list *inputs;
	struct uspl_err *err;
};

static int add_input(struct resolve *resolve, const char *name, const struct record *record,
		     uint64_t bytes)
{
	struct input *input = vec_push(resolve->inputs);

	if (!input)
		return uspl_fail_nomem(resolve->err);
	input->name = strdup(name);
	input->record = record;
	input->hash = bytes;
	return input->name ? 0 : uspl_fail_nomem(resolve->err);
}

static int add_gone(struct resolve *resolve, const char *name)
{
	int rc = add_input(resolve, name, NULL, 0);

	if (rc)
		return rc;
	resolve->inputs->items[resolve->inputs->n - 1].gone = true;
	return 0;
}

static int resolve_all(struct resolve *resolve, const struct record *record, int depth);

static int add_made(struct resolve *resolve, const struct record *record, int depth)
{
	if (record->kind != RECORD_PARTIAL)
		return add_input(resolve, record->output, record, 0);
	if (depth >= MAX_DEPTH)
		return uspl_fail(resolve->err, USPL_E_UNSUPPORTED, "'%s' is linked of itself",
				 record->output);
	return resolve_all(resolve, record, depth + 1);
}

static int add_bytes(struct resolve *resolve, const char *name, const char *object,
		     const void *data, size_t len, int depth)
{
	struct makers *makers = resolve->makers;
	const struct record *record = NULL;
	uint64_t bytes = 0;
	int rc = sort_by_size(makers, resolve->err);

	if (rc)
		return rc;
	if (len)
		record = find_in(&makers->sizes[1], object, data, len);
	if (len && !record)
		record = find_in(&makers->sizes[0], object, data, len);
	if (record)
		return add_made(resolve, record, depth);
	rc = hash_stranger(data, len, &bytes, resolve->err);
	if (rc)
		return rc;
	return add_input(resolve, name, NULL, bytes);
}

/*
 * "(ARCHIVE)MEMBER". Several members may have the name: all are taken, since the linker doesn't say
 * which it took.
 */
static int resolve_member(struct resolve *resolve, const char *name, int depth)
{
	const char *end = strrchr(name, ')');
	auto_free char *path = end ? strndup(name + 1, (size_t)(end - name - 1)) : NULL;
	const struct arfile_member *member;
	const struct arfile *archive = NULL;
	bool found = false;
	int rc;

	if (!path)
		return uspl_fail_nomem(resolve->err);
	if (!is_below(path, resolve->makers->tree)) {
		rc = add_input(resolve, name, NULL, 0);
		if (!rc)
			resolve->inputs->items[resolve->inputs->n - 1].outside = true;
		return rc;
	}
	rc = get_archive(resolve->makers, path, &archive, resolve->err);
	if (rc)
		return rc;
	vec_for_each (&archive->members, member) {
		if (rc || strcmp(member->name, end + 1))
			continue;
		rc = add_bytes(resolve, name, member->name, member->data, member->len, depth);
		found = true;
	}
	return rc || found ? rc : add_gone(resolve, name);
}

static int resolve_one(struct resolve *resolve, const char *name, const char *kept, int depth)
{
	const struct record *record = strmap_get(&resolve->makers->by_path, name);
	bool removed = access(name, F_OK) < 0;
	size_t n = resolve->inputs->n;
	auto_buf struct buf bytes = { 0 };
	int rc;

	if (record)
		return add_made(resolve, record, depth);
	if (*name == '(')
		return resolve_member(resolve, name, depth);
	if (removed && !kept)
		return add_gone(resolve, name);
	if (!removed && !is_below(name, resolve->makers->tree))
		return 0;
	/* What was removed after the link is as the wrapper has kept it. */
	rc = file_read(removed ? kept : name, &bytes, resolve->err);
	if (rc)
		return rc;
	rc = add_bytes(resolve, name, file_basename(name), buf_str(&bytes), bytes.len, depth);
	if (rc)
		return rc;
	if (removed && resolve->inputs->n > n)
		resolve->inputs->items[n].removed = true;
	return 0;
}

static int resolve_all(struct resolve *resolve, const struct record *record, int depth)
{
	char **name;
	int rc = 0;

	vec_for_each (&record->inputs, name) {
		rc = resolve_one(resolve, *name, strmap_get(&record->kept, *name), depth);
		if (rc)
			return rc;
	}
	return 0;
}

int makers_resolve(struct makers *makers, const struct record *link, input_list *ret,
		   struct uspl_err *err)
{
	struct resolve resolve = { makers, ret, err };

	return resolve_all(&resolve, link, 0);
}

int makers_find_outside(struct makers *makers, const struct input *input,
			const struct arfile_member **ret, struct uspl_err *err)
{
	const char *end = strrchr(input->name, ')');
	auto_free char *path = strndup(input->name + 1, (size_t)(end - input->name - 1));
	const struct arfile_member *member;
	const struct arfile *archive = NULL;
	size_t n = 0;
	int rc = path ? get_archive(makers, path, &archive, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	vec_for_each (&archive->members, member) {
		if (strcmp(member->name, end + 1) != 0)
			continue;
		*ret = member;
		n++;
	}
	if (n != 1)
		*ret = NULL;
	return 0;
}

void input_list_release(input_list *inputs)
{
	struct input *input;

	vec_for_each (inputs, input)
		free(input->name);
	vec_release(inputs);
}
