/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update.h - an update: what uspl-create makes and uspl-apply takes
 *
 * On disk a gzipped tar, uspl-ID.tar.gz, with one folder uspl-ID/ that holds manifest.json, patch,
 * and for each target targets/N/new.o (code and data to load) and targets/N/pre.o (the code that
 * must be running). docs/update-format.md is the specification, with a version: readers refuse what
 * they don't know, and treat every byte as hostile.
 *
 * The two ELF files (see objfile.h) are normalised by uspl-create:
 *  - symbols are called by their refnames (refname.h);
 *  - new.o holds the changed and new functions, each in a section of its own, with their .cold
 *    parts, and the read-only data, new variables and strings that they need. A symbol it doesn't
 *    define is to be found in the running program;
 *  - a function that is redirected is defined in new.o and in pre.o under the same refname, which
 *    the manifest lists. A reference to it by that symbol means the address of the ORIGINAL
 *    function (so that stored pointers survive an undo; the original's entry leads to the new
 *    code). A reference to its new code itself (jump tables, the way back from a .cold part) goes
 *    by the section symbol;
 *  - pre.o holds all code of the changed compilation units and the read-only data it refers to, to
 *    be compared with the running code, and never loaded.
 *
 * Nothing here knows of processes.
 */
#ifndef USPL_UPDATE_UPDATE_H
#define USPL_UPDATE_UPDATE_H

#include "base/error.h"
#include "base/strvec.h"
#include "base/vec.h"
#include "objfile/objfile.h"
#include "trust/signature.h"
#include "uspl/hook.h"

/*
 * The newest format; format 1, which has no `matched`, 2, without `after`, 3, without `package`,
 * `version` and `upgrade`, 4, without hooks and answers, 5, without `replaces`, states and data,
 * and 6, without `by_thread`, are read, too. An update is written in the oldest one, from 4 on,
 * that has all that is in it.
 */
#define UPDATE_FORMAT 7
#define UPDATE_FORMAT_STATES 6
#define UPDATE_FORMAT_HOOKS 5
#define UPDATE_FORMAT_PLAIN 4

/* A function that the update redirects. */
struct update_function {
	char *name;   /* as people call it: "parse" */
	char *symbol; /* its refname in new.o and pre.o */
	char *unit;   /* "src/proto.c" */
	char *reason; /* why it is in: "changed", "inlined callee 'f' changed", ... */
};

/* A function of the new code that runs in the process when the update is applied or undone. */
struct update_hook {
	enum uspl_hook_kind kind;
	char *name;   /* as people call it: "ready" */
	char *symbol; /* its refname in new.o */
	char *unit;
};

/* What the update makes of the program's data (USPL_STATE of uspl/hook.h). */
struct update_state {
	char *name;
	uint32_t number; /* from 1 on */
	char *symbol;    /* refname of the variable of new.o that asks; NULL: nothing asks */
};

/*
 * An initial value that changes, of a variable that new code reads: a process in which it still is
 * the old one gets the new one in the switch.
 */
#define UPDATE_DATUM_MAX 16

struct update_datum {
	char *symbol; /* its refname, which new.o refers to */
	uint8_t len;
	uint8_t was[UPDATE_DATUM_MAX], is[UPDATE_DATUM_MAX];
};

/* Where a function of the pre code lies in a file, by the addresses it was linked for. */
struct update_place {
	char *symbol; /* its refname in pre.o */
	uint64_t addr;
};

/* A shipped build of a target that was matched when the update was made. */
struct update_match {
	char *build_id; /* in hex */
	char *file;     /* for people: where it was then */
	VEC(struct update_place) places;
};

/* A program or library that the update changes. */
struct update_target {
	char *name;     /* file name of what was linked: "redis-server", "libfoo.so.1" */
	char *path;     /* the same with its folders, relative to the tree */
	char *soname;   /* DT_SONAME of a library, NULL if none */
	char *compiler; /* .comment of the objects, e.g. "GCC: (GNU) 12.2.0"; NULL if unknown */
	char *producer; /* the same with the options, as their debugging information has it; NULL */
	strvec build_ids; /* in hex: the builds that this update was made for */
	VEC(struct update_function) functions;
	VEC(struct update_hook) hooks; /* in the order of units and lines */
	strvec answers; /* names of what would have been refused if the author hadn't seen to it */
	VEC(struct update_state) states;
	VEC(struct update_datum) data;
	VEC(struct update_match) matched;
	struct objfile *new_code, *pre_code;
	/*
	 * A copy of new_code with debugging information, which has a file of its own
	 * (debug_file.h); NULL: none.
	 */
	struct objfile *debug;
};

/* The file that an update was read from; all of it is empty for an unpacked one. */
struct update_file {
	char digest[DIGEST_HEX];
	struct buf bytes, signature; /* kept where the signature was looked for */
	struct signature_signer signer;
};

/*
 * The versions of a distribution's package that an update leads between. All NULL: it was made from
 * a diff of which no version is known to have it.
 */
struct update_upgrade {
	char *source; /* the source package: "memcached" */
	char *from;   /* its version that the processes run: "1.6.18-1" */
	char *to;     /* the version that has what the update changes, as all later ones */
	char *change; /* the one change of the difference that it brings; NULL: it brings all */
	/* The names of the changes of which no update is made, ", " between them; NULL: none. */
	char *left_out;
};

struct update {
	char *id;          /* [A-Za-z0-9_.-], 1 to 63 characters */
	char *description; /* one line, may be "" */
	char *created;     /* ISO 8601, UTC */
	char *tool;        /* "uspl 0.1.0" */
	char *package;     /* the source package that it was made from, NULL if unknown */
	char *version;     /* of that */
	char *patch;       /* the source diff */
	size_t patch_len;
	strvec after;    /* the updates that the source of this one has in it */
	bool by_thread;  /* threads may go over one by one, says its author */
	strvec replaces; /* those that it was made without, and whose place it takes */
	VEC(struct update_target) targets;
	struct update_file file;
	struct update_upgrade upgrade;
};

/*
 * Reads an update from a tarball, or from the folder of an unpacked one. USPL_E_FILE: not an
 * archive, cut short, a part missing or damaged. USPL_E_HOSTILE: names that leave the folder,
 * links, excessive sizes. USPL_E_FORMAT: a newer format, another architecture. Nothing is written
 * to disk. A tarball is unpacked by a process without rights (unpack.h).
 */
int update_read(const char *path, struct update **ret, struct uspl_err *err) uspl_must_check;
/*
 * The same for an update that is to be applied or enabled: its signature is checked first
 * (signature_check_file), on the bytes that are then taken apart, before anything of them is looked
 * at. USPL_E_UNTRUSTED: it isn't a good one, or there is none and the terms ask for it, as of every
 * unpacked update. The bytes and the signature stay in update->file.
 */
int update_read_signed(const char *path, const struct signature_terms *terms, struct update **ret,
		       struct uspl_err *err) uspl_must_check;
/* The same without a look at the signature, for a command that makes one. */
int update_read_kept(const char *path, struct update **ret, struct uspl_err *err) uspl_must_check;
/*
 * The same for a command that does nothing else with files: when the tarball's bytes are there, and
 * before they are looked at, it gives up all that it doesn't need any more (base/confine.h). An
 * unpacked update's folder has more files to open: then it keeps the right to read.
 */
int update_read_confined(const char *path, struct update **ret,
			 struct uspl_err *err) uspl_must_check;
/* The same from a tarball's bytes. */
int update_read_memory(const void *data, size_t len, struct update **ret,
		       struct uspl_err *err) uspl_must_check;
/* Appends the tarball. The bytes depend only on the update. */
int update_pack(struct update *update, struct buf *ret, struct uspl_err *err) uspl_must_check;
/*
 * Writes the tarball; path is its full name. Leaves no partial file behind.
 */
int update_write(struct update *update, const char *path, struct uspl_err *err) uspl_must_check;
/* An empty update; update_free takes everything reachable, the objfiles included. */
struct update *update_new(void);
void update_free(struct update *update);
DEFINE_AUTO_FREE(update, struct update, update_free)
#define auto_update __attribute__((cleanup(cleanup_update_)))

/* Takes all targets out of it again. */
void update_drop_targets(struct update *update);
/* True if one of the targets has hooks. */
bool update_has_hooks(const struct update *update);
/* True if one of the targets has initial values that change. */
bool update_has_data(const struct update *update);
/* True for a library: it has a soname, or a name like "plugin.so", "libfoo.so.1.2". */
bool update_target_is_library(const struct update_target *target);
/* True if id has the form above. */
bool update_id_valid(const char *id);
/* True for a word of a command line that ends in .tar.gz, or is an unpacked update's folder. */
bool update_is_path(const char *word);
/*
 * The id of the update that a command line means: the word itself or, if that is the path of a
 * tarball or folder, the id in there, which is read. "uspl-ID" and, if there is no such file here,
 * "uspl-ID.tar.gz" are as good as the id. Allocated. Errors of update_read.
 */
int update_named(const char *word, char **ret, struct uspl_err *err) uspl_must_check;

#endif
