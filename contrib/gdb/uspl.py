# SPDX-License-Identifier: GPL-3.0-or-later
# uspl.py - gdb knows the functions that updates have brought into a process
#
# gdb reads it by itself from /etc/gdb/gdbinit.d (Debian) or /etc/gdbinit.d (Fedora), or after
# `source .../uspl.py` in ~/.gdbinit. When gdb has attached to a process, or has opened a core dump,
# uspl-view is asked which updates are there, and writes what gdb is to know of them into a file.
# While gdb holds a process no update can come or go, so once is enough.
#
# Source lines, types and variables are known of updates whose files uspl-ID.debug are found
# (uspl-create --debug-file): in the folders of `set uspl debug-directory`, in the folder uspl below
# those of `set debug-file-directory`, in /usr/lib/debug/uspl, and beside updates that are enabled.
"""Names and source lines of new code that uspl has brought into a process."""

import atexit
import itertools
import os
import re
import shutil
import subprocess
import tempfile

import gdb

SECONDS = 20
seen = set()
loaded = {}
folder = []
numbers = itertools.count(1)


def debug_folders():
    """Where debugging information of updates may be, besides where uspl-view looks by itself."""
    own = (gdb.parameter("uspl debug-directory") or "").split(":")
    common = (gdb.parameter("debug-file-directory") or "").split(":")
    all_of_them = own + [os.path.join(name, "uspl") for name in common if name]
    return [name for name in all_of_them if name and os.path.isdir(name)]


def symbol_file(target):
    """Has uspl-view write a file; None if there is no update, or it can't be told."""
    view = shutil.which("uspl-view")
    if not view:
        return None
    if not folder:
        folder.append(tempfile.mkdtemp(prefix="uspl-gdb-"))
        atexit.register(shutil.rmtree, folder[0], ignore_errors=True)
    # Each time another one: uspl-view takes no folder for sources that is there.
    path = os.path.join(folder[0], "%d.symbols" % next(numbers))
    try:
        done = subprocess.run(
            [view, "--symbols=" + path, "--sources=" + path + ".sources"]
            + ["--debug-dir=" + name for name in debug_folders()]
            + target,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return path if done.returncode == 0 else None


def add_symbols(key, target):
    """Tells gdb of a process's updates, once."""
    if key in seen:
        return
    seen.add(key)
    path = symbol_file(target)
    if path:
        gdb.execute("add-symbol-file " + path, False, True)
        loaded[key] = path


def core_of_target():
    """The core dump that gdb has opened, None if it has none."""
    found = re.search(r"core dump file:\n\s*`(.*)', file type", gdb.execute("info target", False, True))
    return found.group(1) if found else None


def on_stop(_event):
    """gdb has attached, or the process has stopped anew."""
    pid = gdb.selected_inferior().pid
    core = core_of_target() if pid and pid not in seen else None
    if pid and not core:
        add_symbols(pid, [str(pid)])


def on_objfile(_event):
    """gdb reads the files of a process: that of a core dump doesn't stop."""
    pid = gdb.selected_inferior().pid
    core = core_of_target() if pid else None
    if core:
        add_symbols(core, ["--core=" + core])


def on_exit(_event):
    """The pid may become another process's; gdb may hold this one again when it has changed."""
    seen.discard(gdb.selected_inferior().pid)
    loaded.pop(gdb.selected_inferior().pid, None)


class DebugDirectory(gdb.Parameter):
    """Folders with debugging information of updates (uspl-ID.debug), with colons between."""

    set_doc = "Set where debugging information of updates is looked for."
    show_doc = "Show where debugging information of updates is looked for."

    def __init__(self):
        super().__init__("uspl debug-directory", gdb.COMMAND_FILES, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_set_string(self):
        """What is known already is asked for once more."""
        pid = gdb.selected_inferior().pid
        for key in [key for key in loaded if key == pid or isinstance(key, str)]:
            gdb.execute("remove-symbol-file " + loaded.pop(key), False, True)
            seen.discard(key)
        if pid:
            on_stop(None)
            on_objfile(None)
        return ""

    def get_show_string(self, value):
        """As gdb shows its own folders."""
        return 'The directory with debugging information of updates is "%s".' % value


gdb.Command("set uspl", gdb.COMMAND_FILES, gdb.COMPLETE_NONE, True)
gdb.Command("show uspl", gdb.COMMAND_FILES, gdb.COMPLETE_NONE, True)
DebugDirectory()


gdb.events.stop.connect(on_stop)
gdb.events.new_objfile.connect(on_objfile)
gdb.events.exited.connect(on_exit)
