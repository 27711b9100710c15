#!/usr/bin/env python3
"""Does the same random operations in a mounted and in a local folder, and compares every answer.

usage: random-operations.py MOUNTED LOCAL SEED COUNT [OMITTED ...]

COUNT 0 only compares what both hold. OMITTED are operations (WEIGHTS) that the server behind the mount has no part of.
Exits 1 at the first difference, after printing the last operations; the seed is all that is needed to see it again in
two folders that are as these were.
"""
import errno
import mmap
import os
import random
import shutil
import stat
import sys

NAMES = ["a", "b", "c", "d e", "\u00e9", "e\u0301", "f.txt", "g%", "h#?",
         "i+&", "j.gz", "%2E", ".x", "k~", "l:*", "a-", "a.b", "a0"]
ATTRIBUTES = {
    "user.color": [b"", b"x", "\u00e9".encode(), b"v" * 100], "user.\u00e9": [b"1", b"2"],
    "user.mime_type": [b"text/x-a", b"image/x-b"], "user.storage.cache_control": [b"no-store", b"max-age=60"],
}
SIZES = [0, 1, 100, 5000, 66000, 200000]
DEEPEST = 4
MOST_FILES = 120
# Seconds. Earlier times were set, later ones are those of writing: only those that were set are compared.
NOW = 1_500_000_000


class Difference(Exception):
    pass


class Twins:
    """Two folders that must stay alike, and files that are open in both."""

    def __init__(self, mounted, local, seed):
        self.roots = (local, mounted)
        self.chance = random.Random(seed)
        self.open = []
        self.history = []

    # -- Calls

    def both(self, description, call):
        """Runs `call(root)` on both sides; the answers, or errors, must be equal."""
        answers = []
        for root in self.roots:
            try:
                answers.append(call(root))
            except OSError as error:
                answers.append(errno.errorcode.get(error.errno, error.errno))
        self.history.append((description, str(answers[0])[:80]))
        if answers[0] != answers[1]:
            raise Difference(f"{description}: locally {str(answers[0])[:300]}, mounted {str(answers[1])[:300]}")

    def inside(self, root, path):
        """The path in `root`, unless links lead out of the local folder."""
        local = os.path.realpath(self.roots[0])
        real = os.path.realpath(os.path.join(local, path))
        if real != local and not real.startswith(local + "/"):
            raise OSError(errno.EXDEV, "outside")
        return os.path.join(root, path)

    # -- Choosing

    def survey(self):
        files, folders = [], [""]
        for parent, names, others in os.walk(self.roots[0]):
            parent = os.path.relpath(parent, self.roots[0])
            parent = "" if parent == "." else parent + "/"
            for name in names:
                is_link = os.path.islink(os.path.join(self.roots[0], parent + name))
                (files if is_link else folders).append(parent + name)
            files += [parent + name for name in others]
        self.files, self.folders = sorted(files), sorted(folders)
        self.plain = [name for name in self.files if not os.path.islink(os.path.join(self.roots[0], name))]

    def place(self):
        folder = self.chance.choice([name for name in self.folders if name.count("/") < DEEPEST])
        return os.path.join(folder, self.chance.choice(NAMES))

    def pick(self, names):
        return self.chance.choice(names) if names else None

    def anything(self):
        return self.pick(self.files + [name for name in self.folders if name])

    def bytes(self):
        return self.chance.randbytes(self.chance.choice(SIZES))

    # -- Operations on names

    def write_file(self):
        path, data = self.place(), self.bytes()
        flag = os.O_APPEND if self.chance.random() < 0.3 else os.O_TRUNC
        mode = self.chance.choice([0o644, 0o600, 0o755, 0o640])

        def call(root):
            file = os.open(self.inside(root, path), os.O_WRONLY | os.O_CREAT | flag, mode)
            try:
                os.write(file, data)
                return os.fstat(file).st_size
            finally:
                os.close(file)

        self.both(("write", path, len(data), flag == os.O_APPEND, oct(mode)), call)

    def create_exclusively(self):
        path = self.place()
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        self.both(("create", path), lambda root: os.close(os.open(self.inside(root, path), flags, 0o644)))

    def make_folder(self):
        path = self.place()
        self.both(("mkdir", path), lambda root: os.mkdir(self.inside(root, path), 0o755))

    def remove_folder(self):
        path = self.pick([name for name in self.folders + self.files if name])
        if path:
            self.both(("rmdir", path), lambda root: os.rmdir(self.inside(root, path)))

    def remove(self):
        path = self.pick(self.files)
        if path:
            self.both(("unlink", path), lambda root: os.unlink(os.path.join(root, path)))

    def remove_tree(self):
        path = self.pick([name for name in self.folders if name])
        if path:
            self.both(("rm -r", path), lambda root: shutil.rmtree(self.inside(root, path)))

    def rename(self):
        source = self.anything()
        if source:
            target = self.place() if self.chance.random() < 0.7 else self.anything()
            # What is replaced in a bucket leaves its attributes to what replaces it.
            self.remove_attributes(target)
            self.both(
                ("rename", source, target),
                lambda root: os.rename(os.path.join(root, source), os.path.join(root, target)))
            self.take_up(source)

    def take_up(self, name):
        """What is made where a file was just renamed away has its attributes in a bucket: this one is, and goes."""
        if not os.path.lexists(os.path.join(self.roots[0], name)):
            self.both(("make and remove", name), lambda root: make_and_remove(os.path.join(root, name)))

    def make_link(self):
        path = self.place()
        target = self.chance.choice(["a", "../b", "/nonexistent/xx", "nowhere/\u00e9", "x" * 200])
        self.both(("symlink", path, target), lambda root: os.symlink(target, os.path.join(root, path)))

    def make_hard_link(self):
        source, target = self.pick(self.plain), self.place()
        if not source:
            return
        # A bucket has no such thing: refused, whatever else is wrong with it.
        try:
            os.link(os.path.join(self.roots[1], source), os.path.join(self.roots[1], target))
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EEXIST):
                return
            raise
        raise Difference(f"link {source} {target} was not refused")

    def truncate(self):
        path, size = self.pick(self.plain), self.chance.randrange(300000)
        if path:
            self.both(("truncate", path, size), lambda root: os.truncate(self.inside(root, path), size))

    def set_mode(self):
        path = self.pick(self.plain + [name for name in self.folders if name])
        mode = self.chance.choice([0o600, 0o644, 0o755, 0o444, 0o700])
        if path:
            self.both(("chmod", path, oct(mode)), lambda root: os.chmod(self.inside(root, path), mode))

    def set_times(self):
        path = self.pick(self.plain)
        time = self.chance.randrange(10**9, NOW * 10**9)
        if path:
            self.both(("utime", path, time), lambda root: os.utime(self.inside(root, path), ns=(time, time)))

    # -- Extended attributes

    def set_attribute(self):
        path, name = self.pick(self.plain), self.chance.choice(list(ATTRIBUTES))
        value = self.chance.choice(ATTRIBUTES[name])
        # Each object has a type, whether or not somebody set one.
        flags = 0 if name == "user.mime_type" else self.chance.choice([0, 0, os.XATTR_CREATE, os.XATTR_REPLACE])
        if path:
            self.both(
                ("setxattr", path, name, value, flags),
                lambda root: os.setxattr(self.inside(root, path), name, value, flags))

    def look_at_attributes(self):
        path = self.pick(self.plain)
        if path:
            self.both(("listxattr", path), lambda root: attributes(self.inside(root, path)))

    def remove_attribute(self):
        path, name = self.pick(self.plain), self.chance.choice(list(ATTRIBUTES))
        if path and (name != "user.mime_type" or name in attributes(os.path.join(self.roots[0], path))):
            self.both(
                ("removexattr", path, name), lambda root: os.removexattr(self.inside(root, path), name))

    def remove_attributes(self, path):
        local = os.path.join(self.roots[0], path)
        if os.path.isfile(local) and not os.path.islink(local) and attributes(local):
            self.both(("remove all attributes", path), lambda root: [
                os.removexattr(os.path.join(root, path), name) for name in attributes(os.path.join(root, path))])

    # -- Looking

    def list_folder(self):
        path = self.pick(self.folders)
        self.both(("list", path), lambda root: sorted(os.listdir(self.inside(root, path))))

    def look(self):
        path = self.place()

        def call(root):
            status = os.lstat(os.path.join(root, path))
            kind = stat.S_IFMT(status.st_mode)
            return (kind, status.st_size, time_of(status)) if kind == stat.S_IFREG else kind

        self.both(("stat", path), call)

    def look_below_file(self):
        path = self.place() + "/below"
        self.both(("open", path), lambda root: os.close(os.open(self.inside(root, path), os.O_RDONLY)))

    def read_file(self):
        path = self.pick(self.plain)
        if path:
            self.both(("read", path), lambda root: contents(self.inside(root, path)))

    # -- Open files

    def copy_file(self):
        source, target = self.pick(self.plain), self.place()
        if not source or source == target:
            return
        count = self.chance.choice([1 << 30, self.chance.randrange(300000)])

        def call(root):
            rest = count
            with open(self.inside(root, target), "wb") as into, open(self.inside(root, source), "rb") as file:
                while copied := os.copy_file_range(file.fileno(), into.fileno(), rest):
                    rest -= copied
            return rest

        self.both(("copy", source, target, count), call)

    def write_after_close(self):
        path, data = self.pick(self.plain), self.bytes()
        if not path or not data or os.path.getsize(os.path.join(self.roots[0], path)) == 0:
            return

        def call(root):
            descriptor = os.open(self.inside(root, path), os.O_RDWR)
            try:
                mapping = mmap.mmap(descriptor, 0)
            finally:
                os.close(descriptor)
            with mapping:
                count = min(len(data), len(mapping))
                mapping[:count] = data[:count]

        self.both(("map and close", path, len(data)), call)

    def open_file(self):
        path = self.pick(self.plain)
        if not path or len(self.open) >= 5:
            return
        pair = [os.open(self.inside(root, path), os.O_RDWR) for root in self.roots]
        self.open.append(dict(zip(self.roots, pair)))
        self.history.append((("open", path, len(self.open) - 1), ""))

    def close_file(self):
        if self.open:
            pair = self.open.pop(self.chance.randrange(len(self.open)))
            self.both(("close",), lambda root: os.close(pair[root]))

    def close_all(self):
        while self.open:
            self.close_file()

    def use_open_file(self):
        if not self.open:
            return
        index = self.chance.randrange(len(self.open))
        pair, data = self.open[index], self.bytes()
        size = os.fstat(pair[self.roots[0]]).st_size
        offset = self.chance.randrange(size + 1000)
        kind = self.chance.choice(["write", "write", "read", "truncate", "sync", "size", "map"])
        if kind == "write":
            call = lambda root: os.pwrite(pair[root], data, offset)
        elif kind == "read":
            call = lambda root: os.pread(pair[root], len(data) + 1, offset)
        elif kind == "truncate":
            call = lambda root: os.ftruncate(pair[root], offset)
        elif kind == "sync":
            call = lambda root: os.fsync(pair[root])
        elif kind == "size":
            call = lambda root: os.fstat(pair[root]).st_size
        else:
            if size == 0:
                return
            data = data[:size - min(offset, size - 1)]
            call = lambda root: write_mapping(pair[root], data, min(offset, size - 1))
        self.both((kind, "of open", index, offset, len(data)), call)

    # -- All of it

    def compare(self):
        trees = [tree(root) for root in self.roots]
        for path in sorted(set(trees[0]) | set(trees[1])):
            local, mounted = trees[0].get(path), trees[1].get(path)
            if local != mounted:
                raise Difference(f"{path}: locally {str(local)[:200]}, mounted {str(mounted)[:200]}")

    def run(self, count, omitted):
        operations = [(getattr(self, name), weight) for name, weight in WEIGHTS.items() if name not in omitted]
        calls, weights = zip(*operations)
        for number in range(count):
            self.survey()
            crowded = len(self.files) + len(self.folders) > MOST_FILES and number % 5 == 0
            (self.remove_tree if crowded else self.chance.choices(calls, weights)[0])()
            if number % 500 == 499:
                self.compare()
        self.close_all()


WEIGHTS = {
    "write_file": 18, "create_exclusively": 2, "make_folder": 8, "remove_folder": 4, "remove": 6, "remove_tree": 1,
    "rename": 10, "make_link": 4, "make_hard_link": 1, "truncate": 4, "set_mode": 6, "set_times": 5,
    "set_attribute": 5, "look_at_attributes": 1, "remove_attribute": 2, "copy_file": 4, "write_after_close": 2,
    "list_folder": 4, "look": 5, "look_below_file": 2, "read_file": 6, "open_file": 5,
    "close_file": 4, "use_open_file": 20,
}


def time_of(status):
    return status.st_mtime_ns if status.st_mtime < NOW else "whenever"


def make_and_remove(path):
    with open(path, "x"):
        pass
    os.unlink(path)


def attributes(path):
    """What somebody has set: the mount does not list a type that the name suggests."""
    return {name: os.getxattr(path, name) for name in sorted(os.listxattr(path)) if name.startswith("user.")}


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def write_mapping(descriptor, data, offset):
    with mmap.mmap(descriptor, 0) as mapping:
        mapping[offset:offset + len(data)] = data


def tree(root):
    found = {}
    for parent, names, others in os.walk(root):
        for name in names + others:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            key, mode = os.path.relpath(path, root), oct(status.st_mode & 0o7777)
            if stat.S_ISREG(status.st_mode):
                found[key] = (status.st_size, mode, time_of(status), contents(path), attributes(path))
            elif stat.S_ISLNK(status.st_mode):
                found[key] = os.readlink(path)
            else:
                found[key] = mode
    return found


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    seed, count = int(sys.argv[3]), int(sys.argv[4])
    twins = Twins(sys.argv[1], sys.argv[2], seed)
    try:
        twins.compare()
        twins.run(count, sys.argv[5:])
        twins.compare()
    except Difference as difference:
        for line in twins.history[-60:]:
            print("  ", line)
        print(f"seed {seed}, operation {len(twins.history)}: {difference}")
        sys.exit(1)
    print(f"seed {seed}: {count} operations, alike")


main()
