from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()

orders = spark.read.parquet("orders")
orders.createOrReplaceTempView("orders")
orders.limit(5).createOrReplaceTempView("few")

# A view of the file is its frame; other names are tables.
spark.sql("SELECT * FROM few").collect()  #> collect: exactly 5; project; no table few
spark.sql("SELECT * FROM db.other").collect()  #> collect: unbounded; table db.other
spark.sql("SELECT * FROM parquet.`s3://b/raw/x`").collect()  #> read parquet s3://b/raw/x; collect: unbounded

spark.sql("""
    SELECT c.name,                      -- #> no project
           count(*) OVER (PARTITION BY c.name ORDER BY o.day) AS n  -- #> window partitioned; calls count over order; window function
    FROM orders o
    JOIN customers c                    -- #> join inner on equality; table customers
      ON o.customer_id = c.id
    WHERE o.day = '2024-01-01'          -- #> filter key
    ORDER BY n                          -- #> sort
    LIMIT 10                            -- #> limit(10)
""").toPandas()  #> toPandas: exactly 10

spark.sql("""
    WITH big AS (
        SELECT k, sum(v) AS s           -- #> calls sum; sum in aggregate by [k]
        FROM t                          -- #> table t
        GROUP BY k                      -- #> aggregate by [k]
        HAVING sum(v) > 10              -- #> filter; no filter key
    ),
    one AS (SELECT max(s) AS m FROM big)  -- #> aggregate
    SELECT DISTINCT b.k                 -- #> distinct
    FROM big b
    CROSS JOIN one                      -- #> join cross on purpose; no table one
""").collect()  #> collect: by-groups

# Joins by what matches their rows.
spark.sql("SELECT * FROM a, b").count()  #> join inner without condition
spark.sql("SELECT * FROM a, b WHERE a.x = b.x").count()  #> join inner on equality
spark.sql("SELECT * FROM a, b, c WHERE a.x = b.x").count()  #> join inner on equality; join inner without condition
spark.sql("SELECT * FROM a, b WHERE a.x = 3").count()  #> join inner without condition
spark.sql("SELECT * FROM a JOIN b").count()  #> join inner without condition
spark.sql("SELECT * FROM a JOIN b ON a.x < b.y").count()  #> join inner without equality
spark.sql("SELECT * FROM a JOIN b ON 1 = 1").count()  #> join inner on purpose
spark.sql("SELECT * FROM a CROSS JOIN b").count()  #> join cross on purpose
spark.sql("SELECT * FROM a CROSS JOIN b WHERE a.x = b.x").count()  #> join inner on equality
spark.sql("SELECT * FROM a FULL OUTER JOIN b USING (k, d)").count()  #> join full using [k, d]
spark.sql("SELECT * FROM a LEFT ANTI JOIN b ON a.k = b.k").count()  #> join left_anti on equality
spark.sql("SELECT * FROM a LEFT SEMI JOIN b ON a.k <=> b.k").count()  #> join left_semi on equality
spark.sql("SELECT * FROM a JOIN b ON a.k = a.j").count()  #> join inner on ?
spark.sql(f"SELECT * FROM a JOIN b ON {condition}").count()  #> join inner on ?
spark.sql(f"SELECT * FROM a, b WHERE {condition}").count()  #> join inner on ?

# Groups, sets, rows of the text.
spark.sql("SELECT count(DISTINCT k) FROM t").collect()  #> collect: exactly 1; calls count_distinct; aggregate
spark.sql("SELECT a, 1, count(*) FROM t GROUP BY 1, 2").collect()  #> aggregate by [a, ?]; collect: by-groups
spark.sql("SELECT * FROM t PIVOT (sum(v) FOR q IN (1, 2))").count()  #> aggregate by [] pivot
spark.sql("SELECT 1").collect(); spark.sql("SELECT explode(xs) FROM t").count()  #> collect: exactly 1; project explodes
spark.sql("SELECT * FROM t LATERAL VIEW explode(xs) e AS x").count()  #> project explodes
spark.sql("SELECT a FROM t UNION ALL SELECT a FROM u").count()  #> union; no distinct
spark.sql("SELECT a FROM t UNION SELECT a FROM u").count()  #> union; distinct
spark.sql("SELECT * FROM (VALUES (1), (2), (3)) AS v(a)").collect()  #> collect: exactly 3
spark.sql("SELECT * FROM range(7)").collect(); spark.sql("VALUES (1), (2)").collect()  #> collect: exactly 7; collect: exactly 2
spark.sql("SELECT * FROM t TABLESAMPLE (10 PERCENT)").count()  #> sample
spark.sql("SELECT * FROM t WHERE k IN (SELECT k FROM u CROSS JOIN w)").count()  #> filter; join cross on purpose

# Hints, and clauses that spread rows.
spark.sql("SELECT /*+ BROADCAST(d) */ * FROM f JOIN dim d ON f.k = d.k").count()  #> hint broadcast; right broadcast
spark.sql("SELECT /*+ COALESCE(1) */ * FROM t").count()  #> coalesce(1)
spark.sql("SELECT /*+ REPARTITION(8, k), MERGE(t) */ * FROM t").count()  #> repartition(8) keyed; hint merge
spark.sql("SELECT * FROM t DISTRIBUTE BY k SORT BY d").count()  #> repartition(?) keyed; sort within partitions
spark.sql("SELECT * FROM t CLUSTER BY k").count()  #> repartition(?) keyed; sort within partitions

# Windows.
spark.sql("SELECT row_number() OVER (ORDER BY d DESC) AS n FROM t").count()  #> window whole; calls row_number over order
spark.sql("SELECT sum(v) OVER (PARTITION BY k) FROM t").count()  #> calls sum over group; no window whole
spark.sql("SELECT sum(v) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY d ROWS 3 PRECEDING)").count()  #> window partitioned; calls sum over frame
spark.sql("SELECT lag(v) OVER (PARTITION BY 'x' ORDER BY d) FROM t").count()  #> window whole

# Commands.
spark.sql("INSERT OVERWRITE TABLE db.t PARTITION (d = '1', h) SELECT * FROM s")  #> writes ? to db.t mode overwrite; sql: unbounded
spark.sql("CREATE TABLE IF NOT EXISTS x USING delta PARTITIONED BY (d) AS SELECT * FROM few")  #> writes delta to x mode ignore; sql: exactly 5
spark.sql("CREATE OR REPLACE TABLE x AS SELECT * FROM few")  #> writes ? to x mode overwrite
spark.sql("INSERT INTO x VALUES (1), (2)")  #> writes ? to x mode append; sql: exactly 2
spark.sql("CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM few")
spark.sql("CACHE TABLE v")  #> sql: no input
spark.table("v").collect()  #> collect: exactly 5; collect cached
spark.sql("UNCACHE TABLE IF EXISTS v")  #> unpersist v
spark.sql("DELETE FROM x WHERE d = 1"); spark.sql("OPTIMIZE x ZORDER BY (d)")  #> sql: no input

# Texts that are put together.
QUERY = "SELECT * FROM few"  #> project
DAY = "2024-01-01"
spark.sql(QUERY).collect()  #> collect: exactly 5
spark.sql("SELECT * "  #> project
          "FROM few").collect()  #> collect: exactly 5
spark.sql(f"SELECT * FROM {db}.t WHERE d = '{DAY}' AND k = {k}").collect()  #> table ?.t; filter key; collect: unknown
spark.sql("SELECT * FROM {} LIMIT {}".format(table, 3)).collect()  #> limit(?); collect: small
spark.sql("SELECT * FROM {orders} LIMIT 2", orders=orders).collect()  #> limit(2); collect: exactly 2; no table _orders_
spark.sql("SELECT * FROM few " + where).collect()  #> collect: exactly 5
spark.sql("\tSELECT *\n FROM few\n WHERE x = 'it\'\'s'").collect()  #> filter key; collect: exactly 5
spark.sql("""SELECT * FROM few WHERE """ f"""{where}""").collect()  #> filter; collect: exactly 5

# What can't be read is unknown, and nothing is lost.
spark.sql("SELECT * FROM (SELECT").collect(); spark.sql("SELEC * FROM t").collect()  #> collect: unbounded; collect: unknown
spark.sql("SELECT FROM WHERE ORDER LIMIT 3").collect()  #> collect: exactly 3
spark.sql("FROM t INSERT INTO a SELECT x INSERT INTO b SELECT y")  #> sql: no input

# Columns that are written in SQL.
orders.selectExpr("*", "row_number() OVER (ORDER BY day) AS n").count()  #> window function; window whole; calls row_number over order; row_number in window function
orders.withColumn("n", F.expr("sum(v) over (partition by k order by d rows 3 preceding)")).count()  #> window partitioned; calls sum over frame; window function
orders.alias("a").join(orders.alias("b"), F.expr("a.id = b.parent")).count()  #> join inner on equality
orders.alias("a").join(orders.alias("b"), F.expr("a.id < b.parent")).count()  #> join inner without equality

# One of two lookups is a lookup; one of two queries may be any.
spark.sql("SHOW TABLES" if here else f"show tables in {db}").collect()  #> collect: small
spark.sql("SELECT 1" if here else "SELECT k FROM t").collect()  #> collect: unknown

# A cached table is one frame.
spark.sql("CACHE TABLE kept")
spark.table("kept").count()  #> count cached
spark.catalog.cacheTable("held")
spark.table("held").count()  #> count cached
