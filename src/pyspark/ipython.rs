//! The Python in a cell of a notebook: what the kernel runs itself (`%%sql`, `%pip`, `!ls`, `df?`) is blanked.
//!
//! The blanked text is as long as the cell, byte for byte, with the same lines.

/// Magics of a whole cell, and of a whole line, behind which Python stands.
const RUNS_PYTHON: [&str; 9] = ["time", "timeit", "capture", "prun", "python", "pyspark", "memit", "mprun", "lprun"];
/// What a single `%` at the start of a cell says of all of it, as on Databricks.
const LANGUAGES: [&str; 10] = ["sql", "md", "sh", "scala", "r", "fs", "bash", "html", "markdown", "js"];

/// The Python of one cell.
pub fn code(cell: &str) -> String {
    let mut out = Blanked::new(cell);
    let Some((at, magic)) = first_magic(cell) else {
        blank_lines(cell, 0, &mut out);
        return out.text();
    };
    let (name, is_whole) = match magic.strip_prefix("%%") {
        Some(magic) => (word(magic), true),
        None => (word(&magic[1..]), LANGUAGES.contains(&word(&magic[1..]))),
    };
    if is_whole && !RUNS_PYTHON.contains(&name) {
        out.blank(0..cell.len());
    } else if is_whole || name == "python" {
        let line_end = cell[at..].find('\n').map_or(cell.len(), |end| at + end);
        out.blank(at..line_end);
        blank_lines(cell, line_end, &mut out);
    } else {
        blank_lines(cell, 0, &mut out);
    }
    out.text()
}

/// Where a cell holds nothing but SQL, if it is Spark's as far as its first line tells: behind `%%sql` with options alone
/// (a name or an address there is a connection to another database), or behind `%sql`, as on Databricks.
pub fn sql(cell: &str) -> Option<std::ops::Range<usize>> {
    let (at, magic) = first_magic(cell)?;
    let name = magic.trim_start_matches('%');
    let marks = magic.len() - name.len();
    if !matches!(word(name), "sql" | "sparksql") {
        return None;
    }
    let from = at + marks + word(name).len();
    let line_end = cell[from..].find('\n').map_or(cell.len(), |end| from + end);
    let line = &cell[from..line_end];
    match marks {
        1 => (!line.contains("://") && !line.contains("<<")).then_some(from..cell.len()),
        2 => (only_options(line) && line_end < cell.len()).then(|| line_end + 1..cell.len()),
        _ => None,
    }
}

/// Whether a line holds nothing but options, each with a value at most: `-o rows -n 100 -q`.
fn only_options(line: &str) -> bool {
    let mut is_value = false;
    line.split_whitespace().all(|word| {
        let is_option = word.starts_with('-');
        std::mem::replace(&mut is_value, is_option) || is_option
    })
}

/// Whether a cell loads another library that runs `%sql`, on connections of its own.
pub fn loads_other_sql(cell: &str) -> bool {
    const LIBRARIES: [&str; 4] = ["sql", "jupysql", "duckdb", "magic_duckdb"];
    cell.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|word| matches!(word, "%load_ext" | "%reload_ext"))
            && words.any(|word| LIBRARIES.contains(&word))
    })
}

/// The offset and the text of the magic that a cell begins with, behind blank lines and comments.
fn first_magic(cell: &str) -> Option<(usize, &str)> {
    let mut at = 0;
    for line in cell.split_inclusive('\n') {
        let content = line.trim_start();
        if content.starts_with('%') {
            return Some((at + line.len() - content.len(), content));
        }
        if !content.is_empty() && !content.starts_with('#') {
            return None;
        }
        at += line.len();
    }
    None
}

fn word(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len());
    &text[..end]
}

/// Blanks the lines of a cell from `from` on that are for the kernel.
fn blank_lines(cell: &str, from: usize, out: &mut Blanked<'_>) {
    let mut at = from;
    let mut state = State::default();
    let mut is_continued = false;
    for line in cell[from..].split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let range = at..at + content.len();
        at += line.len();
        if is_continued {
            is_continued = content.ends_with('\\');
            out.blank(range);
            continue;
        }
        if !state.is_at_statement() {
            state.scan(content);
            continue;
        }
        let indent = content.len() - content.trim_start().len();
        match statement(&content[indent..]) {
            Statement::Kernel => {
                is_continued = content.ends_with('\\');
                out.blank(range.clone());
                // A block must not lose its only statement.
                if indent > 0 {
                    out.put(range.start + indent, b'0');
                }
            }
            Statement::Behind(offset) => {
                // The statement goes where the magic stood: at the indentation of its line.
                out.blank(range.start + indent..range.start + indent + offset);
                out.shift(range.start + indent, offset, range.end);
                state.scan(&content[indent + offset..]);
            }
            Statement::Python => {
                let code = state.scan(content);
                if state.is_at_statement() && content[..code].trim_end().ends_with('?') {
                    out.blank(range);
                }
            }
        }
    }
}

enum Statement {
    Python,
    Kernel,
    /// Python begins at this offset, behind a magic that runs it.
    Behind(usize),
}

/// What the kernel makes of a statement.
fn statement(text: &str) -> Statement {
    match text.as_bytes() {
        [b'!' | b'?', ..] => Statement::Kernel,
        [b'%', rest @ ..] if !rest.first().is_some_and(u8::is_ascii_whitespace) => python_behind(text),
        _ if assigns_from_kernel(text) => Statement::Kernel,
        _ => Statement::Python,
    }
}

/// `%time df.count()`, `%timeit -n1 -r1 df.count()`.
fn python_behind(text: &str) -> Statement {
    let name = word(&text[1..]);
    if !RUNS_PYTHON.contains(&name) || name == "python" {
        return Statement::Kernel;
    }
    let mut at = 1 + name.len();
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        let option = rest.split_whitespace().next().unwrap_or_default();
        if option.is_empty() {
            return Statement::Kernel;
        }
        if !option.starts_with('-') && !option.bytes().all(|byte| byte.is_ascii_digit()) {
            return Statement::Behind(at);
        }
        at += option.len();
    }
}

/// `files = !ls`, `rows = %sql select 1`.
fn assigns_from_kernel(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else { return false };
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | ',' | ' ' | '.'))
    };
    let value = value.trim_start();
    let is_magic = || {
        let magic = value.strip_prefix('%')?;
        magic.starts_with(|char: char| char.is_ascii_alphabetic()).then_some(())
    };
    is_name(name) && (value.starts_with('!') && !value.starts_with("!=") || is_magic().is_some())
}

/// What is open at a line's end: brackets, a string over lines, a `\`.
#[derive(Default)]
struct State {
    brackets: usize,
    string: Option<u8>,
    is_joined: bool,
}

impl State {
    fn is_at_statement(&self) -> bool {
        self.brackets == 0 && self.string.is_none() && !self.is_joined
    }

    /// Reads a line of Python; where its comment starts, or its end.
    fn scan(&mut self, line: &str) -> usize {
        let bytes = line.as_bytes();
        let mut at = 0;
        self.is_joined = false;
        while let Some(&byte) = bytes.get(at) {
            let is_triple = bytes[at..].starts_with(&[byte; 3]);
            match self.string {
                Some(_) if byte == b'\\' => at += 1,
                Some(quote) if byte == quote && is_triple => {
                    self.string = None;
                    at += 2;
                }
                Some(_) => {}
                None => match byte {
                    b'#' => return at,
                    b'"' | b'\'' if is_triple => {
                        self.string = Some(byte);
                        at += 2;
                    }
                    b'"' | b'\'' => at = end_of_string(bytes, at),
                    b'(' | b'[' | b'{' => self.brackets += 1,
                    b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                },
            }
            at += 1;
        }
        self.is_joined = self.string.is_none() && line.ends_with('\\');
        line.len()
    }
}

/// Where a string of one line ends that begins at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            byte if byte == bytes[at] => return end,
            _ => end += 1,
        }
    }
    end
}

/// A text that parts of are blanked.
struct Blanked<'t> {
    original: &'t str,
    bytes: Vec<u8>,
}

impl<'t> Blanked<'t> {
    fn new(original: &'t str) -> Self {
        Self { original, bytes: original.as_bytes().to_vec() }
    }

    fn blank(&mut self, range: std::ops::Range<usize>) {
        for byte in self.bytes.get_mut(range).into_iter().flatten() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn put(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.bytes.get_mut(at).filter(|place| **place == b' ') {
            *place = byte;
        }
    }

    /// Makes a statement that stands right of its indentation one of its own: `0;` and blanks in front of it.
    fn shift(&mut self, at: usize, length: usize, end: usize) {
        if length >= 2 && at + length <= end {
            self.put(at, b'0');
            self.put(at + 1, b';');
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes).unwrap_or_else(|_| " ".repeat(self.original.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::{code, loads_other_sql, sql};

    #[test]
    fn cells_of_sql_are_spark_s_unless_they_name_a_connection() {
        let text = |cell: &'static str| sql(cell).map(|range| cell[range].trim());
        assert_eq!(text("%%sql\nSELECT 1"), Some("SELECT 1"));
        assert_eq!(text("# c\n%%sql -o rows -q\nSELECT 1"), Some("SELECT 1"));
        assert_eq!(text("%sql SELECT 1\nFROM t"), Some("SELECT 1\nFROM t"));
        assert_eq!(text("%%sql postgresql://host/db\nSELECT 1"), None);
        assert_eq!(text("%%sql rows << SELECT 1"), None);
        assert_eq!(text("%%sqlite\nSELECT 1"), None);
        assert!(loads_other_sql("import x\n%load_ext sql") && !loads_other_sql("%load_ext sparksql_magic"));
    }

    #[test]
    fn cells_for_the_kernel_are_blanked_whole() {
        for cell in
            ["%%sql\nSELECT 'é'\n", "\n# c\n%%bash\nls", "%sql select 1\n", "%md\n# Title's", "%%configure -f\n{}"]
        {
            let python = code(cell);
            assert_eq!(python.trim(), "", "{cell}");
            assert_eq!((python.len(), python.lines().count()), (cell.len(), cell.lines().count()));
        }
    }

    #[test]
    fn lines_for_the_kernel_are_blanked() {
        let kept = |cell: &str| {
            let python = code(cell);
            assert_eq!(python.len(), cell.len());
            python.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(kept("%pip install x \\\n  y\nx = 1"), "||x = 1");
        assert_eq!(kept("!ls\nfiles = !ls\nrows = %sql select 1\na != b\nx = 5 %2"), "|||a != b|x = 5 %2");
        assert_eq!(kept("df?\n?df\ndf.join??\nx = 1  # why?\ny = 'what?'"), "|||x = 1  # why?|y = 'what?'");
        assert_eq!(
            kept("x = (a\n  % b)\ny = '''\n!no\n'''\nz = 1 \\\n  % 2"),
            "x = (a|  % b)|y = '''|!no|'''|z = 1 \\|  % 2"
        );
        assert_eq!(kept("if x:\n    !ls -l\n"), "if x:|    0");
        assert_eq!(
            kept("%time df.count()\n%timeit -n 1 -r1 df.count()"),
            "0;    df.count()|0;               df.count()"
        );
        assert_eq!(kept("%%time\ndf.count()\n!ls"), "|df.count()|");
        assert_eq!(kept("%python\ndf.count()"), "|df.count()");
    }
}
