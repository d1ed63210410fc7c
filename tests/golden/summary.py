"""A second opinion on an event log: the numbers of every stage attempt, computed from the raw JSON alone.

Reads decoded event log lines on standard input and prints JSON: a list of stage attempts with what `sparkls report
--format json` says of them, and the stages where the simple findings hold by their formula. Shares no code with the
product; written to be read beside its documentation.
"""

import json
import math
import sys
from collections import defaultdict


def median(values):
    values, middle = sorted(values), len(values) // 2
    return float(values[middle]) if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def nearest_rank(values, percent):
    return sorted(values)[max(1, math.ceil(len(values) * percent / 100)) - 1]


def quantiles(values):
    if not values:
        return None
    return {
        "min": min(values),
        "median": median(values),
        "p75": nearest_rank(values, 75),
        "p95": nearest_rank(values, 95),
        "max": max(values),
    }


def whole(value):
    """A number of the log; 0 where it is none or negative."""
    return max(0, value) if isinstance(value, int) else 0


class Task:
    def __init__(self, event):
        info, metrics = event["Task Info"], event.get("Task Metrics")
        self.index = info["Index"]
        self.launch, finish = whole(info["Launch Time"]), whole(info["Finish Time"])
        self.measured = metrics is not None
        metrics = metrics or {}
        self.run_time = whole(metrics.get("Executor Run Time"))
        self.duration = max(0, finish - self.launch) if finish else self.run_time
        self.finish = self.launch + self.duration
        self.host, self.executor = info["Host"], info["Executor ID"]
        self.success = event["Task End Reason"]["Reason"] == "Success"
        read, shuffle = metrics.get("Input Metrics") or {}, metrics.get("Shuffle Read Metrics") or {}
        self.read = sum(
            whole(bytes)
            for bytes in (read.get("Bytes Read"), shuffle.get("Remote Bytes Read"), shuffle.get("Local Bytes Read"))
        )
        self.spill = whole(metrics.get("Disk Bytes Spilled"))


def population(tasks):
    """One success for each partition: the first to finish, of those the first in the log."""
    chosen = {}
    for task in filter(lambda task: task.success, tasks):
        best = chosen.setdefault(task.index, task)
        if task.finish < best.finish:
            chosen[task.index] = task
    return [chosen[index] for index in sorted(chosen)]


def slow_hosts(counted, overall):
    """The seed's rule: at least 15 tasks on 3 hosts; a host with twice the median of all on a fifth of the tasks."""
    by_host = defaultdict(list)
    for task in counted:
        by_host[task.host].append(task.duration)
    if len(counted) < 15 or len(by_host) < 3:
        return []
    return sorted(
        host
        for host, times in by_host.items()
        if sum(times) / len(times) >= 2 * overall and len(times) / len(counted) >= 0.2
    )


def main():
    announced, ended = {}, defaultdict(list)
    for line in sys.stdin.buffer:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        kind = event.get("Event")
        if kind in ("SparkListenerStageSubmitted", "SparkListenerStageCompleted"):
            info = event["Stage Info"]
            announced[info["Stage ID"], info.get("Stage Attempt ID", 0)] = info["Number of Tasks"]
        elif kind == "SparkListenerTaskEnd":
            ended[event["Stage ID"], event.get("Stage Attempt ID", 0)].append(Task(event))
    stages = []
    for stage, attempt in sorted(announced.keys() | ended.keys()):
        counted = population(ended[stage, attempt])
        durations = [task.duration for task in counted]
        measured = bool(counted) and all(task.measured for task in counted)
        stages.append({
            "stage": stage,
            "attempt": attempt,
            "tasks": announced.get((stage, attempt), 0),
            "succeeded": len(counted),
            "duration_ms": quantiles(durations),
            "read_bytes": quantiles([task.read for task in counted]) if measured else None,
            "spill_bytes": sum(task.spill for task in counted) if measured else None,
            "slow_hosts": slow_hosts(counted, median(durations)) if counted else [],
        })
    json.dump(stages, sys.stdout)


main()
