//! The server ends when its editor does, even if the editor's end of the pipe stays open.

/// Ends this process when the process `pid` ends. Works beside the runtime, so a server that computes ends too.
pub(super) fn end_with(pid: u32) {
    let Ok(pid) = i32::try_from(pid) else { return };
    if pid == 0 || pid as u32 == std::process::id() {
        return;
    }
    // An id that can't be opened belongs to another machine or container: the end of the input has to do.
    let Ok(mut parent) = waitpid_any::WaitHandle::open(pid) else { return };
    let _ = std::thread::Builder::new().name("parent watch".to_owned()).spawn(move || {
        if parent.wait().is_ok() {
            tracing::warn!("the editor's process {pid} ended");
            std::process::exit(1);
        }
    });
}
