#!/usr/bin/env python3
"""Builds with a store behind them: redis-server and nginx as Debian has them, and servers that are
killed, slow, full or lie. Each build must give the bytes of one without a store, with one line of
warning at most.

usage: servers.py PTXASW TEXT.ptx      exit code 77: skipped, with the reason
"""
import os
import pathlib
import shutil
import socket
import socketserver
import stat
import subprocess
import sys
import tempfile
import threading
import time

TOOL, TEXT = sys.argv[1:3]
PTXAS = next((p for p in (os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin/ptxas",
                          shutil.which("ptxas") or "") if os.access(p, os.X_OK)), None)
if PTXAS is None:
    print("SKIP: no ptxas here")
    sys.exit(77)
WORK = pathlib.Path(tempfile.mkdtemp())
SECRET = WORK / "secret"
SECRET.write_text("a secret of the farm, long enough\n")
SECRET.chmod(stat.S_IRUSR)
PUBLIC = {}
SEALED = {"PTXASW_STORE_SECRET": str(SECRET)}


class Build:
    """One call in a place of its own; `again` keeps the user's own folder."""
    count = 0

    def __init__(self, store, more=None, again=None):
        Build.count += 1
        self.home = again.home if again else WORK / f"home{Build.count}"
        output = WORK / f"{Build.count}.cubin"
        log = WORK / f"{Build.count}.log"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PTXASW")}
        environment |= {"PTXASW_PTXAS": PTXAS, "PTXASW_LOG": str(log),
                        "XDG_CACHE_HOME": str(self.home), **(more or {})}
        if store:
            environment["PTXASW_STORE"] = store
        begin = time.monotonic()
        done = subprocess.run([TOOL, "-arch=sm_90", TEXT, "-o", output, "--ptxasw-coarsen=large"],
                              env=environment, capture_output=True, text=True)
        self.seconds = time.monotonic() - begin
        self.warnings = done.stderr.splitlines()
        self.bytes = output.read_bytes() if output.exists() else b""
        self.searched = '"search"' in log.read_text()  # ptxas was asked which candidate pays
        if done.returncode != 0:
            sys.exit(f"build {Build.count} with {store}: rc {done.returncode}: {done.stderr}")
        if len(self.warnings) > 1 or not all("ptxasw warning" in w for w in self.warnings):
            sys.exit(f"build {Build.count} with {store}: says {self.warnings}")

    def counts(self):
        file = self.home / "ptxasw" / "counters"
        return dict(line.split() for line in file.read_text().splitlines()) if file.exists() else {}


def check(what, is_right):
    if not is_right:
        sys.exit(f"FAIL: {what}")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit("a server did not start")


class Redis:
    def __init__(self, *more):
        self.port = free_port()
        folder = WORK / f"redis{self.port}"
        folder.mkdir()
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir",
             folder, "--databases", "4", *more], stdout=subprocess.DEVNULL)
        wait_for(self.port)
        self.name = f"redis://127.0.0.1:{self.port}/0"

    def cli(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True,
                              check=True).stdout

    def damage(self):
        keys = self.cli("--raw", "keys", "ptxasw:*").split()
        check("there are entries at the server", keys)
        for key in keys:
            self.cli("setrange", key, "130", "XXXX")


class Nginx:
    def __init__(self, methods="PUT"):
        self.port = free_port()
        self.folder = WORK / f"nginx{self.port}"
        (self.folder / "data").mkdir(parents=True)
        for place in (WORK, self.folder, self.folder / "data"):  # its workers are somebody else
            place.chmod(0o777)
        config = self.folder / "nginx.conf"
        config.write_text(f"""
daemon off; pid {self.folder}/pid; error_log stderr error; {"user root;" if os.geteuid() == 0 else ""}
include /etc/nginx/modules-enabled/*.conf;
events {{}}
http {{
  access_log off; client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/p;
  fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;
  server {{
    listen 127.0.0.1:{self.port};
    location /cache/ {{
      root {self.folder}/data;
      {"dav_methods PUT; create_full_put_path on;" if methods else "limit_except GET { deny all; }"}
    }}
  }}
}}""")
        self.process = subprocess.Popen(["nginx", "-c", config], stderr=subprocess.DEVNULL)
        wait_for(self.port)
        self.name = f"http://127.0.0.1:{self.port}/cache/"

    def damage(self):
        files = [f for f in (self.folder / "data").rglob("*") if f.is_file()]
        check("there are entries at the server", files)
        for file in files:
            file.write_bytes(file.read_bytes()[:-3] + b"XXX")


def serves(server):
    """What one home has decided, another one need not decide."""
    for more in (PUBLIC, SEALED):
        first = Build(server.name, more)
        check("the first one decides", first.searched)
        check("what is there is told where it does not bear the seal",
              not first.warnings if more == PUBLIC else "does not bear" in first.warnings[0])
        second = Build(server.name, more)
        check(f"{server.name}: the second one does not", not second.searched and not second.warnings)
        check("what it gives is right", first.bytes == second.bytes == PLAIN.bytes)
        check("it was found there", second.counts().get("decisions.remote_hits") == "1")
        third = Build(server.name, more, again=second)
        check("the third one finds it at home", third.counts().get("decisions.hits") == "1")
    server.damage()
    lied = Build(server.name)
    check("a damaged entry is told", "damaged" in lied.warnings[0])
    check("and decided anew", lied.searched and lied.bytes == PLAIN.bytes)
    healed = Build(server.name)
    check("then the server has it again", not healed.searched and not healed.warnings)


def is_killed(server):
    server.process.kill()
    server.process.wait()
    first = Build(server.name)
    check("it is told", len(first.warnings) == 1)
    check("the build is right", first.bytes == PLAIN.bytes)
    check("the next one says no more", not Build(server.name, again=first).warnings)


def is_stopped(server):
    """As a machine that has gone: it takes connections and never answers."""
    os.kill(server.process.pid, 19)
    first = Build(server.name)
    check("it is told", len(first.warnings) == 1 and "in time" in first.warnings[0])
    check("the build is right", first.bytes == PLAIN.bytes)
    os.kill(server.process.pid, 18)


class Liar(socketserver.BaseRequestHandler):
    """Decisions that fit nothing, with a checksum that fits: the sealed one is not taken, and the
    other one is judged. It answers every request with the same entry."""
    entry = b""

    def handle(self):
        self.request.recv(1 << 16)
        self.request.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(self.entry)
                             + self.entry)


class Drip(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(1 << 16)
        try:
            for letter in b"HTTP/1.0 200 OK\r\n" + b"x" * 10000:
                self.request.sendall(bytes([letter]))
                time.sleep(0.02)
        except OSError:
            pass


def with_handler(handler):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


PLAIN = Build(None)
folder = WORK / "shared"
check("a folder", Build(str(folder)).searched and not Build(str(folder)).searched)

drip = Build(with_handler(Drip))
check("one that drips", len(drip.warnings) == 1 and drip.bytes == PLAIN.bytes)
# The sealed entry of another text.
entries = [f for f in folder.rglob("*") if f.is_file() and f.name != "counters"]
Liar.entry = entries[0].read_bytes()
for more in (PUBLIC, SEALED):
    lied = Build(with_handler(Liar), more)
    check("one that lies", lied.bytes == PLAIN.bytes)
check("without the secret there is no store", "is not used" in Build(
    with_handler(Liar), {"PTXASW_STORE_SECRET": "/does/not/exist"}).warnings[0])

tried = []
if shutil.which("redis-server"):
    redis = Redis()
    try:
        serves(redis)
        is_stopped(redis)
        is_killed(redis)
    finally:
        redis.process.kill()
    full = Redis("--maxmemory", "1", "--requirepass", "word")
    try:
        name = f"redis://:word@127.0.0.1:{full.port}/2"
        built = Build(name)
        check("a full one", built.bytes == PLAIN.bytes and "OOM" in built.warnings[0])
        check("no password is shown", "word@" not in built.warnings[0])
        refused = Build(full.name)
        check("one that wants a password", "NOAUTH" in refused.warnings[0])
    finally:
        full.process.kill()
    tried.append("redis-server")
if shutil.which("nginx") and pathlib.Path("/etc/nginx/modules-enabled").is_dir():
    nginx = Nginx()
    try:
        serves(nginx)
    finally:
        nginx.process.terminate()
        nginx.process.wait()
    is_killed(nginx)
    reader = Nginx(methods="")
    try:
        built = Build(reader.name)
        check("one that takes nothing", built.bytes == PLAIN.bytes and len(built.warnings) == 1)
    finally:
        reader.process.terminate()
        reader.process.wait()
    tried.append("nginx")
shutil.rmtree(WORK, ignore_errors=True)
if not tried:
    print("SKIP: neither redis-server nor nginx is here (tools/setup installs them)")
    sys.exit(77)
print(f"{Build.count} builds with {', '.join(tried)} and others")
