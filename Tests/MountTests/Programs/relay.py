#!/usr/bin/env python3
"""Relays connections to a server until it is told to misbehave, in the ways in which networks and servers die.

usage: relay.py TARGET_PORT

Prints the port that it relays and the port of its control, loopback both. GET /MODE there changes what it does:

  forward    passes everything on
  refuse     resets what is connected, and refuses what comes
  hole       answers no attempt to connect, and no byte moves on what is connected
  stall      accepts, and no byte moves any more
  stump      passes requests on, and of the answers to them only the first bytes
  trickle    passes requests on, and 20 bytes a second of the answers

A connection that was caught in a hole, a stall or a stump stays dead when all is well again, and nobody is told: so it
is after a suspend, or behind a router that has forgotten it.
"""
import http.server
import socket
import struct
import sys
import threading
import time

MODES = ("forward", "refuse", "hole", "stall", "stump", "trickle")
STUMP = 20


class Connection:
    """Two sockets and a thread for each direction."""

    def __init__(self, relay, client, server):
        self.relay, self.client, self.server = relay, client, server
        self.is_dead = False
        for source, sink, is_answer in ((client, server, False), (server, client, True)):
            threading.Thread(target=self.pump, args=(source, sink, is_answer), daemon=True).start()

    def pump(self, source, sink, is_answer):
        passed = 0
        try:
            while data := source.recv(1 << 16):
                mode = self.relay.mode
                if mode in ("hole", "stall"):
                    self.is_dead = True
                if mode == "stump":
                    data = data[: max(0, STUMP - passed)] if is_answer else data
                    self.is_dead = True
                elif self.is_dead:
                    return  # What comes later fills the buffers, as where nobody acknowledges it.
                if mode == "trickle" and is_answer:
                    self.trickle(sink, data)
                else:
                    sink.sendall(data)
                passed = passed + len(data) if mode == "stump" else 0
            if not self.is_dead:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            self.end(reset=True)

    def trickle(self, sink, data):
        for index in range(len(data)):
            if self.relay.mode != "trickle":
                return sink.sendall(data[index:])
            sink.sendall(data[index:index + 1])
            time.sleep(0.05)

    def end(self, reset):
        for end in (self.client, self.server):
            if reset:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Relay:
    def __init__(self, target):
        self.target, self.mode = target, "forward"
        self.lock, self.connections, self.fillers = threading.Lock(), [], []
        self.listener = self.listen(0)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def listen(self, port):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(256)
        return listener

    def accept(self):
        while True:
            with self.lock:
                listener, isOpen = self.listener, self.mode not in ("refuse", "hole")
            if not isOpen:
                time.sleep(0.01)
                continue
            listener.settimeout(0.05)
            try:
                client, _ = listener.accept()
            except OSError:
                continue
            with self.lock:
                if self.mode in ("refuse", "hole"):
                    client.close()
                    continue
                client.settimeout(None)
                server = socket.create_connection(("127.0.0.1", self.target))
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = Connection(self, client, server)
                connection.is_dead = self.mode == "stall"
                self.connections.append(connection)

    def switch(self, mode):
        with self.lock:
            before, self.mode = self.mode, mode
            for filler in self.fillers:
                filler.close()
            self.fillers = []
            if before == "refuse":
                self.listener = self.listen(self.port)
            if before == "hole":
                self.listener.listen(256)
            if mode == "refuse":
                self.listener.close()
                for connection in self.connections:
                    if not connection.is_dead:
                        connection.end(reset=True)
                self.connections = [each for each in self.connections if each.is_dead]
            if mode in ("hole", "stall"):
                for connection in self.connections:
                    connection.is_dead = True
            if mode == "hole":
                self.fill()

    def fill(self):
        """Connects until nobody else can."""
        self.listener.listen(0)
        while True:
            filler = socket.socket()
            filler.settimeout(0.2)
            self.fillers.append(filler)
            try:
                filler.connect(("127.0.0.1", self.port))
            except OSError:
                return


class Control(http.server.BaseHTTPRequestHandler):
    relay = None

    def do_GET(self):
        mode = self.path[1:]
        if mode in MODES:
            Control.relay.switch(mode)
        self.send_response(200 if mode in MODES else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Control.relay = Relay(int(sys.argv[1]))
    control = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
    print(Control.relay.port, control.server_address[1], flush=True)
    control.serve_forever()


main()
