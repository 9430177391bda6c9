//! Signals: those that end the interface, stop it, wake it, and the one of a crash, which gives the terminal back.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the loop may take to hear that it is to end: it is busy, but it comes back.
const GRACE: Duration = Duration::from_secs(5);

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End cleanly.
    End,
    /// The same, as C-c says it: to the program that has the terminal.
    Interrupt,
    /// Give the terminal back, and stop.
    Stop,
    /// Back from a stop: the screen is not ours any more.
    Continued,
}

/// The signals that end, stop or wake the program.
pub struct Signals {
    #[cfg(unix)]
    ends: [tokio::signal::unix::Signal; 4],
    #[cfg(unix)]
    continued: tokio::signal::unix::Signal,
    /// A program that draws nothing is stopped by the system alone.
    #[cfg(unix)]
    stop: Option<tokio::signal::unix::Signal>,
    /// Whether one came that ends it.
    pub heard: EndHeard,
}

impl Signals {
    /// Listens for those that end it.
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
                heard: EndHeard::default(),
            })
        }
        #[cfg(not(unix))]
        Ok(Signals { heard: EndHeard::default() })
    }

    /// Listens for the one that stops it, too, which does nothing by itself from then on.
    pub fn of_terminal(heard: EndHeard) -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let stop = Some(signal(SignalKind::from_raw(libc::SIGTSTP))?);
            Ok(Signals { stop, heard, ..Signals::new()? })
        }
        #[cfg(not(unix))]
        Ok(Signals { heard })
    }

    /// The next one.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Signal {
        let Signals { ends: [term, hup, quit, int], continued, stop, heard } = self;
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
            heard.set();
        }
        signal
    }

    /// The next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

/// Whether the loop has heard that it is to end.
#[derive(Clone, Debug, Default)]
pub struct EndHeard(Arc<AtomicBool>);

impl EndHeard {
    /// It has, and ends by itself.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns once `asked` was followed by `grace` and the loop heard nothing: it is stuck. `grace` begins with
    /// `asked`.
    async fn missed(&self, asked: impl Future, grace: impl AsyncFnOnce()) {
        asked.await;
        grace().await;
        if self.0.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

/// Ends the process by `end` where it is told to (SIGTERM, SIGHUP) and the loop is too busy to hear it. It runs on
/// another thread than the loop; texts are on disk already, because another thread than the loop's writes them.
pub fn enforce_end(heard: EndHeard, end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut term, mut hup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        tokio::spawn(async move {
            let asked = async {
                tokio::select! { _ = term.recv() => {}, _ = hup.recv() => {} }
            };
            heard.missed(asked, async || tokio::time::sleep(GRACE).await).await;
            end();
        });
    }
    #[cfg(not(unix))]
    let _ = (heard, end);
    Ok(())
}

/// As long as this is there, the system stops the program as any other: with the editor that has its terminal, say.
pub struct StopsBySystem {
    #[cfg(unix)]
    before: libc::sigaction,
}

impl StopsBySystem {
    /// From now on.
    pub fn begin() -> StopsBySystem {
        #[cfg(unix)]
        // SAFETY: a structure of numbers, of which none means the default, and a call that copies it.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            let mut usual: libc::sigaction = std::mem::zeroed();
            usual.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(libc::SIGTSTP, &raw const usual, &raw mut before);
            StopsBySystem { before }
        }
        #[cfg(not(unix))]
        StopsBySystem {}
    }
}

#[cfg(unix)]
impl Drop for StopsBySystem {
    fn drop(&mut self) {
        // SAFETY: what was there before is put back as it came.
        unsafe {
            libc::sigaction(libc::SIGTSTP, &raw const self.before, std::ptr::null_mut());
        }
    }
}

/// Who is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTarget {
    /// This process: the signal came for it.
    Us,
    /// The process group, as C-z of a terminal does it: the shell waits for the first of a pipeline.
    Group,
}

/// Stops; returns when it is continued, and at once where nobody could do that.
pub fn stop(who: StopTarget) {
    let _by_system = StopsBySystem::begin();
    #[cfg(unix)]
    // SAFETY: both send a signal, to this thread and to the own group.
    unsafe {
        match who {
            StopTarget::Us => libc::raise(libc::SIGTSTP),
            StopTarget::Group => libc::kill(0, libc::SIGTSTP),
        };
    }
    #[cfg(not(unix))]
    let _ = who;
}

/// Tells the process group of a program that was started here that it is to end.
pub fn end_group(program: Option<u32>) {
    #[cfg(unix)]
    if let Some(group) = program.and_then(|number| libc::pid_t::try_from(number).ok()).filter(|group| *group > 1) {
        // SAFETY: it sends a signal.
        unsafe {
            libc::kill(-group, libc::SIGTERM);
        }
    }
    #[cfg(not(unix))]
    let _ = program;
}

/// Tells a program that was started here, and not waited for to its end, that it is to end.
pub fn end(program: Option<u32>) {
    #[cfg(unix)]
    if let Some(process) = program.and_then(|number| libc::pid_t::try_from(number).ok()) {
        // SAFETY: it sends a signal.
        unsafe {
            libc::kill(process, libc::SIGTERM);
        }
    }
    #[cfg(not(unix))]
    let _ = program;
}

/// Calls `what` before a crash that nothing is unwound for ends the process: no memory, no stack, a panic in a panic.
///
/// `what` may do only what a signal handler may: look at atomics, and call the system.
#[cfg(unix)]
pub fn on_abort(what: extern "C" fn(libc::c_int)) {
    // SAFETY: as above; the handler does what handlers may, and the system's own follows it, because it stands for
    // once.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = what as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND;
        libc::sigaction(libc::SIGABRT, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::cell::Cell;
    use std::future::{pending, ready};

    #[test]
    fn a_loop_that_does_not_hear_that_it_is_to_end_is_ended_after_the_grace() {
        let (heard, began) = (EndHeard::default(), Cell::new(false));
        let not_asked = heard.missed(pending::<()>(), async || began.set(true)).now_or_never();
        assert!(not_asked.is_none() && !began.get(), "the grace begins with the signal");
        assert!(heard.missed(ready(()), async || pending().await).now_or_never().is_none(), "the grace runs");
        assert!(heard.missed(ready(()), async || ()).now_or_never().is_some(), "the loop is stuck");
        heard.set();
        assert!(heard.missed(ready(()), async || ()).now_or_never().is_none(), "the loop ends by itself");
    }
}
