// SPDX-License-Identifier: GPL-3.0-or-later
// unserved.c - has memory that it is to fill in itself (userfaultfd), and never does

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEN 65536

int main(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) {
		puts("ready, but the kernel refuses");
		return 0;
	}
	for (int i = 0; i < 8; i++) {
		void *memory = mmap(NULL, LEN, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct uffdio_register range = { .range = { (unsigned long)memory, LEN },
						 .mode = UFFDIO_REGISTER_MODE_MISSING };

		if (memory == MAP_FAILED || ioctl(fd, UFFDIO_REGISTER, &range) != 0)
			puts("ready, but the kernel refuses");
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
