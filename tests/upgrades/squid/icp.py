# SPDX-License-Identifier: GPL-3.0-or-later
# icp.py PORT URL - asks a proxy by ICP (RFC 2186) for a URL, and prints the URL of its answer
import socket
import struct
import sys

payload = bytes(4) + sys.argv[2].encode() + b"\0"
query = struct.pack(">BBHIIII", 1, 2, 20 + len(payload), 7, 0, 0, 0) + payload
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.settimeout(20)
    udp.sendto(query, ("127.0.0.1", int(sys.argv[1])))
    answer = udp.recv(65536)
print(answer[20:].split(b"\0")[0].decode())
