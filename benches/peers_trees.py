"""Trees of Python files for benches/peers.py: PySpark jobs of 100 to 800 lines, and the code that lies beside them.

The same numbers give the same bytes: every file draws from a generator that is seeded with its place in the tree.
"""

from pathlib import Path
from random import Random

FEWEST_LINES, MOST_LINES = 100, 760

TABLES = ["orders", "customers", "payments", "shipments", "returns", "sessions", "clicks", "invoices", "products", "stores"]
KEYS = ["order_id", "customer_id", "account_id", "session_id", "product_id", "store_id"]
GROUPS = ["country", "channel", "segment", "currency", "region", "device", "category"]
MEASURES = ["amount", "price", "quantity", "duration", "discount", "tax"]
TIMES = ["created_at", "updated_at", "paid_at", "shipped_at", "event_time"]

JOB_HEAD = '''"""$Table by $group: builds the daily $name mart.

Runs once a day; reads what the ingestion wrote and replaces one day of the mart.
"""

import argparse
import logging
import os
from datetime import date, datetime, timedelta
from typing import Dict, List, Optional

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
$imports
logger = logging.getLogger(__name__)

LAKE = os.environ.get("LAKE", "s3a://lake")
RETRIES = 3
CURRENCIES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17}

'''

# What a step defines, and how the job's last function uses it.
JOB_STEPS = [
    (
        '''
def read_$table_$n(spark: SparkSession, day: date) -> DataFrame:
    """One day of $table, with the columns that the mart needs."""
    path = os.path.join(LAKE, "raw", "$table")
    return (
        spark.read.parquet(path)
        .where(F.col("day") == F.lit(day.isoformat()))
        .select("$key", "$group", "$measure", "$time", "status")
    )

''',
        '''    $table_$n = read_$table_$n(spark, arguments.day)
''',
    ),
    (
        '''
SCHEMA_$n = T.StructType(
    [
        T.StructField("$key", T.StringType(), False),
        T.StructField("$group", T.StringType()),
        T.StructField("$measure", T.DecimalType(18, 2)),
        T.StructField("$time", T.TimestampType()),
    ]
)


def read_landing_$n(spark: SparkSession, folder: str) -> DataFrame:
    """The landing files of $table, whose header can't be trusted."""
    raw = spark.read.schema(SCHEMA_$n).option("header", True).option("mode", "PERMISSIVE").csv(folder)
    return raw.dropna(subset=["$key"]).dropDuplicates(["$key"])

''',
        '''    landing_$n = read_landing_$n(spark, f"{LAKE}/landing/$table")
''',
    ),
    (
        '''
def add_$other_$n($table: DataFrame, $other: DataFrame) -> DataFrame:
    """Joins $other to $table, the newest row of each $key."""
    newest = Window.partitionBy("$key").orderBy(F.col("$time").desc())
    latest = (
        $other.withColumn("position", F.row_number().over(newest))
        .where(F.col("position") == 1)
        .drop("position")
    )
    return $table.join(latest.select("$key", "$group2", "$measure2"), on="$key", how="left")

''',
        '''    joined_$n = add_$other_$n($table, spark.table("lake.$other"))
''',
    ),
    (
        '''
def totals_$n(frame: DataFrame, keys: List[str]) -> DataFrame:
    """Sums and counts by the given keys and by day."""
    return (
        frame.withColumn("day", F.to_date("$time"))
        .withColumn("is_large", F.when(F.col("$measure") > $limit, F.lit(1)).otherwise(F.lit(0)))
        .groupBy("day", *keys)
        .agg(
            F.sum("$measure").alias("total_$measure"),
            F.avg("$measure").alias("mean_$measure"),
            F.countDistinct("$key").alias("n_$key"),
            F.sum("is_large").alias("n_large"),
        )
    )

''',
        '''    totals_$n($table, ["$group"]).write.mode("append").saveAsTable("mart.totals_$n")
''',
    ),
    (
        '''
def running_$n(frame: DataFrame) -> DataFrame:
    """The running total and the change to the day before, by $group."""
    by_day = Window.partitionBy("$group").orderBy("day")
    so_far = by_day.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = F.lag("total_$measure").over(by_day)
    return frame.select(
        "*",
        F.sum("total_$measure").over(so_far).alias("running_$measure"),
        (F.col("total_$measure") - before).alias("change_$measure"),
    )

''',
        '''    running_$n(result).write.mode("overwrite").saveAsTable("mart.running_$n")
''',
    ),
    (
        '''
@F.udf(returnType=T.StringType())
def clean_$group_$n(value):
    """What people typed for a $group, as the mart spells it."""
    if value is None:
        return None
    value = value.strip().lower()
    parts = [part for part in value.replace("/", " ").split(" ") if part]
    if not parts:
        return None
    return "-".join(parts)


def with_clean_$group_$n(frame: DataFrame) -> DataFrame:
    """Cleans the $group column."""
    return frame.withColumn("$group", clean_$group_$n("$group"))

''',
        '''    joined = with_clean_$group_$n(joined)
''',
    ),
    (
        '''
def casts_$n(frame: DataFrame, columns: Dict[str, str]) -> DataFrame:
    """Casts the columns that arrive as text."""
    for name, kind in columns.items():
        frame = frame.withColumn(name, F.col(name).cast(kind))
    return frame

''',
        '''    joined = casts_$n(joined, {"$measure": "double", "$time": "timestamp"})
''',
    ),
    (
        '''
def in_euro_$n(frame: DataFrame) -> DataFrame:
    """Converts $measure with the rates of the day."""
    rates = frame.sparkSession.createDataFrame(list(CURRENCIES.items()), ["currency", "rate"])
    converted = frame.join(F.broadcast(rates), on="currency", how="left")
    return converted.select(
        *[column for column in frame.columns if column != "$measure"],
        F.round(F.col("$measure") * F.coalesce(F.col("rate"), F.lit(1.0)), 2).alias("$measure"),
    )

''',
        '''    joined = in_euro_$n(joined)
''',
    ),
    (
        '''
def check_$n(frame: DataFrame, name: str, least: int = $limit) -> None:
    """Fails the run if a frame holds too little or misses keys."""
    problems = []
    for column in ("$key", "$group"):
        missing = frame.where(F.col(column).isNull()).count()
        if missing > 0:
            problems.append(f"{name}: {missing} rows without {column}")
    count = frame.count()
    logger.info("%s has %d rows", name, count)
    if count < least:
        problems.append(f"{name}: {count} rows, at least {least} wanted")
    if problems:
        raise ValueError("; ".join(problems))

''',
        '''    check_$n(joined, "joined")
''',
    ),
    (
        '''
def by_sql_$n(spark: SparkSession, day: date) -> DataFrame:
    """The $group report as the analysts wrote it."""
    return spark.sql(
        f"""
        SELECT o.$group, c.$group2, sum(o.$measure) AS total, count(*) AS n
        FROM lake.$table o
        JOIN lake.$other c ON o.$key = c.$key
        WHERE o.day = DATE '{day.isoformat()}' AND c.status <> 'closed'
        GROUP BY o.$group, c.$group2
        """
    )

''',
        '''    by_sql_$n(spark, arguments.day).write.mode("overwrite").saveAsTable("mart.report_$n")
''',
    ),
    (
        '''
def history_$n(spark: SparkSession, days: List[date]) -> Optional[DataFrame]:
    """The days of the window that are there, one under the other."""
    result = None
    for day in days:
        path = f"{LAKE}/mart/$name/day={day.isoformat()}"
        part = spark.read.parquet(path).withColumn("day", F.lit(day.isoformat()))
        result = part if result is None else result.unionByName(part)
    return result

''',
        "",
    ),
    (
        '''
def write_$n(frame: DataFrame, table: str) -> None:
    """Replaces the days that the frame holds."""
    (
        frame.repartition("day")
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("day")
        .format("parquet")
        .saveAsTable(table)
    )
    logger.info("wrote %s", table)

''',
        '''    write_$n(joined, "mart.$name_$n")
''',
    ),
    (
        '''
def export_$n(frame: DataFrame, folder: str) -> None:
    """A single file for those who open it in a spreadsheet."""
    top = frame.orderBy(F.col("total_$measure").desc()).limit($limit)
    top.coalesce(1).write.mode("overwrite").option("header", True).csv(f"{folder}/$name")

''',
        '''    export_$n(result, f"{LAKE}/export")
''',
    ),
    (
        '''
def report_$n(frame: DataFrame) -> List[str]:
    """Lines for the mail that goes out in the morning."""
    rows = frame.groupBy("$group").agg(F.sum("$measure").alias("total")).orderBy("total").collect()
    lines = []
    for row in rows:
        share = row["total"] / max(1, len(rows))
        lines.append(f"{row['$group']:<20} {row['total']:>12,.2f} {share:>8.2f}")
    return lines

''',
        '''    logger.info("; ".join(report_$n(joined)))
''',
    ),
    (
        '''
def sessions_$n(events: DataFrame, gap_minutes: int = 30) -> DataFrame:
    """Numbers the sessions of each $key by gaps between its events."""
    ordered = Window.partitionBy("$key").orderBy("$time")
    gap = F.col("$time").cast("long") - F.lag("$time").over(ordered).cast("long")
    is_new = F.when(gap > gap_minutes * 60, 1).otherwise(0)
    return (
        events.withColumn("is_new", F.coalesce(is_new, F.lit(1)))
        .withColumn("session", F.sum("is_new").over(ordered.rowsBetween(Window.unboundedPreceding, 0)))
        .drop("is_new")
    )

''',
        '''    sessions_$n($table).createOrReplaceTempView("sessions_$n")
''',
    ),
    (
        '''
class $Table$n:
    """Builds the $name mart of one day."""

    def __init__(self, spark: SparkSession, day: date, dry_run: bool = False):
        self.spark = spark
        self.day = day
        self.dry_run = dry_run
        self.source = self.spark.table("lake.$table")

    def filtered(self) -> DataFrame:
        """What counts for the mart."""
        return self.source.where((F.col("day") == self.day) & F.col("status").isin("open", "paid"))

    def enriched(self) -> DataFrame:
        """With the $other beside it."""
        $other = self.spark.table("lake.$other").select("$key", "$group2")
        return self.filtered().join($other, "$key", "left")

    def run(self) -> int:
        """Writes the mart; the number of its rows."""
        result = self.enriched().groupBy("$group", "$group2").agg(F.sum("$measure").alias("total"))
        result = result.cache()
        count = result.count()
        if not self.dry_run:
            result.write.mode("overwrite").saveAsTable(f"mart.$name")
        result.unpersist()
        return count

''',
        '''    logger.info("%d rows", $Table$n(spark, arguments.day).run())
''',
    ),
    (
        '''
def days_between_$n(start: date, end: date) -> List[date]:
    """All days from the first to the last."""
    if end < start:
        raise ValueError(f"{end} is before {start}")
    return [start + timedelta(days=number) for number in range((end - start).days + 1)]

''',
        '''    history_days = days_between_$n(arguments.day - timedelta(days=7), arguments.day)
''',
    ),
    (
        '''
def retry_$n(action, name: str):
    """Runs an action again if the store was busy."""
    for attempt in range(1, RETRIES + 1):
        try:
            return action()
        except OSError as error:
            logger.warning("%s: attempt %d of %d failed: %s", name, attempt, RETRIES, error)
            if attempt == RETRIES:
                raise
    return None

''',
        "",
    ),
    (
        '''
def pivoted_$n(frame: DataFrame) -> DataFrame:
    """One column for each status."""
    states = ["open", "paid", "closed"]
    wide = frame.groupBy("$key").pivot("status", states).agg(F.sum("$measure"))
    renamed = [F.coalesce(F.col(state), F.lit(0)).alias(f"$measure_{state}") for state in states]
    return wide.select("$key", *renamed)

''',
        '''    pivoted_$n(joined).write.mode("overwrite").parquet(f"{LAKE}/wide/$name")
''',
    ),
    (
        '''
def stream_$n(spark: SparkSession, topic: str, checkpoint: str):
    """Counts what arrives on a topic, by ten minutes."""
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["BROKERS"])
        .option("subscribe", topic)
        .option("maxOffsetsPerTrigger", 100000)
        .load()
    )
    events = raw.select(F.from_json(F.col("value").cast("string"), "$group string, $time timestamp").alias("e")).select("e.*")
    counts = (
        events.withWatermark("$time", "15 minutes")
        .groupBy(F.window("$time", "10 minutes"), "$group")
        .count()
    )
    return (
        counts.writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="1 minute")
        .toTable("mart.$name_live")
    )

''',
        "",
    ),
]

JOB_TAIL = '''
def parse_arguments() -> argparse.Namespace:
    """What the scheduler passes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--day", type=lambda text: datetime.strptime(text, "%Y-%m-%d").date(), required=True)
    parser.add_argument("--target", default="mart.$name")
    return parser.parse_args()


def main() -> None:
    """Builds the mart of one day."""
    arguments = parse_arguments()
    spark = (
        SparkSession.builder.appName("$name")
        .config("spark.sql.shuffle.partitions", "$limit")
        .config("spark.sql.adaptive.enabled", "true")
        .enableHiveSupport()
        .getOrCreate()
    )
    $table = spark.table("lake.$table").where(F.col("day") == arguments.day.isoformat())
    $other = spark.table("lake.$other").where(F.col("status") != "closed")
    joined = $table.join($other.select("$key", "$group2"), on="$key", how="left")
    result = joined.groupBy("$group", "$group2").agg(F.sum("$measure").alias("total"), F.count("*").alias("n"))
$calls    result.write.mode("overwrite").saveAsTable(arguments.target)
    spark.stop()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main()
'''

PLAIN_HEADS = [
    '''"""Helpers for $table that need no cluster."""

import csv
import json
import logging
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

logger = logging.getLogger(__name__)

''',
    '''"""Notebook code on $table that grew into a module."""

import json
import logging
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

logger = logging.getLogger(__name__)

''',
    '''"""Models and views of $table."""

import json
import logging
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from django.db import models
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views import View

logger = logging.getLogger(__name__)

''',
]

PLAIN_STEPS = [
    [
        '''
def load_$table_$n(folder: Path) -> list:
    """The rows of all files of a folder."""
    rows = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as handle:
            for row in csv.DictReader(handle):
                row["$measure"] = float(row.get("$measure") or 0)
                rows.append(row)
    return rows

''',
        '''
@dataclass
class $Table$n:
    """One row of $table."""

    $key: str
    $group: str = ""
    $measure: float = 0.0
    tags: list = field(default_factory=list)

    def label(self) -> str:
        """For logs and mails."""
        return ", ".join(part for part in (self.$key, self.$group, f"{self.$measure:.2f}") if part)

    def is_large(self, limit: float = $limit) -> bool:
        """Whether somebody has to look at it."""
        return self.$measure > limit and "known" not in self.tags

''',
        '''
PATTERN_$n = re.compile(r"(?P<$group>[a-z]+)-(?P<number>[0-9]{4,})")


def parse_$n(lines):
    """Numbers by $group, out of lines of a log."""
    found = defaultdict(list)
    for number, line in enumerate(lines, 1):
        match = PATTERN_$n.search(line)
        if match is None:
            logger.debug("line %d: nothing in it", number)
            continue
        found[match["$group"]].append(int(match["number"]))
    return {name: sorted(numbers) for name, numbers in found.items()}

''',
    ],
    [
        '''
def summary_$n(frame: pd.DataFrame) -> pd.DataFrame:
    """Totals by $group, largest first."""
    frame = frame.assign(day=pd.to_datetime(frame["$time"]).dt.date)
    totals = frame.groupby(["day", "$group"])["$measure"].agg(["sum", "mean", "count"]).reset_index()
    return totals.sort_values("sum", ascending=False).head($limit)

''',
        '''
def joined_$n(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Both sides by $key, without what nobody wants."""
    right = right.drop_duplicates("$key").rename(columns={"$measure": "$measure_right"})
    result = left.merge(right, on="$key", how="left")
    for column in ("$measure", "$measure_right"):
        result[column] = result[column].fillna(0).clip(lower=0)
    result["ratio"] = np.where(result["$measure"] > 0, result["$measure_right"] / result["$measure"], np.nan)
    return result[result["$group"].isin(["a", "b"])]

''',
        '''
def quantiles_$n(values) -> dict:
    """A few numbers that say how values are spread."""
    values = np.asarray([value for value in values if value is not None], dtype=float)
    if values.size == 0:
        return {}
    return {f"p{int(share * 100)}": float(np.quantile(values, share)) for share in (0.1, 0.5, 0.9)}

''',
    ],
    [
        '''
class $Table$n(models.Model):
    """One row of $table."""

    $key = models.CharField(max_length=64, unique=True)
    $group = models.CharField(max_length=32, db_index=True)
    $measure = models.DecimalField(max_digits=18, decimal_places=2, default=0)
    $time = models.DateTimeField(auto_now_add=True)

    class Meta:
        """How rows are sorted."""

        ordering = ["-$time"]

    def __str__(self):
        return f"{self.$key} ({self.$group})"

''',
        '''
class List$n(View):
    """The newest rows as JSON."""

    def get(self, request):
        """Filters by what the query says."""
        rows = $Table$n0.objects.filter($group=request.GET.get("$group", "")).order_by("-$time")
        if request.GET.get("large"):
            rows = rows.filter($measure__gt=$limit)
        count = rows.count()
        return JsonResponse({"count": count, "rows": list(rows.values("$key", "$measure")[:100])})

''',
        '''
def detail_$n(request, key):
    """One row as JSON, or a clear refusal."""
    row = get_object_or_404($Table$n0, $key=key)
    payload = {"$key": row.$key, "$group": row.$group, "$measure": str(row.$measure)}
    if request.method == "POST":
        changes = json.loads(request.body or "{}")
        for name in ("$group", "$measure"):
            if name in changes:
                setattr(row, name, changes[name])
        row.save()
    return JsonResponse(payload)

''',
    ],
]

PLAIN_COMMON = [
    '''
def window_$n(day: date, size: int = 7):
    """The days before a day, oldest first."""
    return [day - timedelta(days=back) for back in range(size, 0, -1)]

''',
    '''
def settings_$n(path: Path) -> dict:
    """Settings of a file, with the environment on top."""
    values = json.loads(path.read_text()) if path.is_file() else {}
    for name, value in os.environ.items():
        if name.startswith("$NAME_"):
            values[name.lower()] = value
    if "$group" not in values:
        logger.warning("%s: no $group, taking the default", path)
        values["$group"] = "all"
    return values

''',
    '''
def batches_$n(items, size: int = $limit):
    """Parts of at most `size` items."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch

''',
]


def words(random: Random, number: int) -> dict:
    """What a template's holes are filled with."""
    table, other = random.sample(TABLES, 2)
    group, group2 = random.sample(GROUPS, 2)
    measure, measure2 = random.sample(MEASURES, 2)
    return {
        "table": table,
        "Table": table.title(),
        "other": other,
        "group": group,
        "group2": group2,
        "measure": measure,
        "measure2": measure2,
        "key": random.choice(KEYS),
        "time": random.choice(TIMES),
        "name": f"{table}_by_{group}",
        "NAME": table.upper(),
        "limit": str(random.randrange(10, 500)),
        "n": str(number),
        "n0": "0",
        "imports": "",
    }


def filled(template: str, holes: dict) -> str:
    """A template with its holes filled, long names first: `$table` is not `$t` and a rest."""
    for name in sorted(holes, key=len, reverse=True):
        template = template.replace("$" + name, holes[name])
    return template


def grown(random: Random, head: str, steps: list, tail: str, imports: str) -> str:
    """A file of the given parts, as long as chance wants it. The tail uses what the steps define."""
    wanted = random.randint(FEWEST_LINES, MOST_LINES)
    holes = words(random, 0) | {"imports": imports}
    parts = [filled(head, holes)]
    calls = []
    lines = parts[0].count("\n") + tail.count("\n")
    number = 0
    while lines < wanted:
        # A file keeps to its table; the rest differs from step to step.
        step = words(random, number) | {name: holes[name] for name in ("table", "Table", "NAME")}
        if step["other"] == step["table"]:
            step["other"] = TABLES[(TABLES.index(step["table"]) + 1) % len(TABLES)]
        define, use = steps[number % len(steps)] if number < 2 else random.choice(steps)
        parts.append(filled(define, step))
        calls.append(filled(use, step))
        lines += parts[-1].count("\n") + calls[-1].count("\n")
        number += 1
    return "".join(parts) + filled(tail, holes | {"calls": "".join(calls)})


def job(place: int, imports: str = "") -> str:
    """A PySpark job."""
    return grown(Random(f"job {place}"), JOB_HEAD, JOB_STEPS, JOB_TAIL, imports)


def plain(place: int) -> str:
    """A Python file that has nothing to do with Spark: utilities, pandas, or Django."""
    kind = place % len(PLAIN_HEADS)
    steps = [(step, "") for step in PLAIN_STEPS[kind] + PLAIN_COMMON]
    return grown(Random(f"plain {place}"), PLAIN_HEADS[kind], steps, "", "")


def write(path: Path, text: str) -> int:
    """Writes a file; its number of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return text.count("\n")


def spark_tree(folder: Path, files: int) -> int:
    """Jobs only, fifty a folder; the number of lines."""
    return sum(write(folder / f"team_{place // 50:02}" / f"job_{place:04}.py", job(place)) for place in range(files))


def mixed_tree(folder: Path, files: int) -> int:
    """One file in ten is a job, and one job in two imports a plain module of the tree; the number of lines."""
    lines = 0
    for place in range(files):
        if place % 10:
            lines += write(folder / f"service_{place // 100:02}" / f"module_{place:04}.py", plain(place))
        else:
            imports = "" if place % 20 else f"\nfrom service_{place // 100:02}.module_{place + 1:04} import window_0\n"
            lines += write(folder / "jobs" / f"job_{place:04}.py", job(place, imports))
    return lines
