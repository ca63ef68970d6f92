# SPDX-License-Identifier: GPL-3.0-or-later
# certificate.py PUBLIC-KEY CERTIFICATE - writes a certificate of that ed25519 key, for one
# principal that is called "a,b", and prints the public key of the authority that has signed it,
# whose secret one isn't kept. Its form is that of OpenSSH's PROTOCOL.certkeys; ssh-keygen takes the
# comma for a separator.
import base64
import ctypes
import ctypes.util
import os
import struct
import sys


def text(data):
    return struct.pack(">I", len(data)) + data


KIND, CERTIFICATE = b"ssh-ed25519", b"ssh-ed25519-cert-v01@openssh.com"
sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
sodium.crypto_sign_ed25519_keypair(public, secret)
authority = text(KIND) + text(public.raw)
key = base64.b64decode(open(sys.argv[1], encoding="ascii").read().split()[1])[-32:]
signed = (
    text(CERTIFICATE) + text(os.urandom(32)) + text(key) + struct.pack(">QI", 1, 1) + text(b"test")
    + text(text(b"a,b")) + struct.pack(">QQ", 0, 2**64 - 1) + text(b"") + text(b"") + text(b"") + text(authority)
)
made = ctypes.create_string_buffer(64)
sodium.crypto_sign_ed25519_detached(made, None, signed, ctypes.c_ulonglong(len(signed)), secret)
whole = signed + text(text(KIND) + text(made.raw))
with open(sys.argv[2], "w", encoding="ascii") as out:
    out.write(f"{CERTIFICATE.decode()} {base64.b64encode(whole).decode()}\n")
print(KIND.decode(), base64.b64encode(authority).decode())
