//! The input from the terminal, read by a thread and parsed by a task. Another program gets the terminal to itself
//! while the input is closed.

// Compiled for the tests of every system, so that it cannot rot unnoticed.
#[cfg(any(test, not(unix)))]
mod events;
#[cfg(unix)]
mod parser;

use super::capabilities::TerminalAnswer;
use crossterm::event::Event;
#[cfg(not(unix))]
pub use events::ConsoleInput as Input;
#[cfg(unix)]
pub use unix::Input;

/// Whether the input recognizes the terminal's answers to queries; elsewhere they would arrive as keys.
pub const READS_ANSWERS: bool = cfg!(unix);

/// A piece of input. Only an input that parses bytes recognizes texts and answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    Event(Event),
    /// Text that arrived at once, and is too long to be typed: a paste by a terminal that does not mark pastes.
    Text(String),
    /// The answer to the query of the background color: whether it is light.
    Background(bool),
    /// An answer that tells what the terminal is.
    Answer(TerminalAnswer),
}

#[cfg(unix)]
mod unix {
    use super::super::capabilities::Emulator;
    use super::super::terminal::environment;
    use super::Sent;
    use super::parser::Parser;
    use crate::runtime::tasks;
    use crossterm::event::Event;
    use filedescriptor::{POLLIN, poll, pollfd};
    use std::fs::File;
    use std::future::pending;
    use std::io::{self, IsTerminal, Read};
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::sync::{mpsc, oneshot};
    use tokio::task::JoinHandle;

    /// The number of bytes read at once.
    const READ_BYTES: usize = 64 * 1024;
    /// The number of bytes after which waiting bytes are left for the next time.
    const MAX_PIECE_BYTES: usize = 1 << 20;

    /// The terminal's input while it is open.
    pub struct Input {
        /// The input; an error, or the end, if the terminal is gone.
        pub events: mpsc::Receiver<io::Result<Sent>>,
        /// Whether the background color was queried and no answer has arrived.
        pub is_asked: bool,
        task: JoinHandle<()>,
        /// Dropped to end the thread.
        stop: Option<UnixStream>,
        /// Resolves when the thread has ended.
        ended: oneshot::Receiver<()>,
    }

    impl Input {
        /// Starts reading; see [`Input::is_asked`].
        pub fn open(is_asked: bool) -> Input {
            let (sender, events) = mpsc::channel(256);
            let (end, ended) = oneshot::channel();
            let (pieces_sender, pieces) = mpsc::channel(16);
            let stop = match start(pieces_sender, end) {
                Ok(stop) => Some(stop),
                Err(error) => {
                    let _ = sender.try_send(Err(error));
                    None
                }
            };
            let task = tasks::spawn(parse(pieces, sender, Parser::new(is_asked, Emulator::of(environment))));
            Input { events, is_asked, task, stop, ended }
        }

        /// Stops reading, so that another program can read. Returns when reading has stopped.
        pub async fn close(&mut self) {
            self.task.abort();
            let _ = (&mut self.task).await;
            self.stop = None;
            let _ = (&mut self.ended).await;
        }

        pub fn is_closed(&self) -> bool {
            self.task.is_finished()
        }
    }

    /// Starts the thread that reads. Returns a stream that ends it when dropped.
    fn start(pieces: mpsc::Sender<Vec<u8>>, end: oneshot::Sender<()>) -> io::Result<UnixStream> {
        let stdin = io::stdin();
        let terminal = match stdin.is_terminal() {
            true => File::from(stdin.as_fd().try_clone_to_owned()?),
            false => File::open("/dev/tty")?,
        };
        let (stop, stopped) = UnixStream::pair()?;
        std::thread::Builder::new().name("terminal input".into()).spawn(move || {
            read(terminal, &stopped, &pieces);
            drop(end);
        })?;
        Ok(stop)
    }

    /// Reads until the terminal is gone, or `stopped` or the receiver is closed.
    fn read(mut terminal: File, stopped: &UnixStream, pieces: &mpsc::Sender<Vec<u8>>) {
        let entry = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut fds = [entry(terminal.as_raw_fd()), entry(stopped.as_raw_fd())];
        let mut buffer = vec![0; READ_BYTES];
        let mut piece = Vec::new();
        loop {
            // What is there is taken in one piece, so that a long paste is not typed letter by letter.
            let limit = if piece.is_empty() { None } else { Some(Duration::ZERO) };
            let waiting = poll(&mut fds, limit);
            let is_stopped = fds.get(1).is_none_or(|stop| stop.revents != 0);
            let is_readable = fds.first().is_some_and(|terminal| terminal.revents != 0);
            match waiting {
                Err(filedescriptor::Error::Poll(error) | filedescriptor::Error::Io(error))
                    if error.kind() == io::ErrorKind::Interrupted =>
                {
                    continue;
                }
                Err(_) => return,
                Ok(_) if is_stopped => return,
                Ok(_) => {}
            }
            let mut is_gone = false;
            if is_readable && piece.len() < MAX_PIECE_BYTES {
                match terminal.read(&mut buffer) {
                    Ok(0) => is_gone = true,
                    Ok(len) => {
                        piece.extend_from_slice(buffer.get(..len).unwrap_or_default());
                        continue;
                    }
                    Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                    Err(_) => is_gone = true,
                }
            }
            if !piece.is_empty() && pieces.blocking_send(std::mem::take(&mut piece)).is_err() || is_gone {
                return;
            }
        }
    }

    /// Parses the pieces until there are no more.
    async fn parse(mut pieces: mpsc::Receiver<Vec<u8>>, sender: mpsc::Sender<io::Result<Sent>>, mut parser: Parser) {
        let mut resized = match signal(SignalKind::window_change()) {
            Ok(resized) => resized,
            Err(error) => return drop(sender.send(Err(error)).await),
        };
        loop {
            let limit = parser.timeout();
            let expired = async move {
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => pending().await,
                }
            };
            let sent = tokio::select! {
                biased;
                piece = pieces.recv() => match piece {
                    Some(piece) => parser.feed(&piece),
                    None => return,
                },
                _ = resized.recv() => vec![Sent::Event(Event::Resize(0, 0))],
                () = expired => parser.expire(),
            };
            for sent in sent {
                if sender.send(Ok(sent)).await.is_err() {
                    return;
                }
            }
        }
    }
}
