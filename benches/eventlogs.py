#!/usr/bin/env python3
"""What reading a large event log costs: `benches/eventlogs.py --binary target/release/sparkls`.

Makes a log of 1 GiB, raw and as Spark's zstd, out of a small real one (see genlog.py), then reads both with `sparkls report`, `ignis
analyze` (PyPI spark-ignis), Python's json.loads line by line and Spark's own History Server (PyPI pyspark; needs Java 17), and prints
CPU time (all threads, and the kernel's part of it), wall time and peak resident memory of each, as a table in Markdown. Packages go into a virtual
environment below target/, the logs too.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "bench"
SOURCE = ROOT / "tests" / "fixtures" / "eventlogs" / "slow-host.zstd"
PACKAGES = ["zstandard==0.25.0", "spark-ignis==0.3.1", "pyspark==3.5.9"]

# Runs a command and prints what it took. In a process of its own, as a child's peak counts what its parent had at the fork.
LAUNCHER = """
import os, sys, time
start = time.monotonic()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, used = os.wait4(child, 0)
print(used.ru_utime, used.ru_stime, time.monotonic() - start, used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))
"""

JSON_RAW = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"
JSON_ZSTD = """
import io, json, sys, zstandard
stream = zstandard.ZstdDecompressor().stream_reader(open(sys.argv[1], 'rb'), read_across_frames=True)
for line in io.BufferedReader(stream, 1 << 20):
    json.loads(line)
"""


class Cost:
    """Seconds of CPU in the program and in the kernel, seconds of wall time, bytes of peak memory."""

    def __init__(self, user, system, wall, memory):
        self.user, self.system, self.wall, self.memory = user, system, wall, memory

    @property
    def cpu(self):
        return self.user + self.system


def environment():
    """Python of a virtual environment with the packages; made if they have changed."""
    folder = FOLDER / "venv"
    python, made = folder / "bin" / "python", folder / "packages"
    if not made.exists() or made.read_text() != "\n".join(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        made.write_text("\n".join(PACKAGES))
    return python


def measure(command, successes=(0,)):
    """Cost of a command that must succeed."""
    launched = [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)]
    done = subprocess.run(launched, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    user, system, wall, memory, code = done.stdout.split()
    if int(code) not in successes:
        raise RuntimeError(f"exit code {int(code)}: {command[0]}")
    return Cost(float(user), float(system), float(wall), int(memory))


def best_of(times, command):
    """The run with the least CPU time: others share the machine."""
    return min((measure(command) for _ in range(times)), key=lambda cost: cost.cpu)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def peak_and_cpu(pid):
    """Peak memory of a living process, and its CPU seconds in itself and in the kernel."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system = (int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:13])
    return int(status["VmHWM"].split()[0]) * 1024, user, system


def history_server(python, log, memory):
    """Cost from the server's start until it answers for the stages of the one application in its folder."""
    home = Path(subprocess.check_output([python, "-c", "import pyspark; print(pyspark.__path__[0])"], text=True).strip())
    application = json.loads(subprocess.check_output([python, __file__, "--application-of", log], text=True))
    folder = FOLDER / "history"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.link(log, folder / (application + (".zstd" if log.suffix == ".zstd" else "")))
    port = free_port()
    settings = {"spark.history.fs.logDirectory": folder.as_uri(), "spark.history.ui.port": port}
    environ = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_DAEMON_MEMORY": memory,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HISTORY_OPTS": " ".join(f"-D{key}={value}" for key, value in settings.items()),
    }
    command = [home / "bin" / "spark-class", "org.apache.spark.deploy.history.HistoryServer"]
    start = time.monotonic()
    with open(FOLDER / "history.log", "wb") as output:
        server = subprocess.Popen(command, env=environ, stdout=output, stderr=output)
    try:
        wait_for(f"http://127.0.0.1:{port}/api/v1/applications/{application}/stages", server)
        wall = time.monotonic() - start
        peak, user, system = peak_and_cpu(server.pid)
        return Cost(user, system, wall, peak)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(folder)


def wait_for(address, server):
    while server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=600) as answer:
                answer.read()
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("the History Server ended; see history.log")


def application_of(log):
    from genlog import source_lines

    starts = (json.loads(line) for line in source_lines(log) if "SparkListenerApplicationStart" in line)
    return next(starts)["App ID"]


def ratio(own, base):
    return "1" if own == base else f"{own / base:.1f} ×" if own < 10 * base else f"{own / base:.0f} ×"


def shown_cost(name, cost, size, base):
    speed = size / cost.cpu / 1e9
    speed = f"{speed:.2f} GB/s" if speed >= 0.995 else f"{speed * 1000:.0f} MB/s"
    memory = cost.memory / (1 << 20)
    ratios, more = (ratio(own, first) for own, first in [(cost.cpu, base.cpu), (cost.memory, base.memory)])
    seconds = f"{cost.cpu:.2f} s | {cost.system:.2f} s"
    return f"| {name} | {seconds} | {speed} | {cost.wall:.2f} s | {memory:,.0f} MiB | {ratios} | {more} |"


def table(title, size, costs):
    base = costs[0][1]
    heads = ["reader", "CPU", "kernel's part", "decoded bytes a CPU second", "wall", "peak memory", "CPU, ratio", "memory, ratio"]
    lines = [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += [shown_cost(name, cost, size, base) for name, cost in costs]
    return "\n".join(lines) + "\n"


def make_log(python, out, *arguments):
    """The log, and its decoded bytes and tasks; made once."""
    facts = out.with_name(out.name + ".json")
    if not (out.exists() and facts.exists()):
        made = subprocess.check_output([python, ROOT / "benches" / "genlog.py", SOURCE, out, *arguments], text=True)
        facts.write_text(made)
    return json.loads(facts.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "sparkls", help="sparkls to measure")
    parser.add_argument("--size", default="1G", help="decoded bytes of the two logs (%(default)s)")
    parser.add_argument("--tasks", type=int, default=1_000_000, help="tasks of the log for memory (%(default)s)")
    parser.add_argument("--times", type=int, default=5, help="runs of sparkls, of which the best counts (%(default)s)")
    parser.add_argument("--heap", default="4g", help="heap of the History Server (%(default)s)")
    parser.add_argument("--sparkls-only", action="store_true", help="leave the other readers out")
    parser.add_argument("--application-of", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.application_of:
        print(json.dumps(application_of(arguments.application_of)))
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment()
    report = [arguments.binary, "report", "--format", "json"]
    for name, script in [("raw", JSON_RAW), ("zstd", JSON_ZSTD)]:
        log = FOLDER / f"log-{arguments.size}{'.zstd' if name == 'zstd' else ''}"
        facts = make_log(python, log, arguments.size)
        costs = [("`sparkls report`", best_of(arguments.times, [*report, log]))]
        if not arguments.sparkls_only:
            costs.append(("Python, `json.loads` a line", measure([python, "-c", script, log])))
            if name == "raw":
                costs.insert(1, ("`cat`, which only copies", best_of(arguments.times, [shutil.which("cat"), log])))
                # It reads no zstd. It ends with 1 where it finds something.
                costs.append(("`ignis analyze`", measure([python.parent / "ignis", "analyze", log], successes=(0, 1))))
            costs.append(("Spark's History Server", history_server(python, log, arguments.heap)))
        size, disk = facts["bytes"], log.stat().st_size
        title = f"{size / 1e9:.2f} GB, {facts['tasks']:,} tasks, {name}"
        print(table(title + (f" ({disk / 1e6:.0f} MB on disk)" if disk != size else ""), size, costs), flush=True)
    log = FOLDER / f"tasks-{arguments.tasks}.zstd"
    facts = make_log(python, log, "--tasks", str(arguments.tasks))
    cost = best_of(arguments.times, [*report, log])
    print(table(f"{facts['tasks']:,} tasks: {facts['bytes'] / 1e9:.2f} GB, zstd", facts["bytes"], [("`sparkls report`", cost)]))


if __name__ == "__main__":
    main()
