// SPDX-License-Identifier: GPL-3.0-or-later
// slow.c - a file system (FUSE) with one file, of which every read waits for ever: slow FOLDER

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN 65536
#define FILE_ID 2
#define FOR_EVER 3600 /* the kernel needn't ask again */
/* Of the protocol's version that is spoken here: that of Linux 5.4. */
#define MINOR 31

static void reply(int fd, uint64_t request, int error, const void *data, size_t len)
{
	char out[512];
	struct fuse_out_header head = { (uint32_t)(sizeof(head) + len), error, request };

	memcpy(out, &head, sizeof(head));
	if (len)
		memcpy(out + sizeof(head), data, len);
	if (write(fd, out, head.len) < 0)
		perror("slow");
}

static struct fuse_attr attributes(uint64_t id)
{
	struct fuse_attr attr = { .ino = id, .nlink = 1, .blksize = 4096 };

	attr.mode = id == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755;
	attr.size = id == FUSE_ROOT_ID ? 0 : LEN;
	return attr;
}

static void serve(int fd, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = MINOR,
					    .max_write = 4096 };
	const struct fuse_entry_out entry = { .nodeid = FILE_ID,
					      .entry_valid = FOR_EVER,
					      .attr_valid = FOR_EVER,
					      .attr = attributes(FILE_ID) };
	const struct fuse_attr_out attr = { .attr_valid = FOR_EVER,
					    .attr = attributes(in->nodeid) };
	const struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char in[1 << 20] __attribute__((aligned(8)));
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (argc < 2 || fd < 0 ||
	    mount("slow", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		puts("ready, but the kernel refuses");
		return 0;
	}
	puts("ready");
	fflush(stdout);
	while (read(fd, in, sizeof(in)) > 0)
		serve(fd, (const struct fuse_in_header *)in);
	return 0;
}
