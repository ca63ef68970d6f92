# SPDX-License-Identifier: GPL-3.0-or-later
# https.py CERTIFICATE FOLDER REQUESTS - serves a folder by https, on a port of the kernel's choice,
# which it prints; a line of the file REQUESTS is a path that was asked for
#
# Some paths are not those of files: /endless/... never ends, /away/... leads to http, /silent/...
# says nothing, /moved/... leads to the file.
import http.server
import ssl
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=sys.argv[2])

    def do_GET(self):
        with open(sys.argv[3], "a", encoding="utf-8") as requests:
            requests.write(self.path + "\n")
        kind, _, rest = self.path[1:].partition("/")
        if kind == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        elif kind in ("away", "moved"):
            to = "http://127.0.0.1:9/" if kind == "away" else "/"
            self.send_response(302)
            self.send_header("Location", to + rest)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif kind == "silent":
            threading.Event().wait()
        else:
            super().do_GET()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
