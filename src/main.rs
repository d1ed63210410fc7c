//! Argument parsing, nothing else.

fn main() -> std::process::ExitCode {
    sparkls::cli::main()
}
