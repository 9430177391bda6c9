//! Computations in the background, many of each kind at once: all of them together stay within their bound.

use labscope::api::Raw;
use labscope::api::{Error, Fault};
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::parts::repository::blob::work::{Decode, DetectText, FitPicture, Records, RenderText, TextKind};
use labscope::runtime::executor::Executor;
use labscope::store::{Canceled, Derive, Task, Work};
use labscope::ui::code::Text;
use labscope::ui::image::{Image, Screen};
use labscope::ui::theme::{Background, Theme};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The number of computations of each kind: as many as fill a screen.
const MANY: usize = 24;
/// What large computations may take together, and small ones.
const MAX_LARGE: usize = 512 << 20;
const MAX_SMALL: usize = 32;
/// How much larger than it is the input pretends to be.
const TIMES: usize = 64;

/// The memory of all computations at work, by what they ask for, and their number.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Gauge {
    fn count<T>(&self, amount: usize, work: impl FnOnce() -> T) -> T {
        self.peak.fetch_max(self.now.fetch_add(amount, Ordering::SeqCst) + amount, Ordering::SeqCst);
        let result = work();
        self.now.fetch_sub(amount, Ordering::SeqCst);
        result
    }
}

/// A computation that is one of many, and pretends to be large.
struct OneOfMany<D> {
    work: D,
    number: usize,
    times: usize,
    gauge: Arc<Gauge>,
}

impl<D: Derive> Derive for OneOfMany<D> {
    type Output = D::Output;

    fn key(&self) -> String {
        format!("{} {}", self.work.key(), self.number)
    }

    fn memory(&self) -> usize {
        self.work.memory() * self.times
    }

    fn run(&self, canceled: Canceled<'_>) -> D::Output {
        let amount = if self.times == 1 { 1 } else { self.memory().min(MAX_LARGE) };
        self.gauge.count(amount, || self.work.run(canceled))
    }
}

/// Runs many computations at once, and returns the peak of what they take together.
async fn peak<D: Derive>(times: usize, work: impl Fn() -> D) -> usize {
    let (sender, mut inbox) = mpsc::channel(8);
    let gone = || Err(Error { tried: "connect".into(), fault: Fault::Offline("gone".into()) });
    let mut executor = Executor::new(Box::new(gone), sender, None, None);
    let gauge = Arc::new(Gauge::default());
    for number in 0..MANY.max(2 * MAX_SMALL * usize::from(times == 1)) {
        let one = OneOfMany { work: work(), number, times, gauge: gauge.clone() };
        executor.take(Effect::Start(Task::Work(Work::new(one))));
    }
    let mut done = 0;
    while done < MANY {
        if let Some(Msg::FromTask(_, msg)) = inbox.recv().await {
            done += usize::from(matches!(*msg, Msg::Arrived(_, Ok(Outcome::Computed(_)))));
        }
    }
    gauge.peak.load(Ordering::SeqCst)
}

fn text(line: &str) -> Arc<Text> {
    Arc::new(Text::new(line.repeat((64 << 10) / line.len()).into_bytes()))
}

fn picture() -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels = image::RgbImage::from_pixel(400, 300, image::Rgb([200, 30, 30]));
    pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("a picture");
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_screen_of_each_kind_of_work_stays_within_the_common_bound() {
    let sha = || "a".to_owned();
    let image = Arc::new(Image::read(&picture()).expect("an image"));
    let raw = Arc::new(Raw { bytes: vec![b'a'; 256 << 10], content_type: None });
    let (screen, theme) = (Screen::default(), Theme::for_background(Background::Dark));
    let (words, table) = (text("Some words.\n\n"), text("a,b\n"));
    let peaks = [
        ("decoding", peak(TIMES, || Decode { sha: sha(), bytes: picture().into() }).await),
        ("scaling", peak(TIMES, || FitPicture { sha: sha(), image: image.clone(), room: (80, 40), screen }).await),
        ("texts", peak(TIMES, || DetectText { sha: sha(), raw: raw.clone() }).await),
        ("tables", peak(TIMES, || Records { sha: sha(), text: table.clone(), separator: b',' }).await),
        (
            "Markdown",
            peak(TIMES, || RenderText {
                kind: TextKind::Markdown,
                sha: sha(),
                text: words.clone(),
                width: 80,
                theme: theme.clone(),
                image_rows: Vec::new(),
            })
            .await,
        ),
    ];
    for (kind, peak) in peaks {
        assert!(peak > 0 && peak <= MAX_LARGE, "{kind}: {peak} bytes at once");
    }
    // Small ones are bounded by number.
    let small = peak(1, || DetectText { sha: sha(), raw: raw.clone() }).await;
    assert!((1..=MAX_SMALL).contains(&small), "{small} at once");
}
