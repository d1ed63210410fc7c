"""A large event log out of a small real one: `genlog.py SOURCE OUT SIZE`.

The head of SOURCE (application, environment, executors) is written once; its jobs, stages, tasks and SQL executions are repeated until
SIZE decoded bytes are reached. Every round has new ids and later times, and a task of SOURCE becomes COPIES tasks, whose durations,
sizes and accumulables differ by a fifth up and down, so that most of the log are ended tasks, as in large logs of real jobs.

OUT ending in `.zstd` is written as Spark writes it: level 1, and a new frame wherever Spark flushes. Needs the package `zstandard`
for that and for a SOURCE in zstd; otherwise the standard library is enough. The same arguments make the same bytes.
"""

import argparse
import io
import json
import random
import re

COPIES = 20

# Where each id stands, and what it is the number of.
IDS = {
    "Stage ID": "stage",
    "Stage IDs": "stage",
    "Job ID": "job",
    "RDD ID": "rdd",
    "executionId": "execution",
    "rootExecutionId": "execution",
    "accumulatorId": "metric",
}
TIMES = {"Submission Time", "Completion Time", "Launch Time", "Finish Time", "time", "Timestamp"}
EXECUTIONS = {"spark.sql.execution.id", "spark.sql.execution.root.id"}

# Events after which Spark does not flush, and so goes on with its frame.
UNFLUSHED = {"TaskStart", "TaskEnd", "TaskGettingResult", "StageSubmitted", "StageExecutorMetrics", "EnvironmentUpdate"}


def name_of(event):
    return event["Event"].rsplit(".", 1)[-1].removeprefix("SparkListener")


def size_of(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = units.get(text[-1].upper())
    return int(float(text[:-1]) * unit) if unit else int(text)


def source_lines(path):
    """The lines of a log, plain or in zstd."""
    with open(path, "rb") as file:
        stream = file
        if file.peek(4)[:4] == b"\x28\xb5\x2f\xfd":
            import zstandard

            decoded = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            stream = io.BufferedReader(decoded, 1 << 20)
        for line in stream:
            yield line.decode().rstrip("\n")


class Output:
    """Text to a file, plain or in the frames of zstd."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=1 << 20)
        self.decoded = 0
        self.frame = []
        self.compressor = None
        if path.endswith((".zstd", ".zst")):
            import zstandard

            self.compressor = zstandard.ZstdCompressor(level=1, write_content_size=False)

    def write(self, text, flush=False):
        line = text.encode() + b"\n"
        self.decoded += len(line)
        if self.compressor is None:
            self.file.write(line)
            return
        self.frame.append(line)
        if flush:
            self.end_frame()

    def end_frame(self):
        if self.frame:
            stream = self.compressor.compressobj()
            self.file.write(stream.compress(b"".join(self.frame)) + stream.flush())
            self.frame = []

    def close(self):
        if self.compressor is not None:
            self.end_frame()
        self.file.close()


class Log:
    """The source, and how far apart its repetitions must be."""

    def __init__(self, lines):
        events = [json.loads(line) for line in lines]
        starts = ("JobStart", "SQLExecutionStart")
        first = next(at for at, event in enumerate(events) if name_of(event) in starts)
        self.head = lines[:first]
        self.body = [event for event in events[first:] if name_of(event) != "ApplicationEnd"]
        self.end = [line for line, event in zip(lines, events) if name_of(event) == "ApplicationEnd"]
        text = "\n".join(lines)

        def after(*keys):
            found = [int(number) for key in keys for number in re.findall(rf'"{key}":(\d+)', text)]
            return 1 + max(found, default=0)

        self.step = {
            "stage": after("Stage ID"),
            "job": after("Job ID"),
            "execution": after("executionId"),
            "metric": after("accumulatorId", "ID"),
            "rdd": after("RDD ID"),
        }
        self.tasks = after("Task ID")
        times = [event[key] for event in self.body for key in TIMES if event.get(key)]
        self.span = max(times) - min(times) + 1000

    def shifted(self, value, by, key=None, inside=None):
        """`value`, which stands at `key` of the object at `inside`, as it is `by` rounds later."""
        if isinstance(value, dict):
            return {name: self.shifted(item, by, name, key) for name, item in value.items()}
        if key == "accumUpdates":
            return [[metric + by * self.step["metric"], *rest] for metric, *rest in value]
        if isinstance(value, list):
            return [self.shifted(item, by, key, inside) for item in value]
        if key in EXECUTIONS and isinstance(value, str) and value.isdigit():
            return str(int(value) + by * self.step["execution"])
        if type(value) is not int:
            return value
        if key in TIMES and value > 0:
            return value + by * self.span
        kind = IDS.get(key)
        if key == "ID" and inside == "Accumulables":
            kind = "metric"
        if key == "Parent IDs":
            kind = "rdd" if inside == "RDD Info" else "stage"
        return value + by * self.step[kind] if kind else value


# Numbers in which the copies of a task differ.
OWN = {"Task ID", "Index", "Partition ID", "Launch Time", "Finish Time"}
VARYING = re.compile(
    r'"(Task ID|Index|Partition ID|Launch Time|Finish Time|Update|Value|Executor Run Time|Executor CPU Time|Result Size'
    r'|JVM GC Time|Peak Execution Memory|Memory Bytes Spilled|Disk Bytes Spilled|Fetch Wait Time|Local Blocks Fetched'
    r'|Remote Bytes Read|Local Bytes Read|Total Records Read|Shuffle Bytes Written|Shuffle Write Time'
    r'|Shuffle Records Written|Bytes Read|Records Read|Bytes Written|Records Written)":("?)(\d+)'
)


class Template:
    """A task's line as constant text with numbers between."""

    def __init__(self, event):
        line = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
        found = [match for match in VARYING.finditer(line) if match[3] != "0"]
        ends = [0] + [match.end(3) for match in found]
        starts = [match.start(3) for match in found] + [len(line)]
        self.text = "%d".join(line[end:start].replace("%", "%%") for end, start in zip(ends, starts))
        self.numbers = [(match[1], int(match[3])) for match in found]

    def line(self, own, rng):
        """The line of a copy with these `own` numbers."""
        numbers = [own[key] if key in OWN else int(value * (0.8 + 0.4 * rng.random())) for key, value in self.numbers]
        return self.text % tuple(numbers)


def ended_task(event, copies, next_id, output, rng):
    """Start and end of each copy of a task that ended."""
    info = event["Task Info"]
    # A number that is 0 would not be seen as one that differs; these are written as they come.
    shown = {**info, "Index": info["Index"] + 1, "Task ID": info["Task ID"] + 1, "Partition ID": info.get("Partition ID", 0) + 1}
    end = Template({**event, "Task Info": shown})
    start = {key: event[key] for key in ("Stage ID", "Stage Attempt ID") if key in event}
    start = Template({"Event": "SparkListenerTaskStart", **start, "Task Info": {**shown, "Finish Time": 0, "Accumulables": []}})
    took = info["Finish Time"] - info["Launch Time"]
    for copy in range(copies):
        index = info["Index"] * copies + copy
        launch = info["Launch Time"] + rng.randrange(200)
        finish = launch + max(1, int(took * (0.8 + 0.4 * rng.random())))
        own = {"Task ID": next_id + copy, "Index": index, "Partition ID": index, "Launch Time": launch, "Finish Time": finish}
        output.write(start.line(own, rng))
        output.write(end.line(own, rng))
    return next_id + copies


def widened(event, copies):
    """The event of a stage or a job whose stages have more tasks."""
    for info in [event.get("Stage Info"), *event.get("Stage Infos", [])]:
        if info:
            info["Number of Tasks"] *= copies
    return event


def generate(source, out, size, copies=COPIES, tasks=None):
    """Writes the log until it has `size` decoded bytes or, if `tasks` is given, that many ended tasks; both, as (bytes, tasks)."""
    log = Log(list(source_lines(source)))
    output = Output(out)
    rng = random.Random(1)
    for line in log.head:
        output.write(line)
    next_id, ended, by = 0, 0, 0

    def enough():
        return ended >= tasks if tasks else output.decoded >= size

    while not enough():
        for event in log.body:
            event, name = log.shifted(event, by), name_of(event)
            if name == "TaskEnd":
                next_id = ended_task(event, copies, next_id, output, rng)
                ended += copies
            elif name != "TaskStart":
                line = json.dumps(widened(event, copies), separators=(",", ":"), ensure_ascii=False)
                output.write(line, flush=name not in UNFLUSHED)
        by += 1
    for line in log.end:
        output.write(line, flush=True)
    output.close()
    return output.decoded, ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("size", nargs="?", default="1G", help="decoded bytes, or with a unit: 200M, 1G (%(default)s)")
    parser.add_argument("--tasks", type=int, help="as many ended tasks, whatever the size")
    parser.add_argument("--copies", type=int, default=COPIES, help="tasks for each of SOURCE's (%(default)s)")
    arguments = parser.parse_args()
    decoded, tasks = generate(arguments.source, arguments.out, size_of(arguments.size), arguments.copies, arguments.tasks)
    print(json.dumps({"bytes": decoded, "tasks": tasks}))


if __name__ == "__main__":
    main()
