SPARK_HOME ?= /opt/spark
MEMORY     := 4g
CONF       := --conf spark.sql.shuffle.partitions=64 \
	--conf spark.ui.enabled=false
MASTER     ?= local[*]

.PHONY: run test shell

run: build
	@echo "running spark-submit --conf spark.printed=1"
	$(SPARK_HOME)/bin/spark-submit --master $(MASTER) $(CONF) \
	  --driver-memory $(MEMORY) \
	  --conf spark.executor.memory=${MEMORY} \
	  --conf spark.local.dir=$$TMPDIR \
	  --conf "spark.app.tag=$(shell git rev-parse HEAD)" \
	  jobs/orders.py $(ARGS)

test:
	-PYSPARK_SUBMIT_ARGS="--conf spark.sql.ansi.enabled=true pyspark-shell" pytest tests
ifdef DOCKER
shell:
	docker run -it spark pyspark --conf spark.ui.port=4050 ; true
endif

define SUBMIT
spark-submit --conf spark.executor.cores=2 $(1)
endef
