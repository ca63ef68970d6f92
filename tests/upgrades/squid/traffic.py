# SPDX-License-Identifier: GPL-3.0-or-later
# traffic.py - what a proxy and its neighbours have to do with each other
#
#     traffic.py origin                 a web server, whose port is printed; it ends with its input
#     traffic.py ask ICP-PORT URL       asks by ICP whether the proxy has that page, and prints the
#                                       opcode of the reply; "%00" in the URL is a NUL
#     traffic.py load PORT ICP-PORT ORIGIN
#                                       four clients of the proxy and a neighbour, until SIGTERM:
#                                       status 0 if every request was answered, and rightly
import http.client
import http.server
import signal
import socket
import struct
import sys
import threading

QUERY, ERROR = 1, 4


def icp(port, url):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(30)
        sock.bind(("127.0.0.2", 0))  # what comes from its own address the proxy takes for its own
        body = bytes(4) + url + b"\0"
        sock.sendto(struct.pack(">BBHIIII", QUERY, 2, 20 + len(body), 7, 0, 0, 0) + body, ("127.0.0.1", port))
        return sock.recv(65536)[0]


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"page {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def origin():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def load(port, icp_port, origin_port):
    ended, failures, asked = threading.Event(), [], [0] * 5
    signal.signal(signal.SIGTERM, lambda *_: ended.set())

    def client(number):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not ended.is_set():
            path = f"/{number}/{asked[number]}"
            link.request("GET", f"http://127.0.0.1:{origin_port}{path}")
            reply = link.getresponse()
            if reply.status != 200 or reply.read() != f"page {path}\n".encode():
                raise ValueError(f"{path}: {reply.status}")
            asked[number] += 1

    def neighbour(number):
        while not ended.is_set():
            if icp(icp_port, f"http://127.0.0.1:{origin_port}/".encode()) == ERROR:
                raise ValueError("ICP")
            asked[number] += 1
            ended.wait(0.01)

    def run(what, number):
        try:
            what(number)
        except Exception as error:  # each is a request that was lost
            failures.append(repr(error))
            ended.set()

    threads = [threading.Thread(target=run, args=(client if i else neighbour, i)) for i in range(5)]
    for thread in threads:
        thread.start()
    while not ended.wait(1):
        pass
    for thread in threads:
        thread.join()
    print(f"{sum(asked[1:])} pages, {asked[0]} questions, failures: {failures}", flush=True)
    sys.exit(1 if failures or 0 in asked else 0)


if sys.argv[1] == "origin":
    origin()
elif sys.argv[1] == "ask":
    print(icp(int(sys.argv[2]), sys.argv[3].encode().replace(b"%00", b"\0")))
else:
    load(*map(int, sys.argv[2:5]))
