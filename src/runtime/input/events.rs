//! The input of consoles that report keys instead of bytes. They report the release of keys, too.

use super::Sent;
use crate::runtime::tasks;
use crossterm::event::{Event, EventStream};
use futures::{Stream, StreamExt};
use std::io;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The terminal's input while it is open.
pub struct ConsoleInput {
    /// The input; an error, or the end, if the terminal is gone.
    pub events: mpsc::Receiver<io::Result<Sent>>,
    /// Whether the background color was queried and no answer has arrived; never, see [`super::READS_ANSWERS`].
    pub is_asked: bool,
    task: JoinHandle<()>,
}

impl ConsoleInput {
    /// Starts reading.
    pub fn open(_: bool) -> ConsoleInput {
        ConsoleInput::of(EventStream::new())
    }

    fn of(mut stream: impl Stream<Item = io::Result<Event>> + Send + Unpin + 'static) -> ConsoleInput {
        let (sender, events) = mpsc::channel(256);
        let task = tasks::spawn(async move {
            while let Some(event) = stream.next().await {
                // The stream would report the same error again and again.
                let is_last = event.is_err();
                if sender.send(event.map(Sent::Event)).await.is_err() || is_last {
                    break;
                }
            }
        });
        ConsoleInput { events, is_asked: false, task }
    }

    /// Stops reading, so that another program can read. Returns when reading has stopped.
    pub async fn close(&mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    pub fn is_closed(&self) -> bool {
        self.task.is_finished()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent};
    use futures::stream;

    fn key(c: char) -> Event {
        Event::Key(KeyEvent::from(KeyCode::Char(c)))
    }

    #[tokio::test]
    async fn events_arrive_in_order_until_an_error() {
        let gone = || Err(io::Error::other("the console is gone"));
        let mut input = ConsoleInput::of(stream::iter([Ok(key('a')), Ok(Event::Resize(80, 24)), gone(), gone()]));
        let mut sent = Vec::new();
        while let Some(event) = input.events.recv().await {
            sent.push(event.map_err(|error| error.to_string()));
        }
        let expected = [key('a'), Event::Resize(80, 24)].map(|event| Ok(Sent::Event(event)));
        assert_eq!(sent, [&expected[..], &[Err("the console is gone".to_owned())]].concat());
        assert!(!input.is_asked, "nobody would recognize the answer");
    }

    #[tokio::test]
    async fn a_closed_input_takes_no_more_events() {
        let (console, events) = mpsc::unbounded_channel();
        let stream = stream::unfold(events, |mut events| async { Some((Ok(events.recv().await?), events)) });
        let mut input = ConsoleInput::of(Box::pin(stream));
        console.send(key('a')).expect("it reads");
        assert_eq!(input.events.recv().await.expect("an event").expect("no error"), Sent::Event(key('a')));
        assert!(!input.is_closed());
        input.close().await;
        assert!(input.is_closed() && console.is_closed(), "another program gets the rest");
        // The stream of the console is one that can be read like this.
        let _: fn(bool) -> ConsoleInput = ConsoleInput::open;
    }
}
