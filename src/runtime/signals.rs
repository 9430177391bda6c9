//! Signals that end, stop or continue the interface, and the handler of crashes, which restores the terminal.
//!
//! The terminal is restored however the interface ends or stops: a key, SIGTERM, SIGHUP, SIGQUIT, SIGINT, SIGTSTP, a
//! closed window, a panic, or a crash that does not unwind, such as a failed allocation, a stack overflow or a fault
//! in a C library (`on_crash`). A signal during `$EDITOR` also ends the editor, and its text is saved. Before the
//! program exits, it writes saved texts to disk and waits at most three seconds for replies to writes on all servers.
//! The embedded server ends last and removes its temporary folder.

use super::tasks;
use std::future::Future;
use std::io;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time after which the loop is considered stuck: it may be busy, but must handle the signal by then.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Exit cleanly.
    End,
    /// Exit cleanly, as requested by C-c. While another program uses the terminal, it is meant for that program.
    Interrupt,
    /// Release the terminal and stop.
    Stop,
    /// Continued after a stop. The content of the screen is unknown.
    Continued,
}

/// The signals that end, stop or continue the program.
pub struct Signals {
    #[cfg(unix)]
    ends: [tokio::signal::unix::Signal; 4],
    #[cfg(unix)]
    continued: tokio::signal::unix::Signal,
    /// `SIGTSTP`. `None` for a program that does not draw, which the system stops by default.
    #[cfg(unix)]
    stop: Option<tokio::signal::unix::Signal>,
    /// A flag that is set when a signal to exit is received.
    pub exit_flag: ExitFlag,
}

impl Signals {
    /// Listens for the signals that end the program.
    pub fn new() -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Signals {
                ends: [
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::hangup())?,
                    signal(SignalKind::quit())?,
                    signal(SignalKind::interrupt())?,
                ],
                continued: signal(SignalKind::from_raw(libc::SIGCONT))?,
                stop: None,
                exit_flag: ExitFlag::default(),
            })
        }
        #[cfg(not(unix))]
        Ok(Signals { exit_flag: ExitFlag::default() })
    }

    /// Listens for `SIGTSTP`, too, which has no effect of its own from then on.
    pub fn of_terminal(exit_flag: ExitFlag) -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let stop = Some(signal(SignalKind::from_raw(libc::SIGTSTP))?);
            Ok(Signals { stop, exit_flag, ..Signals::new()? })
        }
        #[cfg(not(unix))]
        Ok(Signals { exit_flag })
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Signal {
        let Signals { ends: [term, hup, quit, int], continued, stop, exit_flag } = self;
        let stopped = async {
            match stop {
                Some(stop) => stop.recv().await,
                None => std::future::pending().await,
            }
        };
        let signal = tokio::select! {
            _ = term.recv() => Signal::End,
            _ = hup.recv() => Signal::End,
            _ = quit.recv() => Signal::End,
            _ = int.recv() => Signal::Interrupt,
            _ = stopped => Signal::Stop,
            _ = continued.recv() => Signal::Continued,
        };
        if signal == Signal::End {
            exit_flag.set();
        }
        signal
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

/// A shared flag that tells whether the loop has received a signal to exit.
#[derive(Clone, Debug, Default)]
pub struct ExitFlag(Arc<AtomicBool>);

impl ExitFlag {
    /// Records that the loop has received the signal and will exit.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns if the loop has not received the signal when `grace`, which starts after `requested`, is over: it is
    /// stuck.
    async fn missed(&self, requested: impl Future, grace: impl AsyncFnOnce()) {
        requested.await;
        grace().await;
        if self.0.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

/// Calls `exit` if the process is told to exit (SIGTERM, SIGHUP) and the loop is too busy to notice. This runs on
/// another thread than the loop. Texts are on disk already, because they are written by another thread, too.
pub fn exit_if_stuck(exit_flag: ExitFlag, exit: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut term, mut hup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        tasks::spawn(async move {
            let requested = async {
                tokio::select! { _ = term.recv() => {}, _ = hup.recv() => {} }
            };
            exit_flag.missed(requested, async || tokio::time::sleep(EXIT_TIMEOUT).await).await;
            exit();
        });
    }
    #[cfg(not(unix))]
    let _ = (exit_flag, exit);
    Ok(())
}

/// A guard during which the system stops the program like any other, for example together with an editor that uses its
/// terminal.
pub struct DefaultStopAction {
    #[cfg(unix)]
    before: libc::sigaction,
}

impl DefaultStopAction {
    /// Restores the default action of `SIGTSTP` until dropped.
    pub fn begin() -> DefaultStopAction {
        #[cfg(unix)]
        // SAFETY: The structure is plain data, for which zero is valid, and the call copies it.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            let mut usual: libc::sigaction = std::mem::zeroed();
            usual.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(libc::SIGTSTP, &raw const usual, &raw mut before);
            DefaultStopAction { before }
        }
        #[cfg(not(unix))]
        DefaultStopAction {}
    }
}

#[cfg(unix)]
impl Drop for DefaultStopAction {
    fn drop(&mut self) {
        // SAFETY: This restores the previous action unchanged.
        unsafe {
            libc::sigaction(libc::SIGTSTP, &raw const self.before, std::ptr::null_mut());
        }
    }
}

/// The target of a stop signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTarget {
    /// This process, because it received the signal.
    Us,
    /// The process group, as with C-z in a terminal: the shell waits for the first process of a pipeline.
    Group,
}

/// Stops the program. Returns when it is continued, or at once if no shell could continue it.
pub fn stop(who: StopTarget) {
    let _default_action = DefaultStopAction::begin();
    #[cfg(unix)]
    // SAFETY: Both calls only send a signal, to this thread or to its own process group.
    unsafe {
        match who {
            StopTarget::Us => libc::raise(libc::SIGTSTP),
            StopTarget::Group => libc::kill(0, libc::SIGTSTP),
        };
    }
    #[cfg(not(unix))]
    let _ = who;
}

/// Tells the process group of a child program to exit.
pub fn terminate_group(program: Option<u32>) {
    #[cfg(unix)]
    if let Some(group) = program.and_then(|number| libc::pid_t::try_from(number).ok()).filter(|group| *group > 1) {
        // SAFETY: The call only sends a signal.
        unsafe {
            libc::kill(-group, libc::SIGTERM);
        }
    }
    #[cfg(not(unix))]
    let _ = program;
}

/// Tells a child program that has not been waited for yet to exit.
pub fn terminate(program: Option<u32>) {
    #[cfg(unix)]
    if let Some(process) = program.and_then(|number| libc::pid_t::try_from(number).ok()) {
        // SAFETY: The call only sends a signal.
        unsafe {
            libc::kill(process, libc::SIGTERM);
        }
    }
    #[cfg(not(unix))]
    let _ = program;
}

/// The signals of a process that ends without unwinding: an abort (out of memory, a panic during a panic), an invalid
/// access to memory (also a stack overflow), a file that was truncated while it was mapped, and invalid instructions.
#[cfg(unix)]
const CRASHES: [libc::c_int; 5] = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

/// The actions of [`CRASHES`] before [`on_crash`] replaced them.
#[cfg(unix)]
static ACTIONS_BEFORE: OnceLock<[libc::sigaction; CRASHES.len()]> = OnceLock::new();

/// The function that is called before the process ends.
#[cfg(unix)]
static ON_CRASH: OnceLock<fn()> = OnceLock::new();

/// Calls `what` before the process ends by a crash. The previous action follows: Rust's own handler reports a stack
/// overflow, and the system ends the process.
///
/// `what` may only do what is allowed in a signal handler: read atomics and make async-signal-safe system calls.
#[cfg(unix)]
pub fn on_crash(what: fn()) {
    if ON_CRASH.set(what).is_err() {
        return;
    }
    // SAFETY: The structures are plain data, for which zero is valid, and the calls copy them. The handler is
    // async-signal-safe, see there.
    unsafe {
        let mut before: [libc::sigaction; CRASHES.len()] = std::mem::zeroed();
        for (signal, before) in CRASHES.iter().zip(&mut before) {
            libc::sigaction(*signal, std::ptr::null(), &raw mut *before);
        }
        ACTIONS_BEFORE.get_or_init(|| before);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle_crash as *const () as libc::sighandler_t;
        // The stack may be what overflowed. Rust gives each of its threads another one for signal handlers.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        for signal in CRASHES {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Handles the signal of a crash: async-signal-safe, because it reads atomics and otherwise makes such system calls.
#[cfg(unix)]
extern "C" fn handle_crash(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if let Some(what) = ON_CRASH.get() {
        what();
    }
    let place = CRASHES.iter().position(|crash| *crash == signal);
    let before = place.and_then(|place| ACTIONS_BEFORE.get()?.get(place));
    // SAFETY: The system passes a valid structure. The calls are async-signal-safe and only read their arguments.
    unsafe {
        // A fault occurs again when this returns, and the previous action handles it.
        if let Some(before) = before {
            libc::sigaction(signal, before, std::ptr::null_mut());
        }
        // A signal that another process or this one sent does not.
        if before.is_none() || info.is_null() || (*info).si_code <= 0 {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::cell::Cell;
    use std::future::{pending, ready};

    #[test]
    fn an_unresponsive_loop_is_ended_after_a_grace_period() {
        let (exit_flag, began) = (ExitFlag::default(), Cell::new(false));
        let not_asked = exit_flag.missed(pending::<()>(), async || began.set(true)).now_or_never();
        assert!(not_asked.is_none() && !began.get(), "the grace begins with the signal");
        assert!(exit_flag.missed(ready(()), async || pending().await).now_or_never().is_none(), "the grace runs");
        assert!(exit_flag.missed(ready(()), async || ()).now_or_never().is_some(), "the loop is stuck");
        exit_flag.set();
        assert!(exit_flag.missed(ready(()), async || ()).now_or_never().is_none(), "the loop ends by itself");
    }
}
