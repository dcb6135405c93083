#!/usr/bin/python3
"""A small HTTP service to try `use = "service"` with: it counts what was posted.

GET  /health         200 once it serves
GET  /work           computes for a while
POST /count          adds one, and keeps a book of it
GET  /books          whether the count is what the book says
"""

import argparse
import http.server
import os
import signal
import sys
import threading
import time


def options():
    """The words it was started with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1", help="where it listens")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--steps", type=int, default=2000, help="additions of an answer to /work")
    parser.add_argument("--slow-s", type=float, default=0, help="seconds of a slow warm-up")
    parser.add_argument("--ready-s", type=float, default=0, help="seconds until it listens")
    parser.add_argument("--lose", type=int, default=0, help="lose each so-manyth count")
    parser.add_argument("--die", type=int, default=0, help="end at so many requests")
    parser.add_argument("--deaf", action="store_true", help="do not end when asked to")
    return parser.parse_args()


class State:
    """What has happened so far."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.requests = 0
        self.counted = 0
        self.booked = 0

    def seen(self):
        """Another request; the last one where it is to die."""
        with self.lock:
            self.requests += 1
            if self.requests == self.wanted.die:
                print("tiny: as many as I was to take", file=sys.stderr, flush=True)
                signal.raise_signal(signal.SIGKILL)

    def count(self):
        """Adds one to both, or loses one."""
        with self.lock:
            self.booked += 1
            if not (self.wanted.lose and self.booked % self.wanted.lose == 0):
                self.counted += 1

    def work(self):
        """As many steps as were wanted, and more while it is cold."""
        left = self.wanted.slow_s - (time.monotonic() - self.began)
        slower = 1 + 30 * left / self.wanted.slow_s if left > 0 else 1
        return sum(range(int(self.wanted.steps * slower)))


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests on connections that stay open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Head and body leave in one piece.
    wbufsize = -1

    def do_GET(self):
        state = self.server.state
        state.seen()
        if self.path == "/health":
            self.answer(200, "fine")
        elif self.path == "/work":
            self.answer(200, str(state.work()))
        elif self.path == "/books":
            with state.lock:
                books = (state.counted, state.booked)
            said = "balanced" if books[0] == books[1] else "broken"
            self.answer(200, f"{said}: {books[0]} of {books[1]}")
        else:
            self.answer(404, "there is no such page")

    def do_POST(self):
        state = self.server.state
        state.seen()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        state.count()
        self.answer(201, "counted")

    def answer(self, status, text):
        """One answer."""
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing: writing would be part of what is measured."""


class Server(http.server.ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 128


def main():
    wanted = options()
    # An exception of the handler would be lost where Python was removing a thread that had ended.
    signal.signal(signal.SIGTERM, signal.SIG_IGN if wanted.deaf else lambda *_: os._exit(0))
    time.sleep(wanted.ready_s)
    server = Server((wanted.address, wanted.port), Handler)
    server.state = State(wanted)
    server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
