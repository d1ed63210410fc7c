//! Pieces of an expression of built-in functions, and the literals in them.

/// What is known of a value's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Text,
    Number,
    Bool,
    Array,
    /// A date or timestamp.
    Time,
}

impl Kind {
    /// By a Python annotation; `None` for classes that Spark has no type of its own for.
    pub(super) fn of_annotation(annotation: &str) -> Option<Self> {
        let name = annotation.trim_matches(['"', '\'']).replace("Optional[", "");
        let name = name.split(['|', '[', ']']).next().unwrap_or_default().trim();
        Some(match name.rsplit('.').next().unwrap_or_default() {
            "str" => Self::Text,
            "int" | "float" | "Decimal" => Self::Number,
            "bool" => Self::Bool,
            "list" | "List" | "Sequence" => Self::Array,
            "date" | "datetime" => Self::Time,
            "Any" | "object" => Self::Any,
            _ => return None,
        })
    }

    /// By the declared type of a UDF's result.
    pub(super) fn of_type(declared: &str) -> Self {
        let lower = declared.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if has(&["array"]) {
            Self::Array
        } else if has(&[
            "integertype",
            "longtype",
            "doubletype",
            "floattype",
            "decimaltype",
            "\"int",
            "\"double",
            "\"float",
            "\"long",
            "\"bigint",
            "'int",
            "'double",
            "'float",
            "'long",
            "'bigint",
        ]) {
            Self::Number
        } else if has(&["stringtype", "\"string", "'string"]) {
            Self::Text
        } else {
            Self::Any
        }
    }
}

/// A piece of code.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) code: String,
    pub(super) kind: Kind,
    /// A value of Python, no column.
    pub(super) literal: bool,
    /// It stands beside an operator as it is.
    pub(super) atom: bool,
    /// It is `F.when(…)`, to which more cases may be put in front.
    pub(super) choice: bool,
}

impl Term {
    pub(super) fn column(code: String, kind: Kind) -> Self {
        Self { code, kind, literal: false, atom: true, choice: false }
    }

    pub(super) fn literal(code: String, kind: Kind) -> Self {
        Self { code, kind, literal: true, atom: true, choice: false }
    }

    pub(super) fn none() -> Self {
        Self::literal("None".to_owned(), Kind::Any)
    }

    pub(super) fn condition(code: String) -> Self {
        Self { code, kind: Kind::Bool, literal: false, atom: false, choice: false }
    }

    /// As an operand of an operator.
    pub(super) fn operand(&self) -> String {
        if self.atom { self.code.clone() } else { format!("({})", self.code) }
    }

    /// As what a method is called on.
    pub(super) fn receiver(&self) -> String {
        self.operand()
    }

    /// As an argument that has to be a column.
    pub(super) fn as_column(&self) -> String {
        if self.literal { format!("F.lit({})", self.code) } else { self.code.clone() }
    }

    pub(super) fn is_there(&self) -> String {
        format!("{}.isNotNull()", self.receiver())
    }

    pub(super) fn negated(self) -> Self {
        let code = match self.code.strip_suffix(".isNotNull()") {
            Some(subject) if self.atom => format!("{subject}.isNull()"),
            _ => {
                return Self {
                    code: format!("~{}", self.operand()),
                    kind: Kind::Bool,
                    literal: false,
                    atom: false,
                    choice: false,
                };
            }
        };
        Self { code, ..self }
    }

    /// Whether a null in gives a null out.
    pub(super) fn passes_null(&self) -> bool {
        let handles =
            ["F.when(", "F.coalesce(", ".isNull(", ".isNotNull(", "F.concat_ws(", "F.expr(", "F.least(", "F.greatest("];
        !self.literal && self.code.contains('{') && handles.iter().all(|word| !self.code.contains(word))
    }
}

/// A whole number.
pub(super) fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|number: &i64| number.abs() < 100_000)
}

/// A string literal in double quotes, braces doubled; `None` if it needs escapes.
pub(super) fn quoted(content: &str) -> Option<String> {
    let plain = !content.contains(['"', '\\', '\n', '\r']);
    plain.then(|| format!("\"{}\"", braces_doubled(content)))
}

/// A regular expression as a raw literal, if Java reads it as Python does.
pub(super) fn java_regex(pattern: &str) -> Option<String> {
    const PYTHON_ONLY: [&str; 10] = ["(?P", "\\Z", "\\N", "(?a", "(?L", "(?u", "(?#", "[[", "&&", "(?("];
    let agrees = PYTHON_ONLY.iter().all(|word| !pattern.contains(word));
    let plain = !pattern.contains(['"', '\n', '\r']) && !pattern.ends_with('\\');
    let raw = if pattern.contains('\\') { "r" } else { "" };
    (agrees && plain && !pattern.is_empty()).then(|| format!("{raw}\"{}\"", braces_doubled(pattern)))
}

/// A text as a regular expression that matches just it.
pub(super) fn escaped(text: &str) -> Option<String> {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '.' | '$' | '(' | ')' | '|' | '*' | '+' | '?' => {
                pattern.push('[');
                pattern.push(character);
                pattern.push(']');
            }
            '^' | '[' | ']' | '\\' | '"' | '{' | '}' | '\n' | '\r' => return None,
            other => pattern.push(other),
        }
    }
    (!pattern.is_empty()).then(|| format!("\"{pattern}\""))
}

/// A format of `strptime` as Spark writes it.
pub(super) fn datetime_pattern(format: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut rest = format.chars();
    while let Some(character) = rest.next() {
        match character {
            '%' => pattern.push_str(match rest.next()? {
                'Y' => "yyyy",
                'y' => "yy",
                'm' => "MM",
                'd' => "dd",
                'H' => "HH",
                'I' => "hh",
                'M' => "mm",
                'S' => "ss",
                'f' => "SSSSSS",
                'p' => "a",
                'b' => "MMM",
                'B' => "MMMM",
                'a' => "E",
                'A' => "EEEE",
                'j' => "DDD",
                'z' => "xx",
                _ => return None,
            }),
            letter if letter.is_ascii_alphabetic() => {
                pattern.push('\'');
                pattern.push(letter);
                pattern.push('\'');
            }
            '-' | '/' | ':' | ' ' | '.' | ',' | '_' => pattern.push(character),
            _ => return None,
        }
    }
    (!pattern.is_empty()).then(|| format!("\"{pattern}\""))
}

fn braces_doubled(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
