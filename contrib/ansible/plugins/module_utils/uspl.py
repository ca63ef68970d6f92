# SPDX-License-Identifier: GPL-3.0-or-later
# uspl.py - what the modules have in common: how the commands are run, and what they print
"""How the modules run uspl's commands. Each command's JSON is a contract (docs/json.md)."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json

# Which processes are meant. None of these: all that the update is for.
SELECTORS = dict(
    pids=dict(type='list', elements='int'),
    exe=dict(type='list', elements='path'),
    unit=dict(type='list', elements='str'),
    user=dict(type='list', elements='str'),
)

SWITCHING = dict(
    wait=dict(type='float'),
    max_pause=dict(type='float'),
    bindir=dict(type='path'),
)

# What uspl says where nothing runs that an update is for: no failure on one of many machines.
NOTHING_RUNS = ('runs what the update is for', 'there is no process for ')
# And where it is taken back already.
NOT_APPLIED = ('is not applied in any process', 'is in none of the processes',
               'there is no process for ', 'has the update')


class Uspl(object):
    """The commands of one machine."""

    def __init__(self, module):
        self.module = module
        self.bindir = [module.params['bindir']] if module.params.get('bindir') else []

    def run(self, name, args):
        """Runs uspl-NAME: its status, standard output, and messages."""
        program = self.module.get_bin_path('uspl-' + name, required=False, opt_dirs=self.bindir)
        if program is None:
            self.module.fail_json(msg='uspl-%s is not installed on this machine' % name)
        return self.module.run_command([program] + args)

    def json(self, name, args):
        """The same for a command that prints one JSON value."""
        status, out, err = self.run(name, ['--json'] + args)
        try:
            return json.loads(out)
        except ValueError:
            return self.fail(name, status, err)

    def lines(self, name, args):
        """The same for one that prints an object a process, one to a line."""
        status, out, err = self.run(name, ['--json'] + args)
        try:
            return status, [json.loads(line) for line in out.splitlines()], err
        except ValueError:
            return self.fail(name, status, err)

    def fail(self, name, status, err, **result):
        """Ends the task with what the command has said."""
        said = [line for line in err.splitlines() if not line.startswith('note: ')]
        message = said[0] if said else 'uspl-%s ended with status %d' % (name, status)
        self.module.fail_json(msg=message, rc=status, stderr=err, **result)

    def selected(self):
        """The arguments that select processes, and the pids that are named."""
        params, words = self.module.params, []
        for name in ('exe', 'unit', 'user'):
            words += ['--%s=%s' % (name, value) for value in params[name] or []]
        # A pid that is named has no "changed" of its own, and is one of all as well.
        words += ['--only=%d' % pid for pid in params['pids'] or []]
        return words if words else ['--all']

    def switching(self):
        """The arguments of a switch."""
        params, words = self.module.params, []
        if params['wait'] is not None:
            words.append('--wait=%g' % params['wait'])
        if params['max_pause'] is not None:
            words.append('--max-pause=%g' % params['max_pause'])
        if self.module.check_mode:
            words.append('--check')
        return words

    def update_of(self, path):
        """Id and digest of an update's file."""
        return self.json('view', ['--file=' + path])


def would_change(objects):
    """True if a call has changed a process, or, with --check, would change one."""
    return any(o.get('changed') or o.get('state') in ('ready', 'busy') for o in objects)


def says(err, texts):
    """True if a message has one of the texts."""
    return any(text in err for text in texts)
