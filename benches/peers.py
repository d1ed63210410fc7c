#!/usr/bin/env python3
"""Side by side with the linters for PySpark that pip can install: what is found, what is right, what it costs.

    python3 benches/peers.py [--binary FILE] [--only findings|truth|time] [--peer NAME] [PATH]...

Makes an environment with the peers in target/peers/ and prints tables in Markdown. Needs Python 3.11 and cargo.
"""

import argparse
import ast
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import peers_trees as trees

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "target" / "peers"
# The repository's own files that stand in for jobs.
DEFAULT_PATHS = ["tests/plan", "examples"]
OURS = "sparkls"
RUNS = 3
FILES = 1000

# A file, a line from 1, the tool's own name of the rule.
Finding = tuple[str, int, str]


@dataclass
class Report:
    """What a tool says of a folder."""

    files: int
    findings: list[Finding]
    failures: list[str] = field(default_factory=list)


@dataclass
class Tool:
    """A linter: how it is called in a folder, and how its answer is read from (stdout, stderr, files there)."""

    name: str
    command: list[str]
    read: Callable[[str, str, int], Report]

    def for_people(self) -> list[str]:
        """The command as a person types it: the answer as text, which is all that some of them can."""
        if "--format" not in self.command:
            return self.command
        at = self.command.index("--format")
        return self.command[:at] + self.command[at + 2 :]


def read_ours(out: str, err: str, there: int) -> Report:
    answer = json.loads(out)
    findings = [(one["path"], one["start"]["line"], one["rule"]) for one in answer["findings"]]
    failures = [f"{one['path']}: {one['message']}" for one in answer["errors"]]
    return Report(there - len(failures), findings, failures)


def read_cylint(out: str, err: str, there: int) -> Report:
    answer = json.loads(out)
    findings = [(one["filepath"], one["line"], one["rule_id"]) for one in answer["findings"]]
    return Report(answer["files_scanned"], findings, complaints(err))


def read_antipattern(out: str, err: str, there: int) -> Report:
    """Everything is on stderr, in colours: a line with the rule, a line with the place."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", err)
    read = re.search(r"Linting (\d+) file", plain)
    pattern = re.compile(r"^(?:error|warning|info)\[([A-Z]+\d+)\].*\n\s*--> (.+):(\d+):\d+$", re.MULTILINE)
    findings = [(path, int(line), rule) for rule, path, line in pattern.findall(plain)]
    failures = re.findall(r"^warning: (Parse error .*)$", plain, re.MULTILINE)
    return Report((int(read[1]) if read else 0) - len(failures), findings, failures)


def read_sparkdoctor(out: str, err: str, there: int) -> Report:
    findings = [(one["filename"], one["line"], one["rule_id"]) for one in json.loads(out or "[]")]
    failures = complaints(err)
    return Report(there - len(failures), findings, failures)


def read_perf_lint(out: str, err: str, there: int) -> Report:
    answer = json.loads(out)
    findings = [(one["file_path"], one["line_number"], one["rule_id"]) for one in answer["findings"]]
    return Report(answer["scan"]["files_scanned"], findings, complaints(err))


def complaints(err: str) -> list[str]:
    """What a tool says on stderr of files that it can't read, and the end of a crash."""
    lines = err.splitlines()
    is_complaint = re.compile(r"syntax ?error|parse|could not|cannot|failed", re.IGNORECASE).search
    said = [line.strip() for line in lines if is_complaint(line)]
    crash = [lines[-1].strip()] if any(line.startswith("Traceback") for line in lines) else []
    return list(dict.fromkeys(said + crash))


def tools(binary: Path, environment: Path) -> list[Tool]:
    """All tools, ours first."""
    run = lambda name: str(environment / ("Scripts" if os.name == "nt" else "bin") / name)
    return [
        Tool(OURS, [str(binary), "check", "--format", "json", "."], read_ours),
        Tool("cylint", [run("cy"), "lint", "--format", "json", "."], read_cylint),
        Tool("pyspark-antipattern", [run("pyspark-antipattern"), "check", "."], read_antipattern),
        Tool("sparkdoctor", [run("sparkdoctor"), "lint", ".", "--format", "json"], read_sparkdoctor),
        Tool("spark-perf-lint", [run("spark-perf-lint"), "scan", ".", "--format", "json", "--quiet"], read_perf_lint),
    ]


def install() -> Path:
    """An environment with the peers, made once."""
    environment = HOME / "venv"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.is_file():
        venv.create(environment, with_pip=True)
    peers = ["cylint", "pyspark-antipattern", "sparkdoctor", "spark-perf-lint"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peers], check=True)
    listing = [python, "-m", "pip", "list", "--format", "json"]
    listed = subprocess.run(listing, check=True, capture_output=True, text=True)
    versions = {one["name"]: one["version"] for one in json.loads(listed.stdout)}
    print("Peers: " + ", ".join(f"{name} {versions[name]}" for name in peers) + "\n")
    return environment


def built() -> Path:
    """The release binary, built where cargo is told to build."""
    command = ["cargo", "build", "--release", "--bin", OURS, "--message-format", "json-render-diagnostics"]
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    made = [json.loads(line).get("executable") for line in out.splitlines() if line.startswith("{")]
    return Path(next(path for path in reversed(made) if path))


def run(tool: Tool, folder: Path, extra: tuple[str, ...] = ()) -> Report:
    """What a tool says of the Python files below a folder."""
    done = subprocess.run([*tool.command, *extra], cwd=folder, capture_output=True, text=True, errors="replace")
    there = sum(1 for _ in folder.rglob("*.py"))
    try:
        report = tool.read(done.stdout, done.stderr, there)
    except (ValueError, KeyError, TypeError) as error:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return Report(0, [], [f"exit {done.returncode}, its answer can't be read ({error}): {last}"])
    of_python = [one for one in report.findings if one[0].endswith(".py")]
    report.findings = [(os.path.normpath(path), line or 1, rule) for path, line, rule in of_python]
    return report


def meanings() -> dict[str, dict[str, list[str]]]:
    """By tool and by its code: our names of the same."""
    known: dict[str, dict[str, list[str]]] = defaultdict(dict)
    with open(Path(__file__).with_name("peers.tsv"), newline="", encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row and not row[0].startswith("#"):
                known[row[0]][row[1]] = row[2].split()
    return known


@cache
def places(path: Path) -> tuple[dict[int, int], dict[int, set[int]]]:
    """By line: the first line of its innermost statement, and the first lines of the loops and functions around it."""
    statement: dict[int, int] = {}
    heads: dict[int, set[int]] = defaultdict(set)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return statement, heads
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or node.end_lineno is None:
            continue
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if body else node.end_lineno
        for line in range(node.lineno, end + 1):
            statement[line] = node.lineno
        if isinstance(node, (ast.For, ast.While, ast.FunctionDef)):
            for line in range(node.lineno, node.end_lineno + 1):
                heads[line].add(node.lineno)
    return statement, heads


def is_same_place(path: Path, one: int, other: int) -> bool:
    """Lines of one finding: one apart at most, in one statement, or one is the head of the other's loop or function."""
    statement, heads = places(path)
    return (
        abs(one - other) <= 1
        or one in statement and statement[one] == statement.get(other)
        or one in heads.get(other, ())
        or other in heads.get(one, ())
    )


def named(report: Report, codes: dict[str, list[str]] | None) -> list[tuple[str, int, tuple[str, ...]]]:
    """The findings with our names of their rules; what means no rule of ours is left out."""
    if codes is None:
        return [(path, line, (rule,)) for path, line, rule in report.findings]
    return [(path, line, tuple(codes[rule])) for path, line, rule in report.findings if rule in codes]


def has(found: dict, folder: Path, path: str, line: int, slugs: tuple[str, ...]) -> str | None:
    """The slug under which one of the findings, by path and slug, stands at the same place."""
    for slug in slugs:
        if any(is_same_place(folder / path, line, other) for other in found.get((path, slug), ())):
            return slug
    return None


def by_place(findings: list[tuple[str, int, tuple[str, ...]]]) -> dict[tuple[str, str], set[int]]:
    """Lines by path and slug."""
    lines = defaultdict(set)
    for path, line, slugs in findings:
        for slug in slugs:
            lines[path, slug].add(line)
    return lines


def table(head: list[str], rows: list[list]) -> None:
    """A table of Markdown; numbers are on the right."""
    columns = [[row[at] for row in rows] for at in range(len(head))]
    is_number = [all(isinstance(cell, (int, float)) or cell == "-" for cell in column) for column in columns]
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---:" if right else "---" for right in is_number) + " |")
    for row in rows:
        print("| " + " | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row) + " |")
    print()


@cache
def is_python(path: Path) -> bool:
    """Whether Python can parse a file."""
    try:
        ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return False
    return True


def print_failures(reports: dict[str, Report], folder: Path) -> None:
    """Files that a tool could not read, as it says so or as its silence does."""
    broken = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if not is_python(path)}
    for name, report in reports.items():
        if broken and not report.failures and not any(path in broken for path, *_ in report.findings):
            report.failures.append(f"finds nothing in {len(broken)} files that are no valid Python, and does not say so")
    for name, report in reports.items():
        for failure in report.failures[:5]:
            print(f"{name}: {failure}")
        if len(report.failures) > 5:
            print(f"{name}: {len(report.failures) - 5} more")
    if any(report.failures for report in reports.values()):
        print()


def copied(paths: list[str], folder: Path) -> Path:
    """The Python files of the paths, away from folders that a tool may skip by their names."""
    target = folder / "files"
    for number, path in enumerate(Path(path) for path in paths):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            below = file.relative_to(path) if path.is_dir() else Path(file.name)
            copy = target / f"{number}_{path.resolve().name}" / below
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    (target / "sparkls.toml").write_text("", encoding="utf-8")
    return target


def print_findings(all_tools: list[Tool], paths: list[str], folder: Path) -> None:
    """Who finds what on the same files, and who agrees."""
    target = copied(paths, folder)
    codes = meanings()
    reports = {tool.name: run(tool, target) for tool in all_tools}
    # Rules that are off by default are compared too: a peer may have the same on.
    ours = named(run(all_tools[0], target, ("--select", "all")), None)
    our_places = by_place(ours)
    print(f"## Findings\n\nOn {', '.join(paths)}.\n")
    rows, agreed, only_ours, only_theirs = [], {}, {}, {}
    for name, report in reports.items():
        lines = len({(path, line) for path, line, _ in report.findings})
        if name == OURS:
            rows.append([name, report.files, len(report.findings), lines, len(report.findings), "-", "-", "-"])
            continue
        theirs = named(report, codes[name])
        their_places = by_place(theirs)
        known = {slug for slugs in codes[name].values() for slug in slugs}
        both, missed_by_us, missed_by_them = Counter(), Counter(), Counter()
        for path, line, slugs in theirs:
            slug = has(our_places, target, path, line, slugs)
            (both if slug else missed_by_us)[slug or slugs[0]] += 1
        for path, line, (slug,) in ours:
            if slug in known and not has(their_places, target, path, line, (slug,)):
                missed_by_them[slug] += 1
        agreed[name], only_theirs[name], only_ours[name] = both, missed_by_us, missed_by_them
        totals = [sum(counter.values()) for counter in (both, missed_by_them, missed_by_us)]
        rows.append([name, report.files, len(report.findings), lines, len(theirs), *totals])
    head = ["tool", "files read", "findings", "lines", "of subjects of ours", "agreed", "only ours", "only theirs"]
    table(head, rows)
    print_failures(reports, target)
    print("By subject: agreed / only ours / only theirs; `-` where a tool has no such rule.\n")
    peers = list(agreed)
    slugs = sorted({slug for known in codes.values() for names in known.values() for slug in names})
    rows = []
    for slug in slugs:
        cells = []
        for name in peers:
            numbers = [agreed[name][slug], only_ours[name][slug], only_theirs[name][slug]]
            has_rule = any(slug in names for names in codes[name].values())
            cells.append(" / ".join(map(str, numbers)) if has_rule else "-")
        if any(re.search("[1-9]", cell) for cell in cells):
            rows.append([f"`{slug}`", sum(1 for one in ours if one[2] == (slug,)), *cells])
    table(["subject", "ours", *peers], rows)
    alone = Counter(slug for _, _, (slug,) in ours if slug not in slugs)
    listed = ", ".join(f"`{slug}` {count}" for slug, count in alone.most_common())
    print(f"Ours of subjects that no peer has: {listed or 'none'}.\n")


BLOCK = re.compile(r"^(`{3,})(\w+)(.*)$")
NAMES = {
    "py": "jobs/job.py", "conf": "conf/spark-defaults.conf", "toml": "sparkls.toml", "sh": "run.sh",
    "makefile": "Makefile", "dockerfile": "Dockerfile", "yaml": "job.yaml", "json": "job.json", "hcl": "main.tf",
    "hocon": "application.conf", "ipynb": "notebook.ipynb",
}
MARKER = re.compile(r"^\s*#[\s#]*\^+ (error|warning|information|hint)\[([a-z-]+)\]")


def written_fixture(fixture: Path, folder: Path) -> list[Finding]:
    """Writes the projects of a fixture below a folder; what its markers say is to be found in the Python files."""
    expected: list[Finding] = []
    project, lines = 0, iter(fixture.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith("#"):
            project += 1
        block = BLOCK.match(line)
        if not block:
            continue
        fence, language, rest = block.groups()
        body = []
        for inner in lines:
            if inner.rstrip() == fence:
                break
            body.append(inner)
        if language not in NAMES:
            continue
        path = re.search(r'path="([^"]+)"', rest)
        base = folder / fixture.stem / f"{project:02}"
        file = base / (path[1] if path else NAMES[language])
        number = 2
        while language == "py" and file.exists():
            file = file.with_stem(f"{file.stem.rstrip('0123456789_')}_{number}")
            number += 1
        kept: list[str] = []
        for inner in body:
            marker = MARKER.match(inner)
            if marker and language == "py":
                expected.append((str(file.relative_to(folder)), len(kept), marker[2]))
            if not marker:
                kept.append(inner)
        settings = base / "sparkls.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        if not settings.exists():
            settings.write_text('spark-version = "3.5.9"\n', encoding="utf-8")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return expected


def rules_off(ours: Tool) -> set[str]:
    """Our rules that are off by default."""
    out = subprocess.run([ours.command[0], "rules"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in out.splitlines() if line.split()[1:2] == ["off"]}


def print_truth(all_tools: list[Tool], folder: Path) -> None:
    """Right and wrong on the examples of our fixtures, whose markers say what is to be found."""
    target = folder / "examples"
    target.mkdir()
    expected: list[Finding] = []
    for fixture in sorted((ROOT / "tests" / "rules").glob("*.md")):
        if fixture.stem != "README":
            expected += written_fixture(fixture, target)
    truth = by_place([(path, line, (slug,)) for path, line, slug in expected])
    codes, off = meanings(), rules_off(all_tools[0])
    rows, reports = [], {}
    for tool in all_tools:
        report = reports[tool.name] = run(tool, target)
        found = named(report, None if tool.name == OURS else codes[tool.name])
        # Other fixtures don't mark what a rule would find that is off there.
        found = [one for one in found if any(slug not in off or Path(one[0]).parts[0] == slug for slug in one[2])]
        known = {slug for *_, slugs in found for slug in slugs} | {slug for *_, slug in expected}
        if tool.name != OURS:
            known = {slug for slugs in codes[tool.name].values() for slug in slugs}
        of_subjects = [one for one in expected if one[2] in known]
        there = by_place(found)
        hit = [one for one in of_subjects if has(there, target, one[0], one[1], (one[2],))]
        right = [one for one in found if has(truth, target, *one)]
        wrong = len(found) - len(right)
        share = 100 * len(right) // max(1, len(found))
        row = [tool.name, report.files, len(of_subjects), len(hit), len(of_subjects) - len(hit)]
        rows.append([*row, len(expected) - len(of_subjects), len(right), wrong, f"{share} %"])
    files = sum(1 for _ in target.rglob("*.py"))
    print("## Right and wrong\n")
    print(f"{files} examples of tests/rules/ with {len(expected)} findings that their markers ask for.\n")
    head = ["tool", "files read", "asked for, of its subjects", "found", "missed", "of other subjects"]
    table([*head, "findings that are right", "wrong", "right"], rows)
    print_failures(reports, target)
    print(
        "The examples are ours, and so is what they call right: our tests hold us to every one of them, so that our\n"
        "own row says nothing but that. The negatives are our guards, many of them written because a peer cried\n"
        "there. A peer is judged on rules only that mean what one of ours means, wherever in the statement or loop it\n"
        "points.\n"
    )


def cpu_seconds(command: list[str], folder: Path) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def print_times(all_tools: list[Tool], folder: Path, runs: int) -> None:
    """CPU time on a tree of jobs, and on one in which one file in ten is a job."""
    print(f"## Time\n\nCPU seconds (user and system), the least of {runs} runs, with the answer as text.\n")
    results, lines = {}, {}
    for name, make in (("jobs", trees.spark_tree), ("mixed", trees.mixed_tree)):
        target = folder / name
        lines[name] = make(target, FILES)
        (target / "sparkls.toml").write_text("", encoding="utf-8")
        taken = defaultdict(list)
        # Tools take turns, so that what else the machine does meets all of them.
        for _ in range(runs):
            for tool in all_tools:
                taken[tool.name].append(cpu_seconds(tool.for_people(), target))
        results[name] = {tool: min(times) for tool, times in taken.items()}
    reports = {tool.name: run(tool, folder / "jobs") for tool in all_tools}
    mixed = {tool.name: run(tool, folder / "mixed") for tool in all_tools}
    rows = []
    for tool in (tool.name for tool in all_tools):
        row = [tool]
        for name, report in (("jobs", reports[tool]), ("mixed", mixed[tool])):
            ratio = results[name][tool] / results[name][OURS]
            row += [report.files, len(report.findings), results[name][tool], f"{ratio:.1f} x"]
        rows.append(row)
    jobs, both = f"{FILES} jobs, {lines['jobs']:,} lines", f"one job in ten files, {lines['mixed']:,} lines"
    print(f"First {jobs}; then {FILES} files, {both}.\n")
    head = ["files read", "findings", "CPU s", "of ours"]
    table(["tool", *(f"jobs: {name}" for name in head), *(f"mixed: {name}" for name in head)], rows)
    print_failures(reports, folder / "jobs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="Python files and folders to compare findings on, too")
    parser.add_argument("--binary", type=Path, help="ours, instead of building it")
    parser.add_argument("--only", choices=["findings", "truth", "time"], help="one part alone")
    parser.add_argument("--peer", action="append", metavar="NAME", help="beside this one alone; may be repeated")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of which the fastest counts")
    arguments = parser.parse_args()
    binary = (arguments.binary or built()).resolve()
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = [OURS, *arguments.peer] if arguments.peer else None
    all_tools = [tool for tool in tools(binary, install()) if wanted is None or tool.name in wanted]
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        if arguments.only in (None, "findings"):
            os.chdir(ROOT) if not arguments.paths else None
            print_findings(all_tools, DEFAULT_PATHS + arguments.paths, Path(folder))
        if arguments.only in (None, "truth"):
            print_truth(all_tools, Path(folder))
        if arguments.only in (None, "time"):
            print_times(all_tools, Path(folder), arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
