#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# facts.py - what a machine's processes have, and what they are to have
"""Facts of uspl."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: facts
short_description: Which updates are applied and enabled on a machine
description:
  - Sets the fact C(uspl), with C(installed), C(version), C(updates), which is what
    C(uspl-view --json) prints, and C(enabled), which is what C(uspl-list --json) prints.
  - Nothing is changed, and a machine without uspl is no failure.
extends_documentation_fragment: [uspl.live.options]
'''

EXAMPLES = r'''
- uspl.live.facts:
- ansible.builtin.debug:
    msg: "{{ ansible_facts.uspl.updates | map(attribute='id') }}"
'''

RETURN = r'''
ansible_facts:
  description: The facts.
  returned: always
  type: dict
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.uspl.live.plugins.module_utils.uspl import Uspl


def main():
    """The module."""
    module = AnsibleModule(dict(bindir=dict(type='path')), supports_check_mode=True)
    uspl = Uspl(module)
    facts = dict(installed=False, version=None, updates=[], enabled=[])
    if module.get_bin_path('uspl', required=False, opt_dirs=uspl.bindir):
        version = module.run_command([module.get_bin_path('uspl', opt_dirs=uspl.bindir),
                                      '--version'])[1].split()
        facts = dict(installed=True, version=version[-1] if version else None,
                     updates=uspl.json('view', []), enabled=uspl.json('list', []))
    module.exit_json(changed=False, ansible_facts=dict(uspl=facts))


if __name__ == '__main__':
    main()
