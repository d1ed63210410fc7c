//! Panics: caught, logged once with what was at work, and the rule that caused one is left out of that document version.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::rules::{self, Rule};

/// What a request that panicked is answered with.
pub(super) const ANSWER: &str = "sparkls failed inside; the details are in its log";

/// Where a panic came from, and its message with a backtrace.
#[derive(Debug, Clone, Default)]
struct Trace {
    file: String,
    report: String,
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Keeps the place and backtrace of panics in [`catch`] for [`log`]; all others are printed as ever.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                return print(info);
            }
            let backtrace = std::backtrace::Backtrace::force_capture();
            let file = info.location().map(|location| location.file().to_owned()).unwrap_or_default();
            let report = format!("{info}\n{backtrace}");
            LAST.with_borrow_mut(|last| *last = Some(Trace { file, report }));
        }));
    });
}

/// A panic that was caught, on the thread where it was; its report waits for [`log`].
pub(super) struct Caught {
    /// The rule whose file the panic came from.
    pub(super) rule: Option<&'static Rule>,
}

/// Runs `work` and catches its panic.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Caught> {
    let outer = CATCHING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    outcome.map_err(|_| {
        let file = LAST.with_borrow(|last| last.as_ref().map(|trace| trace.file.clone())).unwrap_or_default();
        Caught { rule: rules::all().find(|rule| rule.file == file) }
    })
}

/// Logs this thread's last panic with what was at work.
pub(super) fn log(method: &str, uri: Option<&str>, version: Option<i32>) {
    let trace = LAST.with_borrow_mut(Option::take).unwrap_or_default();
    let version = version.map(|version| format!(" version {version}")).unwrap_or_default();
    tracing::error!("{method} {}{version}: {}", uri.unwrap_or_default(), trace.report);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_next_call_works() {
        watch();
        assert!(catch(|| panic!("on purpose")).is_err());
        log("test", None, Some(1));
        assert_eq!(catch(|| 1).ok(), Some(1));
    }
}
