#!/bin/busybox sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cases_inside.sh - what a machine of `cases` does: runs the case tests in a copy of the host's file
# system, and ends
#
# The host's files come by 9p, read-only; what is written goes to memory. Results are said on the
# second serial line.
#
# shellcheck shell=dash source=/dev/null
/bin/busybox --install -s /bin
PATH=/bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
exec > /dev/ttyS1 2>&1 < /dev/null

# end WHY... - the machine is done
end() {
	echo "$*"
	echo '1..0'
	sync
	poweroff -f
}

# Each needs some of the others.
for _ in 1 2 3 4; do
	for module in /modules/*; do
		insmod "$module" 2> /dev/null
	done
done
. /settings
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /lower || end 'no file system of the host'
mount -t tmpfs -o size=75% upper /upper || end 'no memory'
mkdir /upper/data /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /root || end 'no overlay'
mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t tracefs tracefs /root/sys/kernel/tracing 2> /dev/null
mount -t cgroup2 cgroup /root/sys/fs/cgroup 2> /dev/null
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm
ln -s /proc/self/fd /root/dev/fd
mount -t devpts devpts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t tmpfs run /root/run
case $project in
/tmp/*) ;;
*) mount -t tmpfs -o mode=1777 tmp /root/tmp ;;
esac
ifconfig lo 127.0.0.1 up
uname -r
chroot /root /bin/bash -c "cd '$project' && exec tests/run.sh cases"
end
