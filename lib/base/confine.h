/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.h - a command that only looks gives up what it doesn't need, before it looks
 *
 * What strangers made is parsed by code of our own and of libraries, which may have bugs. A command
 * that reads and prints needs only those of root's powers that let it read: so it keeps only these.
 * docs/security.md says what is left.
 */
#ifndef USPL_BASE_CONFINE_H
#define USPL_BASE_CONFINE_H

enum confine {
	CONFINE_LOOK,   /* at processes: their memory can be read, and all files */
	CONFINE_SCREEN, /* the same, and the terminal's modes can be set */
	CONFINE_FILE,   /* at a file that is open: nothing else can be opened */
};

/*
 * From here on this process, which must have one thread, can't get new privileges, loses all
 * capabilities but those for reading processes (CONFINE_FILE: all of them), and can make only the
 * system calls that reading and printing take: it can't write to files or other processes, start
 * programs, signal others or use the network; other calls fail with EPERM. Where the kernel has no
 * seccomp, or another filter forbids this one, it goes on with what could be given up. Costs some
 * 100 us.
 */
void confine(enum confine how);

#endif
