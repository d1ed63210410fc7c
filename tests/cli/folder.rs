//! A folder of files, and sparkls run in it.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run of sparkls answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A folder that goes away with the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, bytes).expect("a file can be written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).expect("a text")
    }

    /// Runs sparkls in the folder.
    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        answer(self.command(args).output().expect("sparkls starts"))
    }

    /// Runs sparkls in a folder below it.
    pub(crate) fn run_in(&self, below: &str, args: &[&str]) -> Answer {
        answer(self.command(args).current_dir(self.path().join(below)).output().expect("sparkls starts"))
    }

    /// Runs sparkls with a text on stdin.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Answer {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sparkls starts");
        child.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("stdin is read");
        answer(child.wait_with_output().expect("sparkls ends"))
    }

    /// Runs sparkls with a stdout that nobody reads.
    pub(crate) fn run_and_close(&self, args: &[&str]) -> Answer {
        let mut child =
            self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sparkls starts");
        drop(child.stdout.take());
        answer(child.wait_with_output().expect("sparkls ends"))
    }

    pub(crate) fn git(&self, args: &[&str]) {
        self.git_in(".", args);
    }

    /// Runs git in a folder below it; it succeeds.
    pub(crate) fn git_in(&self, below: &str, args: &[&str]) {
        let output = Command::new("git").args(args).current_dir(self.path().join(below)).output().expect("git starts");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The absolute path of something in it.
    pub(crate) fn absolute(&self, below: &str) -> String {
        self.path().canonicalize().expect("the folder is there").join(below).display().to_string()
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparkls"));
        command.args(args).current_dir(self.path()).env_remove("SPARK_HOME").env_remove("SPARK_CONF_DIR");
        command
    }
}

fn answer(output: Output) -> Answer {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Answer { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}
