//! A program in a pseudo-terminal: its output and its resource usage.

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A program in a pseudo-terminal.
pub struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    output: Receiver<(Instant, Vec<u8>)>,
    input: Box<dyn Write + Send>,
    pub started: Instant,
}

impl Session {
    /// Starts a program.
    pub fn start(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Session {
        let size = PtySize { rows: 45, cols: 160, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        for (name, value) in variables {
            command.env(name, value);
        }
        let mut reader = pair.master.try_clone_reader().expect("the terminal's output");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        let input = pair.master.take_writer().expect("the terminal's input");
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).expect("the program starts");
        Session { master: pair.master, child, output, input, started }
    }

    /// Waits until `enough` returns true for all output since the last call; returns the milliseconds since `from`.
    pub fn until(&mut self, from: Instant, enough: impl Fn(&[u8]) -> bool) -> Option<f64> {
        let mut seen = Vec::new();
        loop {
            match self.output.recv_timeout(Duration::from_secs(10)) {
                Ok((at, bytes)) => {
                    seen.extend(bytes);
                    if enough(&seen) {
                        return Some(at.duration_since(from).as_secs_f64() * 1e3);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Waits until `needle` is on the screen; returns the milliseconds since the start.
    pub fn shows(&mut self, needle: &str, patience: Duration) -> Option<f64> {
        self.shows_each(&[needle], patience).pop().flatten()
    }

    /// Waits until each of `needles` was on the screen once; returns the milliseconds since the start for each.
    pub fn shows_each(&mut self, needles: &[&str], patience: Duration) -> Vec<Option<f64>> {
        let end = Instant::now() + patience;
        let [rows, columns] = [45, 160].map(|size| NonZero::new(size).expect("a size"));
        let mut screen = vt100::Parser::new(rows, columns, 0);
        let mut taken = vec![None; needles.len()];
        while taken.contains(&None) {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((at, bytes)) = self.output.recv_timeout(left) else { break };
            screen.process(&bytes);
            let contents = screen.screen().contents();
            for (taken, needle) in taken.iter_mut().zip(needles) {
                if taken.is_none() && contents.contains(needle) {
                    *taken = Some(at.duration_since(self.started).as_secs_f64() * 1e3);
                }
            }
        }
        taken
    }

    /// Waits until there has been no output for a while.
    pub fn quiet(&mut self) {
        while self.output.recv_timeout(Duration::from_millis(300)).is_ok() {}
    }

    /// Sends a key and waits for the first bytes of the response; returns the milliseconds.
    pub fn key(&mut self, key: &[u8]) -> f64 {
        while self.output.try_recv().is_ok() {}
        let from = Instant::now();
        self.input.write_all(key).expect("the key is typed");
        self.input.flush().expect("the key is typed");
        self.until(from, |seen| !seen.is_empty()).unwrap_or(f64::NAN)
    }

    /// Returns the number of context switches of all threads so far.
    pub fn switches(&self) -> Option<u64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.process_id()?)).ok()?;
        let count = |text: String| {
            let lines = text.lines().filter(|l| l.contains("ctxt_switches"));
            lines.filter_map(|l| l.split_whitespace().last()?.parse::<u64>().ok()).sum::<u64>()
        };
        Some(tasks.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("status")).ok()).map(count).sum())
    }

    /// Returns the memory of one kind (`VmRSS`, `RssAnon`) in megabytes.
    pub fn memory(&self, kind: &str) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id()?)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
    }

    /// Returns the CPU time used so far in milliseconds; the system counts it in hundredths of a second.
    pub fn processor(&self) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id()?)).ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<f64>().ok();
        Some((next()? + next()?) * 10.0)
    }

    /// Kills the program.
    pub fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.master);
    }
}
