# SPDX-License-Identifier: GPL-3.0-or-later
# options.py - what the documentation of several modules says of options
"""Options that modules have in common; module_utils/uspl.py has their types."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """Found by ansible-doc."""

    DOCUMENTATION = r'''
options:
  bindir:
    description: A folder to look for the commands in, before the usual ones.
    type: path
author: the uspl authors
'''

    SWITCHING = r'''
options:
  pids:
    description: These processes.
    type: list
    elements: int
  exe:
    description: Processes that run one of these programs.
    type: list
    elements: path
  unit:
    description: Processes of one of these systemd units, or of a control group by its path.
    type: list
    elements: str
  user:
    description: Processes of one of these users.
    type: list
    elements: str
  wait:
    description: How many seconds to wait for functions that are busy; uspl's own default is 10.
    type: float
  max_pause:
    description: Give up rather than stop a process's threads for more seconds than that.
    type: float
'''
