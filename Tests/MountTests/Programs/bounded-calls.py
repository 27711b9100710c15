#!/usr/bin/env python3
"""Makes every call that a mount can be asked for while its server does not answer, all at once.

usage: bounded-calls.py MOUNT SERVER_URL BUCKET PREFIX CONTROL_URL MODE LIMIT MARGIN

PREFIX is a folder of BUCKET in MOUNT, whose relay is switched at CONTROL_URL. Processes get ready while all is well:
three for each call, and more where a crowd wants the same file. Then the relay goes into MODE, and of the three

- `calls` makes its call: it must end within LIMIT + MARGIN seconds, with EIO, ETIMEDOUT or what needs no server;
- `killed` makes it too and is killed, and must be gone at once;
- `later` makes it when the relay works again: it must succeed, the first time, within LIMIT + MARGIN.

Prints what was not so, and exits 1.
"""
import contextlib
import errno
import json
import mmap
import os
import select
import signal
import sys
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

BIG = 6 << 20
CALLS = {}


class Call:
    """A generator that gets ready, yields, and makes the call; and what it finds in its folder."""

    def __init__(self, function, files, is_local, crowd):
        self.function, self.files, self.is_local, self.crowd = function, files, is_local, crowd


def call(*files, local=False, crowd=1):
    """- local: may succeed without a server. - crowd: how many make it at once, of one folder."""
    def declare(function):
        CALLS[function.__name__.replace("_", "-")] = Call(function, files, local, crowd)
        return function
    return declare


def opened(path, flags=os.O_RDONLY):
    return os.open(path, flags, 0o644)


# Reading

@call("file")
def open_and_read(base):
    os.listdir(base)
    yield
    with open(f"{base}/file", "rb") as file:
        assert file.read() == b"x" * 5


@call("big")
def read_on(base):
    file = opened(f"{base}/big")
    os.pread(file, 10, 0)
    yield
    assert os.pread(file, 10, BIG - 10) == b"x" * 10


@call("file", local=True)
def read_again(base):
    file = opened(f"{base}/file")
    os.pread(file, 5, 0)
    yield
    assert os.pread(file, 5, 0) == b"x" * 5


@call("deep/file")
def list_folder(base):
    yield
    assert os.listdir(f"{base}/deep") == ["file"]


@call("file", local=True)
def stat_what_is_known(base):
    os.stat(f"{base}/file")
    yield
    assert os.stat(f"{base}/file").st_size == 5


@call("deep/file")
def stat_what_is_not(base):
    yield
    assert os.stat(f"{base}/deep/file").st_size == 5


@call("deep/file")
def look_for_what_is_missing(base):
    yield
    try:
        os.stat(f"{base}/deep/none")
    except FileNotFoundError:
        pass


@call("deep/file", crowd=6)
def stat_in_a_crowd(base):
    yield
    assert os.stat(f"{base}/deep/file").st_size == 5


@call("file", local=True)
def statfs(base):
    yield
    os.statvfs(base)


@call("file", local=True)
def getxattr(base):
    os.stat(f"{base}/file")
    yield
    os.getxattr(f"{base}/file", "user.mime_type")
    os.listxattr(f"{base}/file")


@call("file", local=True)
def status(base):
    yield
    os.getxattr(MOUNT, "user.storage.status")


# Content

@call("file", local=True)
def write(base):
    file = opened(f"{base}/new", os.O_CREAT | os.O_WRONLY)
    yield
    os.write(file, b"written")


@call("file")
def write_and_close(base):
    file = opened(f"{base}/new", os.O_CREAT | os.O_WRONLY)
    yield
    os.write(file, b"written")
    os.close(file)


@call("file")
def overwrite(base):
    os.listdir(base)
    yield
    with open(f"{base}/file", "wb", buffering=0) as file:
        file.write(b"written")


@call("file")
def append(base):
    file = opened(f"{base}/file", os.O_APPEND | os.O_WRONLY)
    yield
    os.write(file, b"written")
    os.close(file)


@call("big")
def append_to_big(base):
    file = opened(f"{base}/big", os.O_APPEND | os.O_WRONLY)
    yield
    os.write(file, b"written")
    os.close(file)


@call("big")
def edit_big(base):
    file = opened(f"{base}/big", os.O_RDWR)
    yield
    os.pwrite(file, b"written", BIG // 2)
    os.close(file)


@call("file")
def write_big_and_close(base):
    file = opened(f"{base}/new", os.O_CREAT | os.O_WRONLY)
    os.write(file, bytes(20 << 20))
    yield
    os.write(file, b"written")
    os.close(file)


@call("file", crowd=6)
def fsync(base):
    file = opened(f"{base}/file", os.O_WRONLY)
    yield
    os.write(file, b"written")
    os.fsync(file)


@call("file")
def write_through_a_map(base):
    file = opened(f"{base}/new", os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, 4096)
    yield
    with mmap.mmap(file, 4096) as pages:
        pages[:7] = b"written"
        pages.flush()
    os.fsync(file)


@call("file")
def create_exclusively(base):
    os.listdir(base)
    yield
    os.close(opened(f"{base}/new", os.O_CREAT | os.O_EXCL | os.O_WRONLY))


@call("file")
def mknod(base):
    yield
    os.mknod(f"{base}/new")


@call("file")
def truncate(base):
    os.listdir(base)
    yield
    os.truncate(f"{base}/file", 2)


@call("file")
def truncate_by_handle(base):
    file = opened(f"{base}/file", os.O_RDWR)
    yield
    os.ftruncate(file, 2)
    os.fsync(file)


@call("file")
def allocate(base):
    file = opened(f"{base}/file", os.O_RDWR)
    yield
    os.posix_fallocate(file, 0, 100)
    os.close(file)


@call("file")
def copy_range(base):
    source, target = opened(f"{base}/file"), opened(f"{base}/copy", os.O_CREAT | os.O_WRONLY)
    yield
    os.copy_file_range(source, target, 100)
    os.close(target)


# Names

@call("file")
def rename(base):
    os.listdir(base)
    yield
    os.rename(f"{base}/file", f"{base}/moved")


@call("file", "other")
def rename_over_another(base):
    os.listdir(base)
    yield
    os.rename(f"{base}/file", f"{base}/other")


@call("d/one", "d/two", "d/three")
def rename_a_folder(base):
    os.listdir(f"{base}/d")
    yield
    os.rename(f"{base}/d", f"{base}/moved")


@call("file")
def unlink(base):
    os.listdir(base)
    yield
    os.unlink(f"{base}/file")


@call("big")
def unlink_what_is_open(base):
    file = opened(f"{base}/big")
    os.pread(file, 10, 0)
    yield
    os.unlink(f"{base}/big")


@call("file")
def mkdir(base):
    yield
    os.mkdir(f"{base}/d")


@call("file", "d/")
def rmdir(base):
    os.listdir(base)
    yield
    os.rmdir(f"{base}/d")


@call("file")
def symlink(base):
    yield
    os.symlink("file", f"{base}/link")


# Metadata

@call("file", crowd=6)
def setxattr(base):
    os.listdir(base)
    yield
    os.setxattr(f"{base}/file", "user.colour", str(os.getpid()).encode())


@call("file")
def removexattr(base):
    os.listdir(base)
    yield
    os.removexattr(f"{base}/file", "user.mime_type")


@call("file")
def set_times(base):
    os.listdir(base)
    yield
    os.utime(f"{base}/file", (1, 1))


@call("file")
def chmod(base):
    os.listdir(base)
    yield
    os.chmod(f"{base}/file", 0o600)


@call("d/")
def chmod_a_folder(base):
    os.listdir(base)
    yield
    os.chmod(f"{base}/d", 0o700)


class Caller:
    """A process that gets ready, waits until it is told, makes its call, and says how that went."""

    def __init__(self, role, name, number):
        self.name = f"{name} {number}" if CALLS[name].crowd > 1 else name
        self.call, self.base = CALLS[name], f"{MOUNT}/{PREFIX}/{role}/{name}"
        self.answers, answer = os.pipe()
        order, self.orders = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                self.run(answer, order)
            finally:
                os._exit(0)
        os.close(answer)
        os.close(order)
        Caller.ends += [self.answers, self.orders]

    ends = []

    def run(self, answer, order):
        begin = time.monotonic()
        for end in Caller.ends + [self.answers, self.orders]:
            os.close(end)

        def say(error, text=""):
            result = {"seconds": time.monotonic() - begin, "error": error, "text": text}
            with contextlib.suppress(BrokenPipeError):
                os.write(answer, json.dumps(result).encode() + b"\n")
        try:
            steps = self.call.function(self.base)
            next(steps)
            say(0)
            os.read(order, 1)
            begin = time.monotonic()
            next(steps, None)
            say(0)
        except OSError as problem:
            say(problem.errno, str(problem))
        except BaseException as problem:
            say(-1, repr(problem))
        os.read(order, 1)

    def hear(self, end):
        """What it says next; None if it says nothing before `end`."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                return None
            if not (byte := os.read(self.answers, 1)):
                return None
            line += byte
        return json.loads(line)

    def tell(self):
        os.write(self.orders, b"g")

    def is_gone_by(self, end):
        while os.waitpid(self.process, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True


def put(name):
    body = b"" if name.endswith("/") else b"x" * (BIG if name.endswith("big") else 5)
    quoted = urllib.parse.quote(name, safe="")
    urllib.request.urlopen(f"{SERVER}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quoted}", body).read()


def switch(mode):
    urllib.request.urlopen(f"{CONTROL}/{mode}").read()


problems = []


def expect(holds, *words):
    if not holds:
        problems.append(" ".join(map(str, words)))


def get_ready():
    names = [
        f"{PREFIX}/{role}/{name}/{file}" for name, each in CALLS.items() for file in each.files for role in ROLES]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, names))
    callers = {
        role: [Caller(role, name, number) for name, each in CALLS.items() for number in range(each.crowd)]
        for role in ROLES}
    for role in ROLES:
        for caller in callers[role]:
            said = caller.hear(time.monotonic() + 60)
            if not said or said["error"] != 0:
                sys.exit(f"{caller.name} does not get ready: {said}")
    return callers


def kill(callers):
    for caller in callers:
        os.kill(caller.process, signal.SIGKILL)
    end = time.monotonic() + 2.5  # A second of it is what the end of a process that has files open may take.
    for caller in callers:
        expect(caller.is_gone_by(end), caller.name, "outlives kill -9")


def judge_without_server(callers, end):
    for caller in callers:
        said = caller.hear(end)
        if said is None:
            expect(False, caller.name, "hangs")
            continue
        expect(said["seconds"] < LIMIT + MARGIN, caller.name, "took", said)
        may_be = {errno.EIO, errno.ETIMEDOUT} | ({0} if caller.call.is_local else set())
        expect(said["error"] in may_be, caller.name, "ended with", said)


def main():
    callers = get_ready()
    switch(MODE)
    for role in ("calls", "killed"):
        for caller in callers[role]:
            caller.tell()
    end = time.monotonic() + LIMIT + MARGIN
    time.sleep(min(1, LIMIT / 2))
    kill(callers["killed"])
    judge_without_server(callers["calls"], end)
    switch("forward")
    end = time.monotonic() + LIMIT + MARGIN
    for caller in callers["later"]:
        caller.tell()
    for caller in callers["later"]:
        said = caller.hear(end)
        expect(said is not None, caller.name, "hangs though all is well")
        expect(not said or said["error"] == 0, "all is well, and", caller.name, "ended with", said)
    print("\n".join(problems))
    os._exit(1 if problems else 0)


ROLES = ("calls", "killed", "later")
if len(sys.argv) != 9:
    sys.exit(__doc__)
MOUNT, SERVER, BUCKET, PREFIX, CONTROL, MODE = sys.argv[1:7]
LIMIT, MARGIN = map(float, sys.argv[7:])
main()
