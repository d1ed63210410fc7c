//! Argument parsing, and who hands out memory.

/// Each edit makes a plan of many small parts and drops the one before: the allocator of the C library spends a quarter of
/// an edit on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    sparkls::cli::main()
}
