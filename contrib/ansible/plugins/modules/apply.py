#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# apply.py - an update in the processes that run now
"""Applies an update."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: apply
short_description: Put an update into running processes
description:
  - Runs C(uspl-apply). A process that has the update already is left alone. In check mode
    C(uspl-apply --check) says in which processes it would be applied.
  - Without any of I(pids), I(exe), I(unit), I(user) all processes are meant that the update is for.
options:
  update:
    description: The update's file on the machine, uspl-ID.tar.gz, its signature beside it.
    type: path
    required: true
  must_run:
    description: Fail where no process runs what the update is for.
    type: bool
    default: false
extends_documentation_fragment: [uspl.live.options, uspl.live.options.switching]
'''

EXAMPLES = r'''
- uspl.live.apply:
    update: /root/uspl-k3x9.tar.gz
    unit: [nginx]
'''

RETURN = r'''
processes:
  description: What uspl-apply says of each process.
  returned: always
  type: list
  elements: dict
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.uspl.live.plugins.module_utils.uspl import (
    NOTHING_RUNS, SELECTORS, SWITCHING, Uspl, says, would_change)


def main():
    """The module."""
    module = AnsibleModule(dict(SELECTORS, update=dict(type='path', required=True),
                                must_run=dict(type='bool', default=False), **SWITCHING),
                           supports_check_mode=True)
    uspl = Uspl(module)
    status, processes, err = uspl.lines('apply', uspl.selected() + uspl.switching() +
                                        [module.params['update']])
    nothing = not processes and says(err, NOTHING_RUNS)
    # With --check a busy process is one that would have to be waited for.
    busy = module.check_mode and processes and all(p['state'] != 'failed' for p in processes) and \
        all(p['state'] != 'refused' for p in processes)
    if status and not (nothing and not module.params['must_run']) and not busy:
        uspl.fail('apply', status, err, processes=processes,
                  changed=would_change(processes) and not module.check_mode)
    module.exit_json(changed=would_change(processes), processes=processes)


if __name__ == '__main__':
    main()
