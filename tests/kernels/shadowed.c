// SPDX-License-Identifier: MIT
// shadowed.c - a program runs with a shadow stack: LD_PRELOAD=shadowed.so PROGRAM
/*
 * The C library of Debian 12 switches none on, and the kernel takes it away at exec. So it is
 * switched on in the place of __libc_start_main, from which nothing ever returns; threads and
 * children that are made later have one, too.
 *
 * With SHADOWED_BREAKS the program then returns to where it wasn't called from: it must die of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_SHSTK_ENABLE 0x5001
#define ARCH_SHSTK_SHSTK 1l

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
		       void (*)(void), void *);

int __libc_start_main(int (*main_function)(int, char **, char **), int argc, char **argv,
		      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
		      void *stack_end)
{
	start_main *real = (start_main *)dlsym(RTLD_NEXT, "__libc_start_main");
	int breaks = getenv("SHADOWED_BREAKS") != NULL;
	long rc = SYS_arch_prctl;

	__asm__ volatile("syscall"
			 : "+a"(rc)
			 : "D"(ARCH_SHSTK_ENABLE), "S"(ARCH_SHSTK_SHSTK)
			 : "rcx", "r11", "memory");
	if (rc != 0)
		_exit(77);
	if (breaks)
		__asm__ volatile("lea 1f(%%rip), %%rax\n\tpush %%rax\n\tret\n1:"
				 :
				 :
				 : "rax", "memory");
	_exit(real(main_function, argc, argv, init, fini, rtld_fini, stack_end));
}
