/* SPDX-License-Identifier: GPL-3.0-or-later */
/* service.h - the processes of a systemd unit: those in its control group */
#ifndef USPL_MACHINE_SERVICE_H
#define USPL_MACHINE_SERVICE_H

#include "base/types.h"

/*
 * True if a process whose /proc/PID/cgroup is `text` belongs to the unit: in one of its control
 * groups (of any hierarchy, version 1 or 2) a part of the path is called so. A name without a
 * suffix of systemd's is that of a service; one that begins with '/' is the path of a control
 * group, which counts with all below it. `system`: units of users (below user@UID.service) don't
 * count, unless by path.
 */
bool service_has(const char *text, const char *name, bool system);

#endif
