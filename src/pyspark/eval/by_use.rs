//! Values of unknown origin that their use shows to be DataFrames: what a helper of another package returned, a parameter
//! without an annotation.

use super::Interpreter;
use super::call::Call;
use crate::pyspark::api;
use crate::pyspark::ir::{Expr, ExprId};
use crate::pyspark::plan::NodeId;
use crate::pyspark::value::{Code, EnvId, Value};

impl<'a> Interpreter<'a> {
    /// The frame that a call of a method shows an unknown value to be.
    pub(super) fn frame_by_call(
        &mut self,
        receiver: &Value<'a>,
        name: &str,
        object: ExprId,
        call: &Call<'a>,
    ) -> Option<NodeId> {
        if !self.may_be_frame(receiver) {
            return None;
        }
        let takes = |value: &Value<'a>| match value {
            Value::Column(_) => takes_columns(name),
            Value::Frame(_) => takes_frame(name),
            _ => false,
        };
        let takes_function = call.values.iter().any(|value| matches!(value, Value::Closure(_)));
        // What a chain has done before may have bounded its rows: `described(x).summary().toPandas()`.
        let is_plain = matches!(call.code.top.expr(object).expr, Expr::Name | Expr::Attribute { .. });
        let distinctive = api::is_distinctive(name) && !takes_function && (is_plain || name != "toPandas");
        let proven = call.flat().iter().any(takes)
            || distinctive
                && !self.name_of_object(call.code, object).is_some_and(|of| self.is_used_otherwise(call.code, of));
        let shown = proven || self.is_named_frame(call.code, object, name);
        shown.then(|| self.frame_of_name(call.code, object))
    }

    /// The frame that an attribute shows an unknown value to be: `daily_df.write`.
    pub(super) fn frame_by_attribute(
        &mut self,
        receiver: &Value<'a>,
        name: &str,
        code: Code<'a>,
        object: ExprId,
    ) -> Option<NodeId> {
        let shown = self.may_be_frame(receiver) && self.is_named_frame(code, object, name);
        shown.then(|| self.frame_of_name(code, object))
    }

    fn may_be_frame(&self, value: &Value<'a>) -> bool {
        matches!(value, Value::Unknown) && self.plan.uses.is_spark && !self.has_snowpark
    }

    /// A name like those of frames, from which only what a frame of Spark has is taken.
    fn is_named_frame(&self, code: Code<'a>, object: ExprId, method: &str) -> bool {
        let Some(name) = self.name_of_object(code, object) else { return false };
        let is_frame_only = api::is_frame_only(method) || method == "select" && !self.has_other_frames();
        is_frame_only && names_frame(name) && !self.is_used_otherwise(code, name)
    }

    /// The name, or the last one of `self.daily_df`.
    fn name_of_object(&self, code: Code<'a>, object: ExprId) -> Option<&'a str> {
        match &code.top.expr(object).expr {
            Expr::Name => Some(self.source_of(code, object)),
            Expr::Attribute { name, .. } => Some(self.str(code, *name)),
            _ => None,
        }
    }

    /// Whether the statement (a function, a class) around a use takes from the name what no frame of Spark has.
    fn is_used_otherwise(&self, code: Code<'a>, name: &str) -> bool {
        code.top.exprs.iter().any(|node| match &node.expr {
            Expr::Attribute { object, name: attribute, .. } => {
                api::is_foreign_frame(self.str(code, *attribute))
                    && code.top.expr(*object).expr == Expr::Name
                    && self.source_of(code, *object) == name
            }
            _ => false,
        })
    }

    /// Whether the file imports a library whose frames have a `select` too.
    fn has_other_frames(&self) -> bool {
        ["pl", "polars", "ibis"].iter().any(|name| matches!(self.lookup(name), Some(Value::Foreign)))
    }

    /// A frame for an unknown value; a name holds the same one from here on.
    fn frame_of_name(&mut self, code: Code<'a>, object: ExprId) -> NodeId {
        let frame = self.given();
        if code.top.expr(object).expr == Expr::Name {
            let name = self.source_of(code, object);
            if let Some(env) = self.env_of_unknown(name) {
                self.set(env, name, Some(Value::Frame(frame)));
            }
        }
        frame
    }

    /// The namespace in which a name holds an unknown value.
    fn env_of_unknown(&self, name: &str) -> Option<EnvId> {
        let mut at = Some(self.frame.env);
        while let Some(env) = at {
            let space = &self.envs[env.0 as usize];
            match space.names.get(name) {
                Some(Some(Value::Unknown)) => return Some(env),
                Some(_) => return None,
                None => at = space.parent,
            }
        }
        None
    }
}

/// Whether a name is one that frames of Spark get.
pub(super) fn names_frame(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "sdf"
        || lower.ends_with("df")
        || lower.starts_with("df")
        || lower.contains("dataframe")
        || lower.contains("_df")
}

/// Methods of DataFrames that take columns, and no other object's of Spark.
fn takes_columns(method: &str) -> bool {
    matches!(
        method,
        "select"
            | "filter"
            | "where"
            | "withColumn"
            | "groupBy"
            | "groupby"
            | "orderBy"
            | "sort"
            | "sortWithinPartitions"
    )
}

/// Methods of DataFrames that take another one.
fn takes_frame(method: &str) -> bool {
    matches!(
        method,
        "join" | "crossJoin" | "union" | "unionAll" | "unionByName" | "subtract" | "exceptAll" | "intersect"
    )
}
