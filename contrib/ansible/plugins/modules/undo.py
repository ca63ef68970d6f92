#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# undo.py - an update taken out of the processes that have it
"""Takes an update back."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: undo
short_description: Take an update back
description:
  - Runs C(uspl-undo). That no process has the update is no failure. In check mode
    C(uspl-undo --check) says in which processes it would be undone.
  - Without any of I(pids), I(exe), I(unit), I(user) all processes are meant that have it.
options:
  id:
    description: The update's id, or its file on the machine.
    type: str
    required: true
extends_documentation_fragment: [uspl.live.options, uspl.live.options.switching]
'''

EXAMPLES = r'''
- uspl.live.undo:
    id: k3x9
'''

RETURN = r'''
processes:
  description: What uspl-undo says of each process.
  returned: always
  type: list
  elements: dict
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.uspl.live.plugins.module_utils.uspl import (
    NOT_APPLIED, SELECTORS, SWITCHING, Uspl, says, would_change)


def main():
    """The module."""
    module = AnsibleModule(dict(SELECTORS, id=dict(type='str', required=True), **SWITCHING),
                           supports_check_mode=True)
    uspl = Uspl(module)
    status, processes, err = uspl.lines('undo', uspl.selected() + uspl.switching() +
                                        [module.params['id']])
    nothing = not processes and says(err, NOT_APPLIED)
    busy = module.check_mode and processes and all(p['state'] in ('ready', 'busy', 'undone')
                                                   for p in processes)
    if status and not nothing and not busy:
        uspl.fail('undo', status, err, processes=processes,
                  changed=would_change(processes) and not module.check_mode)
    module.exit_json(changed=would_change(processes), processes=processes)


if __name__ == '__main__':
    main()
