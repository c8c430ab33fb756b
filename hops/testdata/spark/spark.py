"""Asks Apache Spark itself about the formats of hop 3's tile.

    spark.py record FOLDER   writes FOLDER/tile with Spark's file sink: 12 batches
    spark.py read TILE       prints what Spark reads of a tile, one JSON object per line

Needs a Python with the package pyspark, and Java 17. The files beside this one are
what `record` wrote, with the folder replaced; docs/decisions/0010-spark-formats.md
says by which version.
"""

import json
import os
import sys

from pyspark.sql import SparkSession

SCHEMA = (
    "window_start timestamp, window_end timestamp, course_id string, "
    "events bigint, distinct_event_ids bigint"
)
BATCHES = 12


def session():
    spark = (
        SparkSession.builder.master("local[1]")
        .appName("tile")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def record(spark, folder):
    source, tile = os.path.join(folder, "in"), os.path.join(folder, "tile")
    os.makedirs(source)
    for batch in range(BATCHES):
        rows = [
            {
                "window_start": f"1969-12-31T23:{50 + 5 * (course % 2)}:00Z",
                "window_end": f"2026-03-01T08:{batch:02d}:00Z",
                "course_id": ["go-101", "größe", "日本語", ""][course],
                "events": 2**40 + batch,
                "distinct_event_ids": batch,
            }
            for course in range(batch % 5)
        ]
        name = os.path.join(source, f"{batch:02d}.json")
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        os.utime(name, (1772352000 + batch, 1772352000 + batch))
    (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .json(source)
        .writeStream.format("parquet")
        .option("checkpointLocation", os.path.join(tile, "checkpoint"))
        .trigger(availableNow=True)
        .start(tile)
        .awaitTermination()
    )


def read(spark, tile):
    frame = spark.read.parquet(tile)
    say(spark=spark.version, columns=[list(column) for column in frame.dtypes])
    rows = frame.selectExpr(
        "unix_millis(window_start) AS window_start",
        "unix_millis(window_end) AS window_end",
        "course_id",
        "events",
        "distinct_event_ids",
    )
    for row in rows.collect():
        say(row=list(row))
    # The checkpoint, with the classes that Spark's own restart reads it with.
    folder = os.path.join(tile, "checkpoint")
    offsets = log(spark, "OffsetSeqLog", os.path.join(folder, "offsets"))
    commits = log(spark, "CommitLog", os.path.join(folder, "commits"))
    batch = offsets.getLatest().get()._1()
    say(
        batch=batch,
        committed=commits.getLatest().get()._1(),
        ends=offsets.getLatest().get()._2().offsets().head().get().json(),
    )


def log(spark, name, folder):
    streaming = spark._jvm.org.apache.spark.sql.execution.streaming
    # 4.3 has them in another package, and wants to know whether it may write.
    for package, more in ((streaming, ()), (streaming.checkpointing, (True,))):
        try:
            return getattr(package, name)(spark._jsparkSession, folder, *more)
        except TypeError:  # no such class there
            continue
    raise SystemExit(f"Spark {spark.version} has no {name} where it was looked for")


def say(**what):
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    spark = session()
    {"record": record, "read": read}[sys.argv[1]](spark, os.path.abspath(sys.argv[2]))
    spark.stop()
