# SPDX-License-Identifier: GPL-3.0-or-later
# resume.py PORT - comes back to a session without the extended master secret that it had, which a
# server has to refuse, and prints how the server says so
import socket
import ssl
import sys

NO_EXTENDED_MASTER_SECRET = 1  # SSL_OP_NO_EXTENDED_MASTER_SECRET

context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.maximum_version = ssl.TLSVersion.TLSv1_2


def connect(session):
    plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
    with context.wrap_socket(plain, session=session) as link:
        link.sendall(b"GET / HTTP/1.0\r\n\r\n")
        while link.recv(65536):
            pass
        return link.session


session = connect(None)
context.options |= NO_EXTENDED_MASTER_SECRET
try:
    connect(session)
    print("accepted")
except ssl.SSLError as error:
    print(error.reason)
