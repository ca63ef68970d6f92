#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# enable.py - an update that a machine is to have, or not
"""Enables and disables an update."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: enable
short_description: Keep an update for all that is started on a machine, or keep it no longer
description:
  - Runs C(uspl-enable), which applies the update to what runs, too, and C(uspl-disable).
  - C(uspl-watch), a service, applies it to what is started later.
options:
  update:
    description: The update's file on the machine; its id is enough if I(state) is C(absent).
    type: str
    required: true
  state:
    description: Whether it is to be kept.
    type: str
    choices: [present, absent]
    default: present
  later:
    description: Leave the processes that run now as they are.
    type: bool
    default: false
  undo:
    description: With I(state=absent) take it out of all processes, too.
    type: bool
    default: false
extends_documentation_fragment: [uspl.live.options]
'''

EXAMPLES = r'''
- uspl.live.enable:
    update: /root/uspl-k3x9.tar.gz
- uspl.live.enable:
    update: k3x9
    state: absent
    undo: true
'''

RETURN = r'''
id:
  description: The update's id.
  returned: always
  type: str
'''

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.uspl.live.plugins.module_utils.uspl import Uspl


def present(uspl, module):
    """Keeps it. Changed if it wasn't kept, or processes have got it."""
    path = module.params['update']
    update = uspl.update_of(path)
    kept = [u for u in uspl.json('list', []) if u['id'] == update['id']]
    missing = [p for u in kept for p in u['processes'] if p['state'] != 'applied']
    same = bool(kept) and kept[0]['sha256'] == update['sha256'] and 'error' not in kept[0]
    if module.check_mode:
        module.exit_json(changed=not same or bool(missing and not module.params['later']),
                         id=update['id'])
    status, out, err = uspl.run('enable', ['--later'] * module.params['later'] + [path])
    lines = out.splitlines()
    changed = not same or any(line.startswith('applied ') for line in lines)
    if status:
        uspl.fail('enable', status, err, changed=changed, stdout=out)
    module.exit_json(changed=changed, id=update['id'], stdout=out)


def absent(uspl, module):
    """Keeps it no longer. Changed if it was kept, or is taken back."""
    name = module.params['update']
    if os.path.exists(name):
        name = uspl.update_of(name)['id']
    kept = any(u['id'] == name for u in uspl.json('list', []))
    applied = module.params['undo'] and any(u['id'] == name for u in uspl.json('view', []))
    if module.check_mode or not (kept or applied):
        module.exit_json(changed=kept or applied, id=name)
    command = ('disable', ['--undo'] * module.params['undo']) if kept else ('undo', [])
    status, out, err = uspl.run(command[0], command[1] + [name])
    if status:
        uspl.fail(command[0], status, err, changed=kept, stdout=out)
    module.exit_json(changed=True, id=name, stdout=out)


def main():
    """The module."""
    module = AnsibleModule(dict(
        update=dict(type='str', required=True),
        state=dict(type='str', choices=['present', 'absent'], default='present'),
        later=dict(type='bool', default=False),
        undo=dict(type='bool', default=False),
        bindir=dict(type='path')), supports_check_mode=True)
    (present if module.params['state'] == 'present' else absent)(Uspl(module), module)


if __name__ == '__main__':
    main()
