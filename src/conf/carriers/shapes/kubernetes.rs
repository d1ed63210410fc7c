//! SparkApplication manifests of the Kubernetes operators.
//!
//! The operator calls spark-submit with a `--conf` for each entry of `sparkConf`, then for each of `hadoopConf`, then
//! for the fields of driver and executor, so that a field wins over the same key in `sparkConf`.

use super::{Shapes, jobs};
use crate::conf::Carrier;
use crate::conf::carriers::tree::{Entry, Node};
use crate::conf::carriers::{ProblemKind, Text};

/// Fields of `spec` and below, with the keys that the operator makes of them.
const FIELDS: [(&[&str], &str); 24] = [
    (&["mode"], "spark.submit.deployMode"),
    (&["image"], "spark.kubernetes.container.image"),
    (&["imagePullPolicy"], "spark.kubernetes.container.image.pullPolicy"),
    (&["memoryOverheadFactor"], "spark.kubernetes.memoryOverheadFactor"),
    (&["driver", "cores"], "spark.driver.cores"),
    (&["driver", "coreLimit"], "spark.kubernetes.driver.limit.cores"),
    (&["driver", "coreRequest"], "spark.kubernetes.driver.request.cores"),
    (&["driver", "memory"], "spark.driver.memory"),
    (&["driver", "memoryOverhead"], "spark.driver.memoryOverhead"),
    (&["driver", "javaOptions"], "spark.driver.extraJavaOptions"),
    (&["driver", "serviceAccount"], "spark.kubernetes.authenticate.driver.serviceAccountName"),
    (&["executor", "cores"], "spark.executor.cores"),
    (&["executor", "coreLimit"], "spark.kubernetes.executor.limit.cores"),
    (&["executor", "coreRequest"], "spark.kubernetes.executor.request.cores"),
    (&["executor", "memory"], "spark.executor.memory"),
    (&["executor", "memoryOverhead"], "spark.executor.memoryOverhead"),
    (&["executor", "javaOptions"], "spark.executor.extraJavaOptions"),
    (&["executor", "instances"], "spark.executor.instances"),
    (&["executor", "deleteOnTermination"], "spark.kubernetes.executor.deleteOnTermination"),
    (&["dynamicAllocation", "enabled"], "spark.dynamicAllocation.enabled"),
    (&["dynamicAllocation", "initialExecutors"], "spark.dynamicAllocation.initialExecutors"),
    (&["dynamicAllocation", "minExecutors"], "spark.dynamicAllocation.minExecutors"),
    (&["dynamicAllocation", "maxExecutors"], "spark.dynamicAllocation.maxExecutors"),
    (&["dynamicAllocation", "shuffleTrackingTimeout"], "spark.dynamicAllocation.shuffleTracking.timeout"),
];

impl Shapes<'_, '_> {
    /// A manifest, or a part of a chart's values that becomes one.
    pub(super) fn kubernetes(&mut self, node: &Node<'_>) {
        let kind = node.scalar(&["kind"]).map(|kind| kind.as_str());
        let is_manifest = matches!(kind, Some("SparkApplication" | "ScheduledSparkApplication"));
        let spec = match node.get(&["spec"]).filter(|_| is_manifest) {
            Some(spec) if kind == Some("ScheduledSparkApplication") => spec.get(&["template"]).unwrap_or(spec),
            Some(spec) => spec,
            None if node.get(&["sparkConf"]).is_some() || node.get(&["mainApplicationFile"]).is_some() => node,
            None => return,
        };
        self.strings_only = is_manifest;
        self.application(spec);
        self.strings_only = false;
    }

    fn application(&mut self, spec: &Node<'_>) {
        let mut settings = Vec::new();
        if let Some(conf) = spec.get(&["sparkConf"]) {
            settings.extend(self.all(conf, Carrier::Job));
        }
        for entry in spec.get(&["hadoopConf"]).map(Node::entries).unwrap_or_default() {
            self.check_string(entry);
            settings.extend(self.field(entry, format!("spark.hadoop.{}", entry.key.as_str())));
        }
        for (path, key) in FIELDS {
            settings.extend(below(spec, path).and_then(|entry| self.field(entry, key.to_owned())));
        }
        let application = spec.scalar(&["mainApplicationFile", "pyFiles", "jars"]);
        let text = |names: &[&str]| spec.scalar(names).map(|scalar| Text::of(&scalar.text, scalar.has_holes));
        if application.is_some() || !settings.is_empty() {
            let submit =
                jobs::definition(self.document, spec, application, spec.get(&["arguments", "driverArgs"]), settings);
            let class = text(&["mainClass"]);
            self.out.submit(crate::conf::carriers::Submit { class, ..submit });
        }
    }

    /// The manifest's schema takes strings: Kubernetes refuses `true` and `4` without quotes.
    pub(super) fn check_string(&mut self, entry: &Entry<'_>) {
        let Node::Scalar(value) = &entry.value else { return };
        let text = value.as_str();
        let is_other = matches!(text, "true" | "false" | "True" | "False" | "yes" | "no" | "on" | "off")
            || text.parse::<f64>().is_ok_and(f64::is_finite);
        if self.strings_only && value.plain && is_other && !value.is_template() {
            let message =
                format!("A SparkApplication takes strings here and Kubernetes refuses it: write `\"{text}\"`.");
            self.out.problem(ProblemKind::NotAString, value.span, message);
        }
    }
}

fn below<'n, 'a>(node: &'n Node<'a>, path: &[&str]) -> Option<&'n Entry<'a>> {
    match path {
        [name] => node.entry(&[name]),
        [name, rest @ ..] => below(node.get(&[name])?, rest),
        [] => None,
    }
}
