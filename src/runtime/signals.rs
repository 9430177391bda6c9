//! Signals: those that end the interface, stop it, wake it, and the one of a crash, which gives the terminal back.

use std::io;

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
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    /// Listens for the one that stops it, too, which does nothing by itself from then on.
    pub fn of_terminal() -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let stop = Some(signal(SignalKind::from_raw(libc::SIGTSTP))?);
            Ok(Signals { stop, ..Signals::new()? })
        }
        #[cfg(not(unix))]
        Signals::new()
    }

    /// The next one.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Signal {
        let Signals { ends: [term, hup, quit, int], continued, stop } = self;
        let stopped = async {
            match stop {
                Some(stop) => stop.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = term.recv() => Signal::End,
            _ = hup.recv() => Signal::End,
            _ = quit.recv() => Signal::End,
            _ = int.recv() => Signal::Interrupt,
            _ = stopped => Signal::Stop,
            _ = continued.recv() => Signal::Continued,
        }
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
pub enum Who {
    /// This process: the signal came for it.
    Us,
    /// The process group, as C-z of a terminal does it: the shell waits for the first of a pipeline.
    Group,
}

/// Stops; returns when it is continued, and at once where nobody could do that.
pub fn stop(who: Who) {
    let _by_system = StopsBySystem::begin();
    #[cfg(unix)]
    // SAFETY: both send a signal, to this thread and to the own group.
    unsafe {
        match who {
            Who::Us => libc::raise(libc::SIGTSTP),
            Who::Group => libc::kill(0, libc::SIGTSTP),
        };
    }
    #[cfg(not(unix))]
    let _ = who;
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
    // SAFETY: as above; the handler does what handlers may, and the system's own follows it, because it stands for once.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = what as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND;
        libc::sigaction(libc::SIGABRT, &raw const action, std::ptr::null_mut());
    }
}
