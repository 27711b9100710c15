#!/usr/bin/env python3
"""usage: scripts/kill-campaign.py [--runs N] [--seed N] [--write-back] [--firemount PROGRAM]

Mounts a local bucket, works in it with several writers, kills the mount with SIGKILL at a random moment, mounts again,
and compares with what was acknowledged. Prints how many runs and files were looked at, and what was lost (nothing).
Needs root and /dev/fuse."""
import argparse, errno, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time
import urllib.error, urllib.parse, urllib.request


class File:
    """What is known of one name: what a close or fsync has promised, and what was written since."""

    def __init__(self):
        self.stored = None        # acknowledged by close, fsync or rename; None: there is no such file
        self.written = None       # stored and every acknowledged write since; None: not open
        self.alternatives = []    # other contents the bucket may have: of the call that was under way
        self.doubt = None         # (start, end) of a write that was under way


class Writer(threading.Thread):
    def __init__(self, folder, seed, files):
        super().__init__()
        self.folder, self.random, self.files, self.problem = folder, random.Random(seed), files, None

    def run(self):
        try:
            while True:
                self.random.choice([self.create, self.create, self.rewrite, self.edit, self.append, self.save,
                                    self.rename, self.remove])()
        except OSError as error:
            if error.errno not in (errno.EIO, errno.ECONNABORTED, errno.ENOTCONN):  # the mount is gone
                self.problem = error

    def bytes(self, most=200_000):
        most = 3_000_000 if self.random.random() < 0.05 else most
        return self.random.randbytes(self.random.randint(1, most))

    def path(self, name): return f"{self.folder}/{name}"

    def a_name(self, exists=None):
        names = [name for name, file in self.files.items() if exists is None or (file.stored is not None) == exists]
        return self.random.choice(names) if names else None

    def write(self, descriptor, file, offset, piece):
        file.doubt = (offset, offset + len(piece))
        # A large one is several requests: the mount may end between them.
        count = os.pwrite(descriptor, piece, offset)
        piece, old = piece[:count], file.written
        file.written = old[:offset] + bytes(max(0, offset - len(old))) + piece + old[offset + count:]
        if offset + count < file.doubt[1]: raise OSError(errno.ENOTCONN, "the mount ended during a write")
        file.doubt = None

    def close(self, descriptor, file):
        file.alternatives = [file.written]
        os.close(descriptor)
        file.stored, file.written, file.alternatives = file.written, None, []

    def put(self, name, content, flags, start=None):
        file = self.files[name]
        descriptor = os.open(self.path(name), os.O_WRONLY | flags, 0o644)
        file.written = start
        offset = len(start)
        while content:
            piece, content = content[:65_536], content[65_536:]
            self.write(descriptor, file, offset, piece)
            offset += len(piece)
            if self.random.random() < 0.05:
                file.alternatives = [file.written]
                os.fsync(descriptor)
                file.stored, file.alternatives = file.written, []
        self.close(descriptor, file)

    def create(self):
        name = self.a_name(exists=False)
        if name: self.put(name, self.bytes(), os.O_CREAT | os.O_EXCL, b"")

    def rewrite(self):
        name = self.a_name(exists=True)
        if name: self.put(name, self.bytes(), os.O_TRUNC, b"")

    def append(self):
        name = self.a_name(exists=True)
        if name: self.put(name, self.bytes(20_000), 0, self.files[name].stored)

    def edit(self):
        name = self.a_name(exists=True)
        if not name: return
        file = self.files[name]
        descriptor = os.open(self.path(name), os.O_RDWR)
        file.written = file.stored
        for _ in range(self.random.randint(1, 5)):
            offset = self.random.randint(0, len(file.written))
            self.write(descriptor, file, offset, self.bytes(5_000))
        self.close(descriptor, file)

    def save(self):
        """As editors do: a new file, renamed over the old one."""
        source, target = self.a_name(exists=False), self.a_name(exists=True)
        if not source or not target: return
        self.put(source, self.bytes(), os.O_CREAT, b"")
        self.move(source, target)

    def rename(self):
        source, target = self.a_name(exists=True), self.a_name(exists=False)
        if source and target: self.move(source, target)

    def move(self, source, target):
        old, new = self.files[source], self.files[target]
        content = old.stored
        old.alternatives, new.alternatives = [None], [content]
        os.rename(self.path(source), self.path(target))
        old.stored, new.stored = None, content
        old.alternatives, new.alternatives = [], []

    def remove(self):
        name = self.a_name(exists=True)
        if not name or self.random.random() < 0.5: return
        file = self.files[name]
        file.alternatives = [None]
        os.unlink(self.path(name))
        file.stored, file.alternatives = None, []


class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.mountpoint, self.cache = folder / "mnt", folder / "cache"
        self.mountpoint.mkdir()
        self.random = random.Random(options.seed)
        self.files = [{f"f{n}": File() for n in range(8)} for _ in range(6)]
        self.closed = self.opened = 0
        self.lost = []
        self.server = subprocess.Popen(
            [options.firemount, "serve", "--data", folder / "data", "--port", "0", "--bucket", "kills"],
            stdout=subprocess.PIPE, text=True)
        self.endpoint = next(word for line in self.server.stdout for word in line.split() if word.startswith("http://"))
        self.endpoint = self.endpoint.rstrip(".,;/")
        self.mount = None

    def start_mount(self):
        command = [self.options.firemount, "mount", "gs://kills", self.mountpoint, "--foreground", "--anonymous",
                   "--endpoint", self.endpoint, "--cache-dir", self.cache, "--log-level", "warning"]
        if self.options.write_back: command.append("--write-back")
        self.log = open(self.folder / "mount.log", "ab")
        self.mount = subprocess.Popen(command, stderr=self.log)
        deadline = time.monotonic() + 60
        while not os.path.ismount(self.mountpoint):
            if self.mount.poll() is not None or time.monotonic() > deadline: raise SystemExit("the mount did not come")
            time.sleep(0.01)

    def recover(self, *words):
        command = [self.options.firemount, "recover", *words, "--cache-dir", self.cache, "--anonymous"]
        return subprocess.run(command, capture_output=True, text=True)

    def entries(self):
        answer = self.recover("--json")
        if answer.returncode != 0: raise SystemExit(f"recover failed: {answer.stderr}")
        return json.loads(answer.stdout)

    def settled_entries(self):
        deadline = time.monotonic() + 120
        while True:
            entries = self.entries()
            if not any(entry["state"] == "waiting" for entry in entries): return entries
            if time.monotonic() > deadline: raise SystemExit(f"still waiting: {entries}")
            time.sleep(0.05)

    def bucket(self, name):
        url = f"{self.endpoint}/storage/v1/b/kills/o/{urllib.parse.quote(name, safe='')}?alt=media"
        try:
            with urllib.request.urlopen(url) as answer: return answer.read()
        except urllib.error.HTTPError as error:
            if error.code == 404: return None
            raise

    def exported(self, entry):
        path = self.folder / "exported"
        answer = self.recover("export", entry["id"], str(path))
        if answer.returncode != 0: return f"export failed: {answer.stderr}"
        content = path.read_bytes()
        path.unlink()
        return content

    def run(self, number):
        self.start_mount()
        for index in range(len(self.files)): (self.mountpoint / f"w{index}").mkdir(exist_ok=True)
        writers = [Writer(self.mountpoint / f"w{index}", self.random.random(), files)
                   for index, files in enumerate(self.files)]
        for writer in writers: writer.start()
        time.sleep(self.random.uniform(0.05, 1.5))
        self.mount.send_signal(signal.SIGKILL)
        self.mount.wait()
        for writer in writers: writer.join()
        self.lost += [f"run {number}: {writer.problem}" for writer in writers if writer.problem]
        # Onto the dead mount point: it has to heal that.
        self.start_mount()
        entries = self.settled_entries()
        for index, files in enumerate(self.files):
            for name, file in files.items(): self.check(number, f"w{index}/{name}", file, entries)
        for entry in entries: self.recover("discard", entry["id"])
        left = self.entries()
        if left: self.lost.append(f"run {number}: discarded, yet there: {left}")
        subprocess.run(["fusermount3", "-u", self.mountpoint], check=True)
        if self.mount.wait() != 0: self.lost.append(f"run {number}: the second mount ended with an error")

    def check(self, number, name, file, entries):
        have = self.bucket(name)
        allowed = [file.stored, *file.alternatives]
        if have not in allowed:
            self.lost.append(f"run {number}: {name}: the bucket has {self.words(have)}, acknowledged were "
                             f"{[self.words(content) for content in allowed]}; open {self.words(file.written)}; "
                             f"entries {[entry for entry in entries if entry['object'] == name]}")
        if file.written is None:
            self.closed += 1
        else:
            self.opened += 1
            self.check_open(number, name, file, have, entries)
        file.stored, file.written, file.alternatives, file.doubt = have, None, [], None

    def check_open(self, number, name, file, have, entries):
        """A file that was open: what was written since the bucket's version is in the journal."""
        if file.written in (have, file.stored, b""): return
        found = [self.exported(entry) for entry in entries if entry["object"] == name and entry["size"] is not None]
        if not any(self.same(file, content) for content in found):
            self.lost.append(f"run {number}: {name} was open with {self.words(file.written)}; the bucket has "
                             f"{self.words(have)}, the journal {[self.words(content) for content in found]}")

    @staticmethod
    def same(file, content):
        """What a write that was not acknowledged has done is nobody's promise."""
        if not isinstance(content, bytes): return False
        start, end = file.doubt or (0, 0)
        outside = file.written[:start] == content[:start] and file.written[end:] == content[end:]
        return outside and len(content) in (len(file.written), max(len(file.written), end)) or \
            len(content) > len(file.written) and content[:min(start, len(file.written))] == file.written[:start]

    @staticmethod
    def words(content):
        if content is None or isinstance(content, str): return content
        return f"{len(content)} bytes #{hash(content) & 0xffff}"

    def finish(self):
        if self.mount and self.mount.poll() is None: self.mount.kill(), self.mount.wait()
        subprocess.run(["fusermount3", "-u", "-z", "-q", self.mountpoint])
        self.server.kill()
        self.server.wait()


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(prog="scripts/kill-campaign.py")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write-back", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the journal and the log when something was lost")
    parser.add_argument("--firemount", default=root / ".build/debug/firemount")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firemount-kill-"))
    campaign = Campaign(options, folder)
    try:
        for number in range(1, options.runs + 1):
            campaign.run(number)
            if campaign.lost and options.keep: break
            if number % 20 == 0: print(f"{number} runs, {len(campaign.lost)} lost", file=sys.stderr)
    finally:
        campaign.finish()
        for line in campaign.lost: print(line)
        print(f"{number} runs, {campaign.closed} closed files, {campaign.opened} open files, {len(campaign.lost)} lost")
        if not (campaign.lost and options.keep): shutil.rmtree(folder, ignore_errors=True)
        else: print(f"kept: {folder}")
    sys.exit(1 if campaign.lost else 0)


if __name__ == "__main__":
    main()
