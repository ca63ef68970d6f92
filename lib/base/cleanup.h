/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cleanup.h - locals that release themselves
 *
 * For memory and files of the tool only. Changes to the target are undone by visible goto labels in
 * reverse order, so that a reader sees what is put back and when.
 */
#ifndef USPL_BASE_CLEANUP_H
#define USPL_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir_(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define auto_free __attribute__((cleanup(cleanup_free_)))
#define auto_close __attribute__((cleanup(cleanup_close_)))
#define auto_fclose __attribute__((cleanup(cleanup_fclose_)))
#define auto_closedir __attribute__((cleanup(cleanup_closedir_)))

/*
 * Makes `auto_NAME` for a type with a NAME_free(T *): DEFINE_AUTO_FREE(objfile, struct objfile,
 * objfile_free) lets a function write `auto_objfile struct objfile *obj = NULL;`.
 */
#define DEFINE_AUTO_FREE(name, type, fn)                                                           \
	static inline void cleanup_##name##_(type **p)                                             \
	{                                                                                          \
		fn(*p);                                                                            \
	}

/* The same for a struct in the caller's memory with a NAME_release(T *). */
#define DEFINE_AUTO_RELEASE(name, type, fn)                                                        \
	static inline void cleanup_##name##_(type *p)                                              \
	{                                                                                          \
		fn(p);                                                                             \
	}

/* Hands a pointer out of an auto variable: `*ret = take_ptr(obj); return 0;` */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

/* The same for a file descriptor. */
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#endif
