//! The input of consoles that report keys instead of bytes.

use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use std::io;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A piece of input.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    Event(Event),
    /// Text that arrived at once, and is too long to be typed.
    Text(String),
    /// The answer to the query of the background color: whether it is light.
    Background(bool),
}

/// The terminal's input while it is open.
pub struct Input {
    /// The input; an error, or the end, if the terminal is gone.
    pub events: mpsc::Receiver<io::Result<Sent>>,
    /// Whether the background color was queried and no answer has arrived.
    pub is_asked: bool,
    task: JoinHandle<()>,
}

impl Input {
    /// Starts reading.
    pub fn open(is_asked: bool) -> Input {
        let (sender, events) = mpsc::channel(256);
        let task = tokio::spawn(async move {
            let mut stream = EventStream::new();
            while let Some(event) = stream.next().await {
                if sender.send(event.map(Sent::Event)).await.is_err() {
                    break;
                }
            }
        });
        Input { events, is_asked, task }
    }

    /// Stops reading, so that another program can read. Returns when reading has stopped.
    pub async fn close(&mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// Returns whether the input is closed.
    pub fn is_closed(&self) -> bool {
        self.task.is_finished()
    }
}
