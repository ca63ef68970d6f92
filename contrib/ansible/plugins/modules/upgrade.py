#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# upgrade.py - processes that are older than their packages
"""Brings processes to the versions of their packages."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: upgrade
short_description: Bring running processes to the versions of their packages
description:
  - Runs C(uspl-upgrade): processes that run older code than the package that is installed, or
    offered, get an update of the difference, or the reason why they need a restart.
  - In check mode it says which processes are behind.
options:
  packages:
    description: These packages only.
    type: list
    elements: str
    default: []
  from:
    description: Take updates from this folder on the machine, and make none.
    type: path
  restart_is_failure:
    description: Fail if a process needs a restart.
    type: bool
    default: false
extends_documentation_fragment: [uspl.live.options]
'''

EXAMPLES = r'''
- uspl.live.upgrade:
    packages: [memcached]
    from: /srv/updates
  register: upgraded
- ansible.builtin.debug:
    msg: "{{ upgraded.restart_needed }}"
'''

RETURN = r'''
processes:
  description: What uspl-upgrade says of each process that has something of these packages.
  returned: always
  type: list
  elements: dict
restart_needed:
  description: Of these, the ones that need a restart, each with its messages.
  returned: always
  type: list
  elements: dict
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.uspl.live.plugins.module_utils.uspl import Uspl


def main():
    """The module."""
    module = AnsibleModule({
        'packages': dict(type='list', elements='str', default=[]),
        'from': dict(type='path'),
        'restart_is_failure': dict(type='bool', default=False),
        'bindir': dict(type='path'),
    }, supports_check_mode=True)
    uspl = Uspl(module)
    args = ['--dry-run'] * module.check_mode + module.params['packages']
    if module.params['from']:
        args.insert(0, '--from=' + module.params['from'])
    status, processes, err = uspl.lines('upgrade', args)
    processes = [p for p in processes if p['packages']]
    parts = [part for p in processes for part in p['packages']]
    restart = [p for p in processes
               if any(part['state'] == 'restart-needed' for part in p['packages'])]
    changed = any(part['changed'] or part['state'] == 'behind' for part in parts)
    # Status 1 is that of processes that need a restart.
    if (status and not (status == 1 and restart)) or \
            (restart and module.params['restart_is_failure']):
        uspl.fail('upgrade', status, err, processes=processes, restart_needed=restart,
                  changed=changed and not module.check_mode)
    module.exit_json(changed=changed, processes=processes, restart_needed=restart)


if __name__ == '__main__':
    main()
