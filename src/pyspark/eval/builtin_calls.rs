//! Calls in Python functions that `pyspark.sql.functions` has a function for.

use super::builtin::Body;
use super::builtin_terms::{Kind, Term, datetime_pattern, escaped, java_regex, number, quoted};
use crate::pyspark::ir::{Arg, ArgName, Expr, ExprId};

impl<'a> Body<'_, 'a> {
    /// A call of a method of a value, or of a function.
    pub(super) fn call(&mut self, id: ExprId) -> Option<Term> {
        let Expr::Call { function, args, .. } = &self.code.top.expr(id).expr else { return None };
        let args = positional(args)?;
        let name = self.interpreter.resolved(self.text(*function));
        if let Some(term) = self.function(&name, &args) {
            return Some(term);
        }
        match &self.code.top.expr(*function).expr {
            Expr::Attribute { object, name, .. } => self.method(self.interpreter.str(self.code, *name), *object, &args),
            _ => None,
        }
    }

    fn function(&mut self, name: &str, args: &[ExprId]) -> Option<Term> {
        let number_of = |code| Some(Term::column(code, Kind::Number));
        match (name, args) {
            ("len", [of]) => {
                let term = self.column(*of)?;
                let function = if term.kind == Kind::Array { "size" } else { "length" };
                number_of(format!("F.{function}({})", term.code))
            }
            ("str", [of]) => {
                let term = self.term(*of)?;
                match (term.literal, term.kind, term.code.starts_with("F.")) {
                    (true, ..) => None,
                    (_, Kind::Text, true) => Some(term),
                    _ => Some(Term::column(format!("{}.cast(\"string\")", term.receiver()), Kind::Text)),
                }
            }
            ("int", [of]) => number_of(format!("{}.cast(\"long\")", self.column(*of)?.receiver())),
            ("float", [of]) => number_of(format!("{}.cast(\"double\")", self.column(*of)?.receiver())),
            ("abs" | "math.fabs", [of]) => number_of(format!("F.abs({})", self.column(*of)?.code)),
            // Both round halves to the even neighbour.
            ("round", [of]) => number_of(format!("F.bround({})", self.column(*of)?.code)),
            ("round", [of, digits]) => {
                let digits = number(self.text(*digits))?;
                number_of(format!("F.bround({}, {digits})", self.column(*of)?.code))
            }
            ("min" | "max", [_, _, ..]) => {
                let function = if name == "min" { "least" } else { "greatest" };
                let terms: Option<Vec<String>> = args.iter().map(|arg| Some(self.term(*arg)?.as_column())).collect();
                number_of(format!("F.{function}({})", terms?.join(", ")))
            }
            // Sorting and joining a text works on its letters.
            ("sorted", [of]) => {
                let of = self.column(*of).filter(|of| of.kind == Kind::Array)?;
                Some(Term::column(format!("F.array_sort({})", of.code), Kind::Array))
            }
            (_, [of]) if name.starts_with("math.") => {
                let function = match name.trim_start_matches("math.") {
                    same @ ("sqrt" | "exp" | "log10" | "log2" | "floor" | "ceil" | "sin" | "cos" | "tan") => same,
                    "log" => "log",
                    "radians" => "radians",
                    "degrees" => "degrees",
                    _ => return None,
                };
                number_of(format!("F.{function}({})", self.column(*of)?.code))
            }
            ("math.pow" | "pow", [base, power]) => {
                let (base, power) = (self.term(*base)?, self.term(*power)?);
                number_of(format!("F.pow({}, {})", base.code, power.code))
            }
            ("datetime.datetime.strptime" | "datetime.strptime" | "dt.strptime", [of, format]) => {
                let format = datetime_pattern(self.plain_text(*format)?)?;
                Some(Term::column(format!("F.to_timestamp({}, {format})", self.column(*of)?.code), Kind::Time))
            }
            ("datetime.datetime.fromisoformat" | "datetime.fromisoformat", [of]) => {
                Some(Term::column(format!("F.to_timestamp({})", self.column(*of)?.code), Kind::Time))
            }
            ("uuid.uuid4", []) => Some(Term::column("F.expr(\"uuid()\")".to_owned(), Kind::Text)),
            ("re.sub", [pattern, by, of]) => {
                let pattern = java_regex(self.plain_text(*pattern)?)?;
                let by = quoted(self.plain_text(*by).filter(|by| !by.contains('$'))?)?;
                let of = self.column(*of)?.code;
                Some(Term::column(format!("F.regexp_replace({of}, {pattern}, {by})"), Kind::Text))
            }
            ("re.split", [pattern, of]) => {
                let pattern = java_regex(self.plain_text(*pattern)?)?;
                Some(Term::column(format!("F.split({}, {pattern})", self.column(*of)?.code), Kind::Array))
            }
            ("re.search", [pattern, of]) => {
                let pattern = java_regex(self.plain_text(*pattern)?)?;
                Some(matches(&self.column(*of)?, &pattern))
            }
            ("re.match", [pattern, of]) => {
                let pattern = self.plain_text(*pattern)?;
                let anchored = if pattern.starts_with('^') { pattern.to_owned() } else { format!("^(?:{pattern})") };
                let pattern = java_regex(&anchored)?;
                Some(matches(&self.column(*of)?, &pattern))
            }
            ("bool", [of]) => self.term(*of).filter(|term| term.kind == Kind::Bool),
            _ => None,
        }
    }

    fn method(&mut self, name: &str, object: ExprId, args: &[ExprId]) -> Option<Term> {
        if let Some(term) = self.method_of_call(name, object, args) {
            return Some(term);
        }
        if let (Some(separator), "join", [of]) = (self.plain_text(object), name, args) {
            let of = self.column(*of).filter(|of| of.kind == Kind::Array)?.code;
            return Some(Term::column(format!("F.concat_ws({}, {of})", quoted(separator)?), Kind::Text));
        }
        if name == "get"
            && let [key, ..] = args
            && let Some(json) = self.json_path(object, *key)
        {
            return (args.len() == 1).then_some(json);
        }
        let column = self.column(object)?;
        let of = &column.code;
        let text = |code| Some(Term::column(code, Kind::Text));
        match (name, args) {
            ("date", []) if column.kind == Kind::Time => Some(Term::column(format!("F.to_date({of})"), Kind::Time)),
            ("strftime", [format]) => {
                text(format!("F.date_format({of}, {})", datetime_pattern(self.plain_text(*format)?)?))
            }
            _ if matches!(column.kind, Kind::Time | Kind::Number | Kind::Bool | Kind::Array) => None,
            ("lower" | "casefold", []) => text(format!("F.lower({of})")),
            ("upper", []) => text(format!("F.upper({of})")),
            ("title", []) => text(format!("F.initcap({of})")),
            ("strip", []) => text(format!("F.trim({of})")),
            ("lstrip", []) => text(format!("F.ltrim({of})")),
            ("rstrip", []) => text(format!("F.rtrim({of})")),
            ("replace", [from, to]) => {
                let from = escaped(self.plain_text(*from)?)?;
                let to = quoted(self.plain_text(*to).filter(|to| !to.contains('$'))?)?;
                text(format!("F.regexp_replace({of}, {from}, {to})"))
            }
            ("split", []) => Some(Term::column(format!("F.split(F.trim({of}), r\"\\s+\")"), Kind::Array)),
            ("split", [separator]) => {
                let separator = escaped(self.plain_text(*separator)?)?;
                Some(Term::column(format!("F.split({of}, {separator})"), Kind::Array))
            }
            ("startswith" | "endswith", [part]) => {
                let part = self.term(*part).filter(|part| matches!(part.kind, Kind::Text | Kind::Any))?;
                Some(condition(format!("{}.{name}({})", column.receiver(), part.code)))
            }
            ("find", [part]) => {
                let part = quoted(self.plain_text(*part)?)?;
                Some(Term { atom: false, ..Term::column(format!("F.instr({of}, {part}) - 1"), Kind::Number) })
            }
            ("isdigit" | "isnumeric", []) => Some(condition(format!("{}.rlike(\"^[0-9]+$\")", column.receiver()))),
            _ => None,
        }
    }

    /// `re.search(p, s).group(1)`, `hashlib.md5(s.encode()).hexdigest()`.
    fn method_of_call(&mut self, name: &str, object: ExprId, args: &[ExprId]) -> Option<Term> {
        let Expr::Call { function, args: inner, .. } = &self.code.top.expr(object).expr else { return None };
        let inner = positional(inner)?;
        let called = self.interpreter.resolved(self.text(*function));
        match (called.as_str(), name, &inner[..], args) {
            ("re.search" | "re.match", "group", [pattern, of], group) => {
                let pattern = self.plain_text(*pattern)?;
                let anchor = if called == "re.match" && !pattern.starts_with('^') { "^" } else { "" };
                let pattern = java_regex(&format!("{anchor}{pattern}"))
                    .filter(|_| anchor.is_empty() || !pattern.contains('|'))?;
                let group = match group {
                    [] => 0,
                    [group] => number(self.text(*group))?,
                    _ => return None,
                };
                let of = self.column(*of)?.code;
                Some(Term::column(format!("F.regexp_extract({of}, {pattern}, {group})"), Kind::Text))
            }
            ("hashlib.md5" | "hashlib.sha1" | "hashlib.sha256" | "hashlib.sha512", "hexdigest", [of], []) => {
                let of = match &self.code.top.expr(*of).expr {
                    Expr::Call { function, .. } => match &self.code.top.expr(*function).expr {
                        Expr::Attribute { object, name, .. } if self.interpreter.str(self.code, *name) == "encode" => {
                            self.column(*object)?
                        }
                        _ => return None,
                    },
                    _ => return None,
                };
                let of = of.code;
                let code = match called.trim_start_matches("hashlib.") {
                    "md5" => format!("F.md5({of})"),
                    "sha1" => format!("F.sha1({of})"),
                    "sha256" => format!("F.sha2({of}, 256)"),
                    _ => format!("F.sha2({of}, 512)"),
                };
                Some(Term::column(code, Kind::Text))
            }
            _ => None,
        }
    }

    /// `json.loads(s)["a"]["b"]`: a path into a text.
    pub(super) fn json_path(&mut self, object: ExprId, key: ExprId) -> Option<Term> {
        let key = self.plain_text(key)?;
        let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain {
            return None;
        }
        if let Expr::Call { function, args, .. } = &self.code.top.expr(object).expr
            && self.interpreter.resolved(self.text(*function)) == "json.loads"
            && let [of] = positional(args)?[..]
        {
            let of = self.column(of)?.code;
            return Some(Term::column(format!("F.get_json_object({of}, \"$.{key}\")"), Kind::Any));
        }
        let outer = self.term(object)?;
        let path = outer.code.strip_suffix("\")").filter(|code| code.starts_with("F.get_json_object("))?;
        Some(Term::column(format!("{path}.{key}\")"), Kind::Any))
    }

    fn column(&mut self, id: ExprId) -> Option<Term> {
        self.term(id).filter(|term| !term.literal)
    }
}

fn matches(column: &Term, pattern: &str) -> Term {
    condition(format!("{}.rlike({pattern})", column.receiver()))
}

fn condition(code: String) -> Term {
    Term { atom: true, ..Term::condition(code) }
}

fn positional(args: &[Arg]) -> Option<Vec<ExprId>> {
    args.iter().map(|arg| (arg.name == ArgName::Positional).then_some(arg.value)).collect()
}
