//! Argument parsing, nothing else.

/// Faster than the system's with the many small pieces of syntax trees.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    sparkls::cli::main()
}
